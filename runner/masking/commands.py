"""Commands of this room: evidence mask, evidence apply."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from archive import asciicast, atomic
from archive.canonical import canonical
from archive.edits import Fingerprint, Manifest, apply_to_bytes
from archive.errors import DataError, DataErrors, MachineError
from archive.model import explain
from runner.masking.not_proven import NotProven
from runner.masking.spelling import Known
from runner.masking.stages import Tool, committed, shown, staged

CHECKER = (sys.executable, "-m", "audit.cleanliness")
"""The program that proves served copies clean; it shares no code with this room."""
WITHHELD = 3
CERTIFICATE = "certificate.json"
_SUFFIXES = (".credentials.json", ".presentation.json")
_KEY_BYTES = 32

KeyFile = Annotated[
    Path | None,
    typer.Option("--key", help="File with the run's key, in hexadecimal: makes and checks keyed commitments."),
]


def evidence_mask(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="Recordings (asciicast), terminals' bytes, logs, texts.")],
    known: Annotated[Path, typer.Option(help="Values that must not be seen, one a line; a line may be a JSON string.")],
    out: Annotated[Path, typer.Option(help="New or empty folder for served copies, manifests and certificate.")],
    tool: Annotated[str | None, typer.Option(help="NAME@VERSION of the tool whose banner may be shown.")] = None,
    key: KeyFile = None,
) -> None:
    """Mask FILE...: served copies, what was masked, and a certificate that they are clean.

    Exit status: 0 clean, 3 withheld (why, as JSON; OUT stays empty), 2 input that cannot be used.
    """
    values = read_known(known)
    try:
        looked_for = Known(values)
    except ValueError as problem:
        raise DataError(known, "", str(problem)) from None
    _refuse(files, out)
    commitment_key = _key(key) if key is not None else secrets.token_bytes(_KEY_BYTES)
    shown_tool = None
    if tool is not None:
        name, at, version = tool.partition("@")
        if not at:
            raise DataError("--tool", "", "write it as NAME@VERSION")
        shown_tool = Tool(name, version)
    work = out.with_name(f".{out.name}.{secrets.token_hex(6)}.part")
    work.mkdir(parents=True)
    try:
        withheld = []
        for file in files:
            try:
                made = staged(file.read_bytes(), looked_for, commitment_key, file.name, shown_tool)
            except NotProven as problem:
                withheld.append({"file": file.name, "reason": problem.reason})
                continue
            atomic.write(work / file.name, made.served)
            atomic.write(work / f"{file.name}{_SUFFIXES[0]}", canonical(made.credentials))
            atomic.write(work / f"{file.name}{_SUFFIXES[1]}", canonical(made.presentation))
        withheld = withheld or check(work, values, ctx.obj)
        if withheld:
            print(json.dumps({"withheld": withheld}, ensure_ascii=False))
            raise typer.Exit(WITHHELD)
        if out.is_dir():
            out.rmdir()
        work.replace(out)
        atomic.sync_folder(out.parent)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def evidence_apply(
    manifest: Annotated[Path, typer.Argument(help="What masking changed.")],
    file: Annotated[Path, typer.Argument(help="The stage before.")],
    out: Annotated[
        Path | None, typer.Option(help="Where the stage after goes.", show_default="standard output")
    ] = None,
    key: KeyFile = None,
) -> None:
    """Make the next stage of FILE from MANIFEST, and prove that it is the one meant."""
    try:
        said = Manifest.model_validate_json(manifest.read_bytes())
    except ValidationError as error:
        raise DataErrors(explain(error, manifest)) from None
    data = file.read_bytes()
    commitment_key = _key(key) if key is not None else None
    _prove(said.before, data, commitment_key, file, "the stage that the manifest begins with")
    try:
        made = (
            asciicast.write(asciicast.apply(asciicast.read(data, file), said.edits))
            if said.form == "asciicast"
            else apply_to_bytes(data, said.edits)
        )
    except ValueError as problem:
        raise DataError(manifest, "edits", str(problem)) from None
    _prove(said.after, made, commitment_key, manifest, "what the manifest ends with")
    if out is None:
        sys.stdout.buffer.write(made)
    else:
        atomic.write(out, made)


def read_known(file: Path) -> list[str]:
    """The values of a file, one a line; a line that begins with a quotation mark is a JSON string."""
    values = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if line.startswith('"'):
            try:
                value = json.loads(line)
            except ValueError:
                raise DataError(file, "", "a line that begins with a quotation mark is a JSON string", number) from None
            values.append(str(value))
        elif line:
            values.append(line)
    return values


def known_lines(values: Iterable[str]) -> bytes:
    """The same the other way round: what the checker reads."""
    return "".join(
        (json.dumps(value) if value[:1] == '"' or set(value) & set("\\\n\r") else value) + "\n" for value in values
    ).encode()


def check(folder: Path, values: Iterable[str], root: Path) -> list[dict[str, Any]]:
    """Has the checker look at `folder`: nothing where it wrote its certificate, else what is withheld and why."""
    done = subprocess.run(
        # An empty line says that the list is whole.
        [*CHECKER, str(folder.resolve())],
        input=known_lines(values) + b"\n",
        stdout=subprocess.PIPE,
        cwd=root,
        check=False,
    )
    if done.returncode == 0 and (folder / CERTIFICATE).is_file():
        return []
    if done.returncode == WITHHELD:
        try:
            found = json.loads(done.stdout)["withheld"]
            return [{"file": one["file"], "reason": f"{one['view']}: {one['reason']}"} for one in found]
        except (ValueError, KeyError, TypeError):
            pass
    raise MachineError(f"the checker gave no answer (exit status {done.returncode})")


def _refuse(files: list[Path], out: Path) -> None:
    names = [file.name for file in files]
    for file in files:
        if not file.is_file():
            raise DataError(file, "", "no file")
        if names.count(file.name) > 1:
            raise DataError(file, "", "two files of one name cannot lie in one folder")
        if file.name == CERTIFICATE or file.name.endswith(_SUFFIXES):
            raise DataError(file, "", "a name that certificate and manifests have")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DataError(out, "", "not empty; name a new folder")


def _key(file: Path) -> bytes:
    try:
        key = bytes.fromhex(file.read_text("ascii").strip())
    except ValueError:
        key = b""
    if len(key) < _KEY_BYTES:
        raise DataError(file, "", f"a key is at least {_KEY_BYTES} bytes in hexadecimal")
    return key


def _prove(said: Fingerprint, data: bytes, key: bytes | None, file: Path, what: str) -> None:
    """Raises DataError where `data` is not what a manifest says; without the key a commitment proves the size alone."""
    proven = said.bytes == len(data)
    if said.mark.startswith("sha256:"):
        proven = proven and shown(data) == said
    elif key is not None:
        proven = proven and committed(data, key) == said
    if not proven:
        raise DataError(file, "", f"not {what}")
