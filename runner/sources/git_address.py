"""Where a repository is really fetched from: the runner's own mirrors, and nothing else of its git configuration."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from archive.errors import ArgusicError

INSIDE = "/argusic/mirror"
_SCHEMES = ("https", "http", "git")
_RULE = "the runner's git configuration (url.<base>.insteadOf) leads to"
_SCP = re.compile(r"(?![a-z+]+://)[^/]+:.*", re.DOTALL)


class NoAddress(ArgusicError):
    """Nothing can be fetched from there without an account, or at all. The text never repeats a user name."""


class Address(NamedTuple):
    """Where a machine fetches from."""

    url: str
    mirror: Path | None = None
    """The folder of the runner that stands behind `url`, for the machine to see read-only."""


def address(url: str) -> Address:
    """`url` after the runner's `url.<base>.insteadOf`.

    Raises `NoAddress` where nobody could fetch from it, and `ArgusicError` where it is the runner's rule that leads to
    what a machine cannot use: that is no fault of the subject.
    """
    found, changed = rewritten(url)
    if changed and found.startswith(("/", "file:///")):
        folder = Path(found.removeprefix("file://"))
        if not folder.is_dir():
            raise ArgusicError(f"{_RULE} a folder that is not there")
        return Address(f"file://{INSIDE}", folder.resolve())
    trouble = _trouble(found)
    if trouble and changed:
        raise ArgusicError(f"{_RULE} {trouble}")
    if trouble:
        raise NoAddress(f"its address is {trouble}")
    return Address(found)


def _trouble(url: str) -> str:
    """What keeps a machine from fetching there; "" where nothing does."""
    if not url.isprintable() or not url.isascii() or " " in url or url.startswith("-"):
        return "none of a repository"
    if url.startswith(("/", "file:")):
        return "a folder of one computer"
    if _SCP.fullmatch(url) or url.startswith(("ssh://", "git+ssh://")):
        return "one for which one needs an account (ssh)"
    try:
        parts = urlsplit(url)
    except ValueError:
        return "none of a repository"
    if "@" in parts.netloc:
        return "one with a user name or password; a subject is fetched as anyone can fetch it"
    if parts.scheme not in _SCHEMES or not parts.hostname:
        return "of a kind that is not fetched; https is"
    return ""


def rewritten(url: str) -> tuple[str, bool]:
    """`url` as git itself would rewrite it on this runner, the longest prefix first, and whether it did."""
    best, base = "", ""
    for instead, prefix in _rules():
        if url.startswith(prefix) and len(prefix) > len(best):
            best, base = prefix, instead
    return (base + url[len(best) :], True) if best else (url, False)


def resolved(url: str, parent: str) -> str:
    """The address of a submodule, which may be written relative to the repository that includes it."""
    if not url.startswith(("./", "../")):
        return url
    # A repository's name takes part in the path: "../x" is its neighbour.
    return urljoin(parent.rstrip("/") + "/", url)


def _rules() -> list[tuple[str, str]]:
    """(base, prefix) of each rule. Read from outside any checkout, whose own configuration is not the runner's."""
    # Variables of a surrounding git command name a checkout too.
    env = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    asked = subprocess.run(
        ["git", "config", "-z", "--get-regexp", r"^url\..*\.insteadof$"],
        cwd="/",
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    rules = []
    for item in asked.stdout.decode(errors="surrogateescape").split("\0"):
        key, line, prefix = item.partition("\n")
        if line:
            rules.append((key.removeprefix("url.").rpartition(".")[0], prefix))
    return rules
