"""The Debian system of an image: unpacked by mmdebstrap, then freed of what a build leaves behind."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from archive.errors import MachineError
from runner.image.command import run
from runner.image.keystore import normalised
from runner.image.recipe import Recipe
from runner.sandbox import HOME, PROJECT

USER = 1000
HOSTNAME = "argusic"
MOUNT_POINT = "argusic"
"""Folder into which the runner mounts what it gives to one attempt."""
KEYSTORE = "etc/ssl/certs/java/cacerts"
TRACES = (
    "dev/*",
    "etc/*-",
    "etc/resolv.conf",
    "run/*",
    "tmp/*",
    "var/cache/apt/*",
    "var/cache/debconf/*-old",
    "var/cache/ldconfig/*",
    "var/cache/man/*",
    "var/lib/apt/lists/*",
    "var/lib/dpkg/*-old",
    "var/lib/systemd/*",
    "var/log/*",
    "var/tmp/*",
    # Made on the spot by every build in other bytes; without them Java starts a moment later.
    "usr/lib/jvm/*/lib/server/*.jsa",
)
"""What of a build is no part of the system: caches, logs, locks, devices, copies of the builder's own files."""


def missing() -> str | None:
    """Why a system cannot be unpacked here; None where it can."""
    if shutil.which("mmdebstrap") is None:
        return (
            "mmdebstrap is not installed; on Debian and Ubuntu: apt-get install mmdebstrap. Without it, "
            "runner/image/Dockerfile makes the same environment with another id"
        )
    if os.geteuid():
        return "a system is unpacked by root only; call this as root, or use runner/image/Dockerfile"
    return None


def version() -> str:
    """Of mmdebstrap."""
    return run(["mmdebstrap", "--version"], _env(0)).split()[-1]


def architecture() -> str:
    """Of this computer, as Debian calls it."""
    return run(["dpkg", "--print-architecture"], _env(0)).strip()


def unpack(recipe: Recipe, variant: str, target: Path, temporary: Path) -> None:
    """Makes the system of `variant` in the folder `target`. Raises MachineError with the cause where it cannot."""
    reason = missing()
    if reason:
        raise MachineError(reason)
    words = ["mmdebstrap", "--variant=minbase", "--mode=root", "--format=directory"]
    words += [f"--include={','.join(recipe.packages(variant))}", recipe.suite, str(target)]
    run(words, _env(recipe.epoch) | {"TMPDIR": str(temporary)})
    finish(target, recipe.epoch)


def finish(tree: Path, epoch: int) -> None:
    """Removes the traces of the build, and adds the user and the folders of an attempt."""
    for pattern in TRACES:
        for path in tree.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    # An engine puts its own in the place of the last three; a machine id is made at a system's first start.
    texts = {
        "machine-id": "",
        "resolv.conf": "",
        "hostname": f"{HOSTNAME}\n",
        "hosts": f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n",
    }
    for name, text in texts.items():
        (tree / "etc" / name).write_text(text)
        (tree / "etc" / name).chmod(0o644)
    _user(tree / "etc", epoch)
    store = tree / KEYSTORE
    if store.is_file():
        store.write_bytes(normalised(store.read_bytes(), epoch))
    home = tree / HOME.lstrip("/")
    for folder, owner in ((home, USER), (tree / PROJECT.lstrip("/"), USER), (tree / MOUNT_POINT, 0)):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        os.chown(folder, owner, owner)


def packages(status: str) -> dict[str, str]:
    """Installed packages of a dpkg status file with their versions; those of a foreign architecture as name:arch."""
    stanzas = [
        dict(re.findall(r"^(Package|Status|Architecture|Version): *(.*)$", stanza, re.MULTILINE))
        for stanza in status.split("\n\n")
    ]
    installed = [one for one in stanzas if one.get("Status", "").endswith(" installed")]
    native = {"all"} | {one["Architecture"] for one in installed if one["Package"] == "dpkg"}
    return {
        one["Package"] if one["Architecture"] in native else f"{one['Package']}:{one['Architecture']}": one["Version"]
        for one in installed
    }


def _user(etc: Path, epoch: int) -> None:
    lines = {
        "passwd": f"agent:x:{USER}:{USER}::{HOME}:/bin/bash\n",
        "group": f"agent:x:{USER}:\n",
        "shadow": f"agent:!:{epoch // 86_400}:0:99999:7:::\n",
        "gshadow": "agent:!::\n",
    }
    for name, line in lines.items():
        with (etc / name).open("a") as file:
            file.write(line)


def _env(epoch: int) -> dict[str, str]:
    """Nothing of the caller's environment that could get into a package's own scripts."""
    kept = {name: os.environ[name] for name in ("http_proxy", "https_proxy", "no_proxy") if name in os.environ}
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return kept | {"PATH": path, "HOME": "/root", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": str(epoch)}
