"""A disk of a stated size for one machine: a file system in a file, which nothing can outgrow.

Needs a runner that is root. It is mounted only until the machine has started: then the machine alone holds it, and
the kernel lets it go with the machine, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp

from archive.errors import MachineError

SECONDS = 30
PREFIX = "disk-"
RESERVED_PERCENT = 6
"""Of the disk, on top of it, for the harness."""


def available() -> bool:
    """Whether this runner can make such disks."""
    tools = all(shutil.which(name, path="/usr/sbin:/sbin:/usr/bin:/bin") for name in ("mkfs.ext4", "mount", "umount"))
    return os.geteuid() == 0 and tools and Path("/dev/loop-control").exists()


class Disk:
    """Folders on one new file system: `home` and `tmp` of the machine's user, `harness` of the one after it.

    That one has a share of its own, which is left when the machine's user has filled all the rest.
    """

    def __init__(self, folder: Path, size: int, user: int, owner: str) -> None:
        """Makes and mounts it below `folder`. Raises MachineError, OSError; then nothing is left.

        `user` owns its folders, as a number of this computer's; `owner` is the process that makes it.
        """
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._place = Path(mkdtemp(dir=folder, prefix=f"{PREFIX}{owner}-"))
        try:
            image, self._mounted = self._place / "image", self._place / "mounted"
            self._mounted.mkdir()
            with image.open("wb") as file:
                file.truncate(size + size * RESERVED_PERCENT // 100)
            options = [
                "-q",
                "-F",
                "-O",
                "^has_journal",
                "-m",
                str(RESERVED_PERCENT),
                "-i",
                "8192",
                "-E",
                "lazy_itable_init=1,nodiscard",
            ]
            _run(["mkfs.ext4", *options, str(image)])
            _run(["mount", "-o", f"loop,nosuid,nodev,resuid={user + 1}", str(image), str(self._mounted)])
            self.home, self.tmp = self._mounted / "home", self._mounted / "tmp"
            self.harness = self._mounted / "harness"
            for path, owner_inside, mode in (
                (self.home, user, 0o755),
                (self.tmp, user, 0o1777),
                (self.harness, user + 1, 0o755),
            ):
                path.mkdir()
                os.chown(path, owner_inside, owner_inside)
                path.chmod(mode)
            image.unlink()
        except BaseException:
            self.let_go()
            raise

    def let_go(self) -> None:
        """Leaves it to whoever still uses it."""
        release(self._place)


def release(place: Path) -> None:
    """Takes a disk's place away; its file system lives on while a machine uses it."""
    subprocess.run(["umount", "-l", str(place / "mounted")], capture_output=True, timeout=SECONDS, check=False)
    # Whatever is still mounted below is not ours to delete.
    for path in (place / "image", place / "mounted", place):
        with contextlib.suppress(FileNotFoundError, OSError):
            path.unlink() if path.is_file() else path.rmdir()


def leftovers(folder: Path) -> list[Path]:
    """Places of disks below `folder`, whoever made them."""
    return sorted(folder.glob(f"{PREFIX}*"))


def _run(command: list[str]) -> None:
    path = {**os.environ, "PATH": f"/usr/sbin:/sbin:{os.environ.get('PATH', '')}", "LC_ALL": "C"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=path)
    except subprocess.TimeoutExpired:
        raise MachineError(f"{command[0]} did not end within {SECONDS} s") from None
    if done.returncode:
        raise MachineError(f"a disk for the machine could not be made: {command[0]}: {done.stderr.strip()[:300]}")
