"""Which limits a sandbox really holds, found by reaching for more in small machines."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from archive.errors import MachineError
from archive.record import Guarantee
from runner.sandbox import Inside, Limits, Machine, Sandbox, Session, Spec, firewall
from runner.watch import run

SMALL = Limits(cpus=1, memory_bytes=128 << 20, processes=24, open_files=64, disk_bytes=16 << 20)
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
SECONDS = 30
REACH = """
import ctypes, json, os
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
            while written < 2 * {disk_bytes}:
                written += file.write(b"x" * (1 << 20))
    except OSError:
        pass
files = []
try:
    while len(files) < {open_files} + 8:
        files.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
quota = 0
for _ in range(4):
    if files:
        os.close(files.pop())
for name in ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu.max"):
    try:
        with open(name) as file:
            quota = int(file.read().split()[0].replace("max", "0"))
    except OSError:
        pass
kernel = ctypes.CDLL(None)
keyctl = 250 if os.uname().machine == "x86_64" else 219
filtered = kernel.syscall(keyctl, 0, -3, 1) < 0 and kernel.unshare(0x10000000) < 0
print(json.dumps([forked, written, len(files) + 4, quota, filtered]))
"""
HOLD = """
import time
held = []
for megabytes in range(4, 2 * {memory_bytes} >> 20, 4):
    held.append(bytearray(b"x" * (4 << 20)))
    print(megabytes, flush=True)
time.sleep(3)
print("all", flush=True)
"""
CALL = """
import socket, sys
for address in sys.argv[2:]:
    try:
        socket.create_connection((address, int(sys.argv[1])), 2).close()
        print("reached")
    except OSError:
        pass
print("end")
"""
LISTEN = """
import socket
server = socket.create_server(("0.0.0.0", 0))
print(server.getsockname()[1], flush=True)
while True:
    server.accept()[0].close()
"""


def probe(sandbox: Sandbox, limits: Limits) -> dict[str, Guarantee]:
    """For each limit: enforced where more was refused, watched where the sandbox acts on it later, else absent.

    Raises MachineError where that cannot be found out.
    """
    with ThreadPoolExecutor(2) as pool, contextlib.ExitStack() as machines:
        waiting = [pool.submit(sandbox.start, Spec((), ENV, limits, "open")) for _ in range(2)]
        one, two = (machines.enter_context(_ended(future.result())) for future in waiting)
        network = _network(sandbox, one, two)
        one.stop()
        forked, written, files, quota, filtered = json.loads(_run(sandbox, one, REACH.format(**limits._asdict())))
        # Left by the trial before, and none of them may use memory that the next one asks for.
        one.stop()
        session = _python(sandbox, one, HOLD.format(**limits._asdict()))
        ended, said = run(session, seconds=SECONDS, most_bytes=1 << 16)
    held = max((int(word) for word in said.split() if word.isdigit()), default=0) << 20
    stopped = ended.by == "memory-limit"
    found: dict[str, Guarantee] = {
        "system_call_filter": "enforced" if filtered else "absent",
        "cpus": "enforced" if quota > 0 else "absent",
        "memory_bytes": "absent" if not stopped else "enforced" if held <= limits.memory_bytes else "watched",
        "processes": "enforced" if forked < limits.processes + 8 else "absent",
        "open_files": "enforced" if files < limits.open_files + 8 else "absent",
        "disk_bytes": "enforced" if written <= limits.disk_bytes else "absent",
    }
    return found | network


def look_inside(sandbox: Sandbox) -> Inside:
    """System and Python of a machine."""
    program = "import platform as p; print(p.freedesktop_os_release()['PRETTY_NAME']); print(p.python_version())"
    with _ended(sandbox.start(Spec((), ENV, SMALL, "none"))) as machine:
        system, python = _run(sandbox, machine, program).splitlines()
    return Inside(system, python)


def _network(sandbox: Sandbox, one: Machine, two: Machine) -> dict[str, Guarantee]:
    """Who can be reached: from inside a service of the runner and another machine, from the runner a machine."""
    # Every address of the runner, and of the engine's bridge.
    own = [*firewall.own_addresses(), "127.0.0.1"]
    with socket.create_server(("0.0.0.0", 0)) as server:
        to_runner = _run(sandbox, one, CALL, server.getsockname()[1], *own)
    port = _first_line(_python(sandbox, two, LISTEN))
    address = _run(sandbox, two, "import socket; print(socket.gethostbyname(socket.gethostname()))").strip()
    to_machine = _run(sandbox, one, CALL, port, address, *own)
    from_runner = any(_connects(place, port) for place in (address, *own))

    def guarantee(reached: bool) -> Guarantee:
        return "absent" if reached else "enforced"

    return {
        "isolation_of_runner_services": guarantee("reached" in to_runner),
        "isolation_of_attempts": guarantee("reached" in to_machine),
        "inbound_connections_refused": guarantee(from_runner),
    }


def _first_line(session: Session) -> int:
    os.set_blocking(session.fileno(), False)
    said, until = b"", time.monotonic() + SECONDS
    while not said.strip().isdigit() or b"\n" not in said:
        if time.monotonic() > until:
            raise MachineError("a small machine did not answer in time")
        if select.select([session.fileno()], [], [], 0.1)[0]:
            said += os.read(session.fileno(), 100)
    return int(said)


def _connects(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), 0.3).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _ended(machine: Machine) -> Iterator[Machine]:
    try:
        yield machine
    finally:
        machine.destroy()


def _python(sandbox: Sandbox, machine: Machine, program: str, *words: object) -> Session:
    return machine.exec([sandbox.python, "-I", "-S", "-c", program, *map(str, words)])


def _run(sandbox: Sandbox, machine: Machine, program: str, *words: object) -> str:
    ended, said = run(_python(sandbox, machine, program, *words), seconds=SECONDS, most_bytes=1 << 16)
    if ended.exit != 0:
        text = said.decode(errors="replace").strip()
        raise MachineError(f"what a small machine holds could not be tried ({ended.by}, exit {ended.exit}): {text}")
    return said.decode(errors="replace")
