"""Which limits a sandbox really holds, found by reaching for more in a small machine."""

from __future__ import annotations

import json

from archive.errors import MachineError
from archive.record import Guarantee
from runner.sandbox import Limits, Sandbox, Spec
from runner.sandbox.bubblewrap_command import sys_python
from runner.watch import run

INSIDE = """
import json, os, resource
forked = 0
try:
    while forked < {processes} + 8:
        if not os.fork():
            os.execvp("sleep", ["sleep", "5"])
        forked += 1
except OSError:
    pass
written = 0
for folder in ("/home/agent", "/tmp"):
    try:
        with open(folder + "/fill", "wb", 0) as file:
            while written < 2 * {disk}:
                written += file.write(b"x" * (1 << 20))
    except OSError:
        pass
files = []
try:
    while len(files) < {files} + 8:
        files.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
print(json.dumps([forked, written, len(files)]))
"""


def probe(sandbox: Sandbox, limits: Limits) -> dict[str, Guarantee]:
    """For each limit: enforced where more was refused, watched where the sandbox acts on it later, else absent."""
    machine = sandbox.start(Spec((), {"PATH": "/usr/local/bin:/usr/bin:/bin"}, limits, "none"))
    try:
        program = INSIDE.format(processes=limits.processes, disk=limits.disk_bytes, files=limits.open_files)
        ended, said = run(machine.exec([sys_python(), "-I", "-S", "-c", program]), seconds=30, most_bytes=1 << 16)
        machine.stop()
    finally:
        machine.destroy()
    if ended.exit != 0:
        raise MachineError(f"the limits of a machine could not be tried: {said.decode(errors='replace').strip()}")
    forked, written, files = json.loads(said)
    return {
        # By process 1, which adds up what is mapped; a limit of the kernel's needs a control group of our own.
        "memory_bytes": "watched",
        "processes": "enforced" if forked < limits.processes + 8 else "absent",
        "open_files": "enforced" if files < limits.open_files + 8 else "absent",
        "disk_bytes": "enforced" if written <= limits.disk_bytes else "absent",
        # The machine shares the runner's network, or has none.
        "isolation_of_runner_services": "absent",
        "isolation_of_attempts": "absent",
        "inbound_connections_refused": "absent",
    }
