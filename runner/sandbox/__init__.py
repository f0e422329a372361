"""The disposable machine, whatever makes it: what every sandbox must offer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from archive.errors import ArgusicError, MachineError

if TYPE_CHECKING:
    from archive.record import Guarantee

COLUMNS, ROWS = 120, 40
"""Size of every terminal in cells."""
HOME = "/home/agent"
PROJECT = "/home/agent/project"
HARNESS = "/argusic/harness"
"""A folder for what the harness itself keeps in a machine; where the sandbox has a second user, the agent cannot write
it, nor signal what runs as that user. bubblewrap has none."""
SHARE_OF_HARNESS = 16
"""One part in so many of a disk in memory."""


FIRST = Path(__file__).with_name("first")
"""The program of a machine's first process, which the machine sees at /argusic/first."""
START = ("-I", "-S", "-c", "import sys; sys.path.insert(0, '/argusic'); from first.init import main; main()")
"""How Python runs it; what follows names its control socket."""


class Limits(NamedTuple):
    """What one machine may use."""

    cpus: int = 2
    memory_bytes: int = 4 << 30
    """Without swap."""
    processes: int = 1024
    open_files: int = 4096
    disk_bytes: int = 6 << 30
    """All that can be written: home and /tmp together."""


class Mount(NamedTuple):
    """A file or folder of the runner that the machine sees, read-only."""

    source: Path
    target: str


class Spec(NamedTuple):
    """One machine."""

    mounts: tuple[Mount, ...]
    env: Mapping[str, str]
    limits: Limits
    network: Literal["open", "none"] = "open"


class Inside(NamedTuple):
    """What a machine is like inside."""

    system: str
    """Name and version of its operating system."""
    python: str
    """Version of its Python."""


class Film(NamedTuple):
    """What was filmed of a virtual display that came up in a machine."""

    path: str
    """A file that `Machine.copy` reaches, fragmented MP4."""
    bytes: int


class Stopped(NamedTuple):
    """What the machine used until everything in it was ended."""

    peak_processes: int
    peak_memory: int
    """Bytes."""
    disk_full: bool
    films: tuple[Film, ...] = ()
    """One for each display; nothing is filmed after the first stop."""
    film_trouble: tuple[tuple[Literal["video-lost", "video-ceiling"], str], ...] = ()
    """What kept a film from being whole, in words."""


class MemoryEvent(NamedTuple):
    """A process that was ended because the machine was over its memory limit."""

    bytes: int
    main: bool
    """Whether it was the program itself and not one of its children."""


class MachineLost(MachineError):
    """The machine ended by itself."""


class FileRefused(ArgusicError):
    """A path inside the machine is no regular file, or larger than what is read."""


class Session(Protocol):
    """A program on a terminal of the machine."""

    memory_events: list[MemoryEvent]

    def fileno(self) -> int:
        """Descriptor on which the terminal's bytes arrive."""

    def poll(self) -> int | None:
        """Exit status (negative: the signal that ended it); None while it runs."""

    def close(self) -> None:
        """Lets the terminal go."""


class Machine(Protocol):
    """One disposable machine."""

    def exec(
        self, argv: list[str], cwd: str = PROJECT, *, harness: bool = False, env: Mapping[str, str] | None = None
    ) -> Session:
        """Starts a program; with `harness` as the user that owns HARNESS, where the sandbox has a second one.

        `env` are variables for this program alone, beside those of the machine.
        """

    def stop(self) -> Stopped:
        """Ends every process in the machine and returns when all are gone; files stay."""

    def read(self, path: str, most: int) -> bytes | None:
        """The bytes of a regular file; None where there is none. `FileRefused` above `most` bytes."""

    def copy(self, path: str, target: Path, most: int) -> bool:
        """As `read`, into a file of the runner and in constant memory; False where there is no file."""

    def destroy(self) -> None:
        """Removes the machine with all that is in it; a second call does nothing.

        Bounded in time, whatever does not answer: what is left then is found by `Sandbox.sweep`.
        """


class Sandbox(Protocol):
    """A way to make machines."""

    @property
    def name(self) -> Literal["bubblewrap", "docker"]:
        """As records call it."""

    @property
    def image(self) -> str | None:
        """Digest of the image that machines are made from; None where they share the runner's system folders."""

    @property
    def python(self) -> str:
        """Path of the Python inside."""

    def inside(self) -> Inside:
        """What its machines are like inside."""

    def tools(self) -> tuple[Mount, ...]:
        """What the runner must mount for Node and the MCP client to be under /opt/argusic."""

    def guarantees(self) -> dict[str, Guarantee]:
        """For each field of `Limits`, and for what keeps a machine apart: enforced, watched or absent."""

    def sweep(self) -> list[str]:
        """Removes what dead processes of ours left behind; what that was, in words."""

    def make_room(self, keep: Collection[str]) -> list[str]:
        """Removes our own older images that are not in `keep` (ids); what that was, in words."""

    def start(self, spec: Spec) -> Machine:
        """A new machine. `MachineError` says what is missing where it cannot be made."""
