"""The check of one folder: every view of every file, and the scanner beside them."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from archive.canonical import digest
from archive.certificate import Certificate, Scanner, Served, View
from audit.cleanliness import keymaterial, scanner
from audit.cleanliness.beside import Beside
from audit.cleanliness.doubt import Doubt, Incomplete, Unusable
from audit.cleanliness.known import Fragments, Spelling
from audit.cleanliness.shapes import Shapes
from audit.cleanliness.squeeze import letters
from audit.cleanliness.views import File, Sight

CERTIFICATE = "certificate.json"
_NAME = re.compile(r"[\x21-\x7e]{1,255}")
ROOM = Path(__file__).resolve().parent


def files(folder: Path) -> dict[str, bytes]:
    """The files of `folder` without its certificate, by name. Raises Unusable where it holds anything else, OSError."""
    if not folder.is_dir():
        raise Unusable(f"{folder} is no folder")
    found = {}
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or not path.is_file():
            raise Unusable(f"{path.name} is no file")
        if not _NAME.fullmatch(path.name):
            raise Unusable("a file has a name that no certificate can hold")
        if path.name == CERTIFICATE:
            continue
        try:
            found[path.name] = path.read_bytes()
        except PermissionError:
            raise Unusable(f"{path.name} cannot be read") from None
    if not found:
        raise Unusable(f"{folder} is empty")
    return found


def check(given: dict[str, bytes], fragments: Fragments, shapes: Shapes) -> Certificate | list[Doubt]:
    """The certificate of the files `given`, by name, or every reason why there is none. Raises OSError."""
    doubts, served, read = list[Doubt](), list[Served](), list[File]()
    for name in given:
        if any(_seen(Sight("name", text, spelling), fragments, shapes) for text, spelling in _spellings(name)):
            return [Doubt(".", "name", "the name of a file holds a value or a token")]
    for name, data in given.items():
        try:
            read.append(File(name, data, hiding=fragments.known > 0))
        except Incomplete as problem:
            doubts.append(Doubt(name, problem.view, problem.args[0]))
            # What cannot be read as a recording is looked at as text all the same: every reason is to be known.
            read.append(File(name, data, hiding=fragments.known > 0, as_text=True))
    with ExitStack() as ends:
        drawing = Beside(lambda: [_looked(one.name, one.drawn(), fragments, shapes) for one in read])
        ends.callback(drawing.end)
        version = scanner.NAME
        try:
            beside = scanner.Scan([(one.name, view, text) for one in read for view, text in _scanned(one)])
            ends.callback(beside.end)
            rest = [_looked(one.name, one.sights(), fragments, shapes) for one in read]
            for file, halves in zip(read, zip(rest, drawing.answer(), strict=True), strict=True):
                looked_at = Counter(scanner=sum(len(text) for _, text in _scanned(file)))
                for found, size in halves:
                    doubts += found
                    looked_at.update(size)
                served.append(_served(file, looked_at))
            doubts += beside.doubts()
            version = beside.version
        except Incomplete as problem:
            doubts += [Doubt(name, problem.view, problem.args[0]) for name in given]
    if doubts:
        return list(dict.fromkeys(doubts))
    return Certificate(
        schema_version=1,
        checker=_own(),
        scanner=Scanner(name=scanner.NAME, version=version),
        known=fragments.known,
        files=tuple(served),
        unresolved=0,
    )


def look(name: str, file: File, fragments: Fragments, shapes: Shapes) -> list[Doubt]:
    """What is wrong with a file, each reason once."""
    return [doubt for half in (file.sights(), file.drawn()) for doubt in _looked(name, half, fragments, shapes)[0]]


def _looked(
    name: str, sights: Iterable[Sight], fragments: Fragments, shapes: Shapes
) -> tuple[list[Doubt], Counter[str]]:
    """What is wrong with views of a file, and how much each looked at."""
    found: dict[Doubt, None] = {}
    looked_at: Counter[str] = Counter()
    try:
        for sight in sights:
            looked_at[sight.view] += len(sight.seen)
            for reason in _seen(sight, fragments, shapes):
                found[Doubt(name, sight.view, reason)] = None
    except Incomplete as problem:
        found[Doubt(name, problem.view, problem.args[0])] = None
    return list(found), looked_at


def _seen(sight: Sight, fragments: Fragments, shapes: Shapes) -> list[str]:
    reasons = []
    if fragments.inside(sight.seen, sight.spelling) or (
        sight.rubbish and fragments.inside(letters(sight.seen), "letters")
    ):
        reasons.append("a known value, or twelve characters of one")
    if sight.spelling != "letters" and (kind := shapes.inside(sight.seen, sight.spelling == "squeezed")):
        reasons.append(f"a {kind}" if kind[0] not in "aeiou" else f"an {kind}")
    if sight.rubbish and (kind := keymaterial.binary(sight.seen)):
        reasons.append(kind)
    return reasons


def _spellings(name: str) -> tuple[tuple[bytes, Spelling], ...]:
    return (name.encode(), "exact"), (letters(name.encode()), "letters")


def _scanned(file: File) -> list[tuple[str, bytes]]:
    return [("bytes", file.data), ("stripped", file.plain)]


def _served(file: File, looked_at: Counter[str]) -> Served:
    return Served(
        name=file.name,
        bytes=len(file.data),
        digest=digest(file.data),
        form=file.form,
        views=tuple(View(name=view, looked_at=size) for view, size in sorted(looked_at.items())),
        undecodable=file.decoded.undecodable,
    )


def _own() -> str:
    """Digest of this room: of each file's name and contents, in the order of names."""
    whole = hashlib.sha256()
    for path in sorted(ROOM.glob("*.py")):
        whole.update(f"{path.name}\0{digest(path.read_bytes())}\n".encode())
    return "sha256:" + whole.hexdigest()
