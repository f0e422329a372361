"""Installs one program with its registry's own client; runs inside a throw-away machine, standard library only.

Usage: install.py npm|pypi NAME VERSION PROGRAM ENGINE [ALONG ...]. Leaves /home/agent/program.tar: bin/PROGRAM in it
starts the program from below /opt/argusic/agent. Exit status: 0 done, 10 registry not reached, 11 no such version, 12
other trouble.
"""

from __future__ import annotations

import configparser
import json
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, "/argusic")
from fetch_inside import UNKNOWN, UNREACHED  # type: ignore[import-not-found]

HOME = Path("/home/agent")
PLACE = "/opt/argusic/agent"


def main(registry: str, name: str, version: str, program: str, engine: str, *along: str) -> int:
    folder = HOME / "program"
    (folder / "bin").mkdir(parents=True)
    words = command(registry, name, version, engine, along, folder)
    done = subprocess.run(words, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    said = done.stdout + done.stderr
    if done.returncode:
        telling = [line for line in said.splitlines() if UNREACHED.search(line)][-1:]
        sys.stdout.buffer.write(b"\n".join([said[-4000:], *telling, b""]))
        return 10 if UNREACHED.search(said) else 11 if UNKNOWN.search(said) else 12
    start = from_npm(folder, name, program, engine) if registry == "npm" else from_pypi(folder, program)
    if start is None:
        sys.stdout.write(f"{name} {version} brings no program {program}\n")
        return 12
    launcher = folder / "bin" / program
    launcher.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
    launcher.chmod(0o755)
    pack(folder)
    return 0


def command(registry: str, name: str, version: str, engine: str, along: tuple[str, ...], folder: Path) -> list[str]:
    if registry == "npm":
        wanted = [f"{name}@{version}", *along, *([engine] if engine.startswith("node@") else [])]
        return ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--loglevel=error", *wanted]
    pip = ["python3", "-m", "pip", "install", "--no-compile", "--no-cache-dir", "--disable-pip-version-check", "-q"]
    return [*pip, "--only-binary", ":all:", "--target", str(folder / "python"), f"{name}=={version}", *along]


def from_npm(folder: Path, name: str, program: str, engine: str) -> str | None:
    """The command of `program`; what is of the engine is started by that engine and no other."""
    package = folder / "node_modules" / name
    known = json.loads((package / "package.json").read_text())["bin"]
    path = known if isinstance(known, str) else known.get(program)
    if path is None:
        return None
    # They hold addresses of the registry, and times.
    for leftover in (folder / "package-lock.json", folder / "node_modules/.package-lock.json"):
        leftover.unlink(missing_ok=True)
    target = f"{PLACE}/{(package / path).resolve().relative_to(folder)}"
    own = f"{PLACE}/node_modules/node/bin/node " if engine.startswith("node@") else ""
    if not own:
        (package / path).chmod(0o755)
    return own + shlex.quote(target)


def from_pypi(folder: Path, program: str) -> str | None:
    """The command of `program`, in a Python that takes no setting of the machine's and leaves it none."""
    for file in sorted((folder / "python").glob("*.dist-info/entry_points.txt")):
        found = configparser.ConfigParser(delimiters=("=",))
        found.optionxform = str  # type: ignore[assignment,method-assign]
        found.read(file)
        point = found.get("console_scripts", program, fallback="").partition(" ")[0]
        if point:
            module, _, function = point.partition(":")
            code = (
                f"import sys; sys.path.insert(0, {PLACE + '/python'!r}); sys.argv[0] = {program!r}; "
                f"from {module} import {function.partition('.')[0]}; sys.exit({function}())"
            )
            shutil.rmtree(folder / "python/bin", ignore_errors=True)
            # Where it runs nothing can be written: without this every start would translate it anew. By content and
            # not by time, so that the same files come out.
            translate = ["python3", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "python"]
            subprocess.run(translate, cwd=folder, capture_output=True, check=False)
            return f"python3 -I -c {shlex.quote(code)}"
    return None


def pack(folder: Path) -> None:
    """The same files make the same archive."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(HOME / "program.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            archive.inodes.clear()  # type: ignore[attr-defined]  # Two names of one file are two files.
            archive.add(path, path.relative_to(folder), recursive=False, filter=plain)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
