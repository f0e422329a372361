"""Fetches one commit of a git repository and nothing before it; inside a throw-away machine, on the standard library.

Usage: git.py fetch URL COMMIT MOST_BYTES | git.py reach URL. No file of the repository is written out: what leaves is
the pack of its objects (pack), its README where it has one (README), and what was seen of it (seen.json), all in
/home/agent/fetched. Exit status: 0 done; others are the keys of `FAILURES` in repository.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HOME = Path("/home/agent")
OUT = HOME / "fetched"
REPOSITORY = HOME / "repository.git"
README_BYTES = 1 << 20
FILES = 500_000
UNREACHED, VANISHED, CLOSED, MISSING, REFUSED, BROKEN, TOO_LARGE, NO_COMMIT, OTHER = 10, 11, 12, 13, 14, 15, 16, 17, 18
# In this order: what a server says about the repository comes before what then happens to the connection.
SAID = (
    (VANISHED, r"not our ref|couldn't find remote ref|remote did not send all necessary objects"),
    (REFUSED, r"unadvertised object|does not support shallow|dumb http transport"),
    (CLOSED, r"could not read Username|Authentication failed|terminal prompts disabled|returned error: 40[13]\b"),
    (
        MISSING,
        r"returned error: 4(04|10)\b|[Rr]epository not found|repository '[^']*' not found|not appear to be a git",
    ),
    (MISSING, r"valid ref.*info/refs|repository not exported|access denied or repository"),
    (TOO_LARGE, r"died of signal (25|9)\b|File too large|No space left on device"),
    (BROKEN, r"fsck error|error: object [0-9a-f]{40}: |SHA1 COLLISION|inflate|bad object|pack .*corrupt|bad pack"),
    (
        UNREACHED,
        r"Could not resolve host|Failed to connect|Couldn't connect|unable to connect|Connection (refused|reset)",
    ),
    (UNREACHED, r"timed out|unreachable|SSL|TLS|certificate|early EOF|RPC failed|hung up|unexpected disconnect"),
    (UNREACHED, r"returned error: (5\d\d|429)\b|Empty reply|Recv failure|Temporary failure|unable to look up"),
)
"""What git says -> exit status."""
ODDITIES = (
    *("badDateOverflow", "badEmail", "badName", "badTimezone", "missingEmail", "missingNameBeforeEmail"),
    *("missingSpaceBeforeDate", "missingSpaceBeforeEmail", "zeroPaddedDate", "zeroPaddedFilemode"),
)
"""Faults of old programs that harm nobody: any clone of such a repository works."""
README = re.compile(
    r"readme(?:\.(?P<kind>md|markdown|mdown|mkdn|rst|txt|adoc|asciidoc|org|textile|rdoc|pod|creole|mediawiki))?", re.I
)
PREFERRED = ("md", "markdown", "mdown", "mkdn", "rst", "txt", "")
FOLDERS = ("", ".github/", "docs/")
POINTER = b"version https://git-lfs.github.com/spec/v1\n"
POINTER_BYTES = range(len(POINTER) + 1, 1024)


class Entry(NamedTuple):
    """One line of the commit's tree."""

    mode: str
    oid: str
    size: int
    path: str


def main(words: list[str]) -> int:
    for place in (OUT, REPOSITORY):
        shutil.rmtree(place, ignore_errors=True)
    OUT.mkdir()
    # Quiet, with no question to anyone, no helper, and no other configuration than this.
    os.environ |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "GIT_CONFIG_NOSYSTEM": "1"}
    url = words[1]
    os.environ["GIT_ALLOW_PROTOCOL"] = url.partition(":")[0]
    (HOME / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
    if words[0] == "reach":
        return judge(git("ls-remote", "--quiet", "--", url, "HEAD"))
    return fetch(url, words[2], int(words[3]))


def fetch(url: str, commit: str, most: int) -> int:
    git("init", "--quiet", "--bare", "--template=", str(REPOSITORY), check=True)
    options = ["-c", "fetch.fsckObjects=true", "-c", "fetch.unpackLimit=1"]
    for name in ODDITIES:
        options += ["-c", f"fetch.fsck.{name}=ignore"]
    options += ["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60"]
    words = ["fetch", "--depth=1", "--no-tags", "--no-auto-gc", "--no-recurse-submodules", "--no-write-fetch-head"]
    done = git(*options, *words, "--", url, commit, most=most)
    # The kernel ends whoever writes on at the ceiling, and git only says that nothing came of it.
    if any(part.stat().st_size >= most for part in REPOSITORY.glob("objects/pack/tmp_pack_*")):
        return said(TOO_LARGE, b"its pack alone is larger")
    if status := judge(done):
        return status
    if git("cat-file", "-t", commit).stdout.strip() != b"commit":
        return said(NO_COMMIT, b"the object of this name is no commit")
    entries = list(tree(commit))
    total = sum(entry.size for entry in entries)
    if total > most or len(entries) > FILES:
        return said(TOO_LARGE, f"{len(entries)} files, {total} bytes".encode())
    packs = list(REPOSITORY.glob("objects/pack/*.pack"))
    if len(packs) != 1:
        return said(OTHER, f"{len(packs)} packs came of one fetch".encode())
    readme = find_readme(commit, entries)
    if readme:
        (OUT / "README").write_bytes(readme)
    seen: dict[str, Any] = {"files": len(entries), "bytes": total, "submodules": submodules(commit, entries)}
    seen |= archive(commit) | pointers(entries)
    moved = re.search(rb"^warning: redirecting to (\S+)", done.stderr, re.M)
    seen["moved_to"] = moved[1].decode("ascii", "replace") if moved else None
    packs[0].rename(OUT / "pack")
    (OUT / "seen.json").write_text(json.dumps(seen))
    return 0


def git(
    *words: str, most: int = 0, check: bool = False, file: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Runs git, in the repository once there is one; no file that it writes may grow beyond `most` bytes."""
    where = ["-C", str(REPOSITORY)] if REPOSITORY.is_dir() else []
    with (file or Path(os.devnull)).open("rb") as given:
        return subprocess.run(
            ["git", *where, *words],
            stdin=given,
            capture_output=True,
            check=check,
            preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))) if most else None,
        )


def judge(done: subprocess.CompletedProcess[bytes]) -> int:
    """What git's end means, its telling line said to the runner."""
    if done.returncode == 0:
        return 0
    text = done.stderr.decode("ascii", "replace")
    for status, pattern in SAID:
        telling = [line for line in text.splitlines() if re.search(pattern, line)]
        if telling:
            return said(status, telling[-1].encode())
    return said(OTHER, text.strip().encode())


def said(status: int, words: bytes) -> int:
    # An address in a message may hold what a server put into it.
    sys.stdout.buffer.write(re.sub(rb"://[^/\s@]*@", b"://", words[-2000:]) + b"\n")
    return status


def tree(commit: str) -> Iterator[Entry]:
    """Every file, link and submodule of the commit."""
    listed = git("ls-tree", "-r", "-z", "-l", "--full-tree", commit, check=True).stdout
    for line in listed.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, oid, size = facts.decode().split()
        yield Entry(mode, oid, 0 if size == "-" else int(size), path.decode("utf-8", "replace"))


def find_readme(commit: str, entries: list[Entry]) -> bytes | None:
    """Of the root, else of the folders where a forge looks too; a link is followed inside the commit only."""
    for folder in FOLDERS:
        found = []
        for entry in entries:
            name = entry.path.removeprefix(folder)
            match = README.fullmatch(name) if entry.path.startswith(folder) else None
            if match and entry.mode in ("100644", "100755", "120000"):
                kind = (match["kind"] or "").lower()
                found.append((PREFERRED.index(kind) if kind in PREFERRED else len(PREFERRED), entry.path))
        for _, path in sorted(found):
            asked = HOME / "asked"
            asked.write_text(f"{commit}:{path}\n")
            answer = git("cat-file", "--batch", "--follow-symlinks", file=asked).stdout
            head, _, body = answer.partition(b"\n")
            if re.fullmatch(rb"[0-9a-f]{40} blob \d+", head) and body[:-1].strip():
                return body[:-1][:README_BYTES]
    return None


def submodules(commit: str, entries: list[Entry]) -> list[dict[str, str | None]]:
    """Each submodule of the commit's tree with the address that the commit gives for it."""
    links = [entry for entry in entries if entry.mode == "160000"]
    if not links:
        return []
    asked = git(
        "config", "--blob", f"{commit}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.(path|url)$"
    ).stdout
    values: dict[str, dict[str, str]] = {}
    for item in asked.decode("utf-8", "replace").split("\0")[:-1]:
        key, _, value = item.partition("\n")
        name, _, field = key.removeprefix("submodule.").rpartition(".")
        values.setdefault(name, {})[field] = value
    urls = {one["path"]: one.get("url") for one in values.values() if "path" in one}
    return [{"path": link.path[:500], "commit": link.oid, "url": (urls.get(link.path) or "")[:2000]} for link in links]


def archive(commit: str) -> dict[str, Any]:
    """Size and digest of `git archive` of the commit with every attribute off: the same wherever it is made."""
    attributes = REPOSITORY / "info/attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("* -text -ident -filter -export-ignore -export-subst !eol !working-tree-encoding\n")
    total, size = hashlib.sha256(), 0
    command = ["git", "-C", str(REPOSITORY), "archive", "--format=tar", commit]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        while chunk := process.stdout.read(1 << 20):
            total.update(chunk)
            size += len(chunk)
    if process.returncode:
        raise SystemExit(said(BROKEN, b"git archive could not read the whole commit"))
    return {"archive_bytes": size, "archive_digest": f"sha256:{total.hexdigest()}"}


def pointers(entries: list[Entry]) -> dict[str, int]:
    """How many files only point to a large file that is kept elsewhere, and how large those say they are."""
    asked = HOME / "asked"
    small = [entry.oid for entry in entries if entry.size in POINTER_BYTES and entry.mode.startswith("100")]
    asked.write_text("".join(f"{oid}\n" for oid in small))
    answer, at, found, size = git("cat-file", "--batch", "--buffer", file=asked).stdout, 0, 0, 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        length = int(answer[at:end].split()[2])
        text = answer[end + 1 : end + 1 + length]
        at = end + length + 2
        stated = re.search(rb"^size (\d{1,15})$", text, re.M)
        if text.startswith(POINTER) and stated:
            found, size = found + 1, size + int(stated[1])
    return {"pointers": found, "pointer_bytes": size}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
