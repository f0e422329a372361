"""The command of this room: evidence check."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer


def evidence_check(
    folder: Annotated[Path, typer.Argument(help="Folder of the files that are to be served.", metavar="DIR")],
    known: Annotated[
        Path | None, typer.Option(help="File with the known values, one a line; without it none is known.")
    ] = None,
) -> None:
    """Prove that no credential can be read in a folder, and give it its certificate, or check the one it has."""
    from audit.cleanliness import __main__ as process
    from audit.cleanliness.check import CERTIFICATE

    values = known.read_bytes().rstrip(b"\n") if known else b""
    source = io.BytesIO(values + b"\n\n" if values else b"\n")
    status = process.main([str(folder)], source, sys.stdout, sys.stderr)
    if status:
        raise typer.Exit(status)
    print(f"{folder}: nothing that could be used is in it; see {folder / CERTIFICATE}")
