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
    """Prove that no credential can be read in a folder, and give it its certificate, or check the one it has.

    Exit status: 0 clean, 3 withheld with the reasons as JSON, 2 unusable input, 4 this computer has no room.
    """
    from audit.cleanliness import __main__ as process
    from audit.cleanliness.check import CERTIFICATE

    # An empty line ends the list of the process; in a file of people it is only an empty line.
    values = [line for line in known.read_bytes().split(b"\n") if line.strip()] if known else []
    source = io.BytesIO(b"".join(line + b"\n" for line in values) + b"\n")
    status = process.main([str(folder)], source, sys.stdout, sys.stderr)
    if status:
        raise typer.Exit(status)
    print(f"{folder}: nothing that could be used is in it; see {folder / CERTIFICATE}")
