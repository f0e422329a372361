"""The process: a folder as its argument, the known values on stdin, a certificate or reasons to withhold.

It starts long before it is told the values, so whatever takes time to load is loaded first. Exit status: 0 the folder
has its certificate; 3 it is withheld, for the reasons on stdout; 2 unusable input; 4 this computer has no room.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import BinaryIO, TextIO

from archive import atomic
from archive.canonical import canonical
from archive.certificate import Certificate
from audit.cleanliness import scanner
from audit.cleanliness.check import CERTIFICATE, check, files
from audit.cleanliness.deadline import deadline
from audit.cleanliness.doubt import Doubt, Unusable, failed
from audit.cleanliness.known import Fragments, told
from audit.cleanliness.shapes import Shapes

CLEAN, UNUSABLE, WITHHELD, NO_ROOM = 0, 2, 3, 4


def main(arguments: list[str], source: BinaryIO, out: TextIO, trouble: TextIO) -> int:
    """Carries out the check; its exit status. No message holds anything of a value."""
    if len(arguments) != 1:
        print("usage: python -m audit.cleanliness DIR < known values", file=trouble)
        return UNUSABLE
    folder = Path(arguments[0])
    try:
        shapes = Shapes()
        scanner.warm()
        _, result = proven(folder, Fragments(told(source)), shapes)
        if isinstance(result, Certificate):
            doubts = differing(folder, result)
            if not doubts and not (folder / CERTIFICATE).exists():
                atomic.write(folder / CERTIFICATE, canonical(result))
        else:
            doubts = result
    except Unusable as problem:
        print(problem, file=trouble)
        return UNUSABLE
    except (OSError, MemoryError) as error:
        print(
            f"{getattr(error, 'filename', None) or folder}: {getattr(error, 'strerror', None) or 'no room'}",
            file=trouble,
        )
        return NO_ROOM
    except Exception as error:  # noqa: BLE001 - whatever breaks off has proven nothing
        doubts = [Doubt(".", "all", failed(error))]
    if doubts:
        print(json.dumps({"withheld": [one._asdict() for one in doubts]}), file=out)
        return WITHHELD
    return CLEAN


def proven(folder: Path, fragments: Fragments, shapes: Shapes) -> tuple[dict[str, bytes], Certificate | list[Doubt]]:
    """The files of `folder` and what the check of them came to."""
    given = files(folder)
    with deadline(sum(map(len, given.values()))):
        return given, check(given, fragments, shapes)


def differing(folder: Path, certificate: Certificate) -> list[Doubt]:
    """Where a certificate that the folder already has speaks of other bytes."""
    try:
        kept = Certificate.model_validate_json((folder / CERTIFICATE).read_bytes())
    except FileNotFoundError:
        return []
    except ValueError:
        return [Doubt(CERTIFICATE, "digests", "is no certificate")]
    before = {one.name: one.digest for one in kept.files}
    now = {one.name: one.digest for one in certificate.files}
    return [
        Doubt(
            name,
            "digests",
            "is not in the certificate" if name not in before else "is gone" if name not in now else "was changed",
        )
        for name in sorted(before.keys() | now.keys())
        if before.get(name) != now.get(name)
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin.buffer, sys.stdout, sys.stderr))
