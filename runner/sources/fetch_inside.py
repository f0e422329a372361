"""Fetches one pinned package with its registry's own client; runs inside a throw-away machine, standard library only.

Usage: fetch.py pypi|npm NAME VERSION. Leaves /home/agent/manifest.json (name, bytes, digest of the file) and, where the
package has one, /home/agent/README. Exit status: 0 done, 10 registry not reached, 11 no such version, 12 other trouble,
13 no wheel.
"""

from __future__ import annotations

import email
import email.policy
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

HOME = Path("/home/agent")
MOST = 1 << 20
UNREACHED = re.compile(
    rb"Temporary failure in name resolution|Name or service not known|Network is unreachable|Connection refused"
    rb"|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|timed out|Could not fetch URL"
    rb"|NewConnectionError|SSLError|CERTIFICATE|SELF_SIGNED|UNABLE_TO_GET_ISSUER"
)
UNKNOWN = re.compile(rb"No matching distribution found|ETARGET|E404|404 Not Found|notarget")


def main(kind: str, name: str, version: str) -> int:
    folder = HOME / "fetched"
    folder.mkdir()
    words = command(kind, name, version, folder)
    done = subprocess.run(words, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    said = done.stdout + done.stderr
    files = sorted(path for path in folder.iterdir() if path.is_file())
    if done.returncode == 0 and files:
        keep(files[0], kind)
        return 0
    telling = [line for line in said.splitlines() if UNREACHED.search(line)][-1:]
    sys.stdout.buffer.write(b"\n".join([said[-4000:], *telling, b""]))
    # A client that could not ask the registry also says that it found no such version: the first reason decides.
    if UNREACHED.search(said):
        return 10
    if not UNKNOWN.search(said):
        return 12
    return 13 if kind == "pypi" and served(name, version) else 11


def served(name: str, version: str) -> bool:
    """Whether PyPI lists this version at all, as a source archive then."""
    pip = ["python3", "-m", "pip", "index", "versions", "--pre", "--disable-pip-version-check", name]
    listed = subprocess.run(pip, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False).stdout
    return version in re.split(r"[\s,]+", listed)


def command(kind: str, name: str, version: str, folder: Path) -> list[str]:
    """What fetches without running anything of the subject: for PyPI only a wheel, since a source archive is built."""
    if kind == "npm":
        quick = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000"]
        return ["npm", "pack", "--ignore-scripts", "--loglevel=error", *quick, f"{name}@{version}"]
    pip = ["python3", "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--disable-pip-version-check", "-q"]
    pip += ["--retries", "1", "-d", str(folder), f"{name}=={version}"]
    return [*pip, "--only-binary", ":all:"]


def keep(file: Path, kind: str) -> None:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    manifest = {"name": file.name, "bytes": file.stat().st_size, "digest": f"sha256:{digest}"}
    (HOME / "manifest.json").write_text(json.dumps(manifest))
    try:
        readme = npm_readme(file) if kind == "npm" else python_readme(file)
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error, RuntimeError, ValueError) as error:
        # What the registry served is what it is: a broken archive is the agent's to meet.
        sys.stderr.write(f"no README could be read: {error!r}\n")
        readme = None
    if readme:
        (HOME / "README").write_bytes(readme[:MOST])


def npm_readme(file: Path) -> bytes | None:
    with tarfile.open(file) as archive:
        for member in archive:
            if member.isfile() and re.fullmatch(r"[^/]+/readme(\.(md|markdown|txt))?", member.name, re.I):
                opened = archive.extractfile(member)
                return opened.read(MOST) if opened else None
    return None


def python_readme(file: Path) -> bytes | None:
    """The long description in the package's metadata."""
    metadata = b""
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
        if names:
            with archive.open(names[0]) as opened:
                metadata = opened.read(MOST)
    message = email.message_from_bytes(metadata, policy=email.policy.compat32)
    body = message.get_payload() or message.get("Description") or ""
    return str(body).encode("utf-8", "surrogateescape") if str(body).strip() else None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
