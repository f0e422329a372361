"""The second net: kingfisher, a scanner made by others, over all texts at once, as a process that runs beside ours.

It reaches no network: it validates nothing and updates nothing. Only rules that tell a provider's token by its shape
are asked; what it would guess from names and randomness is in every log of a build and decides nothing here.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import tempfile
import threading
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from audit.cleanliness.doubt import Doubt, Incomplete

NAME, DISTRIBUTION = "kingfisher", "kingfisher-bin"
FOUND_NOTHING, FOUND_SOMETHING = 0, (200, 205)
_CACHE = Path(__file__).resolve().parents[2] / ".argusic" / "private" / "scanner"
_FIRST = b"What follows is text, and is looked at as it is.\n\n"
"""Before everything: what begins like UTF-16 or an archive would be read as such, and nothing found to its end."""
_PER_MB, _AT_LEAST = 2, 120
"""Seconds it may take."""
_RULES = (
    "anthropic-admin-api-key",
    "anthropic-api-key",
    "aws-access-token",
    "age-secret-key",
    "artifactory-api-key",
    "circleci-personal-token",
    "clojars-api-token",
    "databricks-api-token",
    "digitalocean-access-token",
    "digitalocean-pat",
    "digitalocean-refresh-token",
    "dockerhub-organization-access-token",
    "dockerhub-personal-access-token",
    "doppler-api-token",
    "dynatrace-api-token",
    "flyio-access-token",
    "gcp-api-key",
    "github-app-token",
    "github-fine-grained-pat",
    "github-oauth",
    "github-pat",
    "github-refresh-token",
    "gitlab-deploy-token",
    "gitlab-pat",
    "gitlab-pat-routable",
    "gitlab-rrt",
    "gitlab-runner-authentication-token",
    "grafana-cloud-api-token",
    "grafana-service-account-token",
    "groq-api-key",
    "hashicorp-tf-api-token",
    "heroku-api-key-v2",
    "huggingface-access-token",
    "linear-api-key",
    "neon-api-key",
    "notion-api-token",
    "npm-access-token",
    "nvidia-api-key",
    "openai-api-key",
    "openrouter-api-key",
    "perplexity-api-key",
    "pinecone-api-key.2",
    "planetscale-api-token",
    "planetscale-password",
    "postman-api-token",
    "pulumi-api-token",
    "pypi-upload-token",
    "replicate-api-token",
    "rubygems-api-token",
    "sendgrid-api-token",
    "sendinblue-api-token",
    "sentry-user-token",
    "shopify-access-token",
    "slack-app-token",
    "slack-bot-token",
    "slack-user-token",
    "stripe-access-token",
    "vault-service-token",
    "xai-api-key",
)


class Scan:
    """One scan of some texts, begun at once, each text named by the file and the view that it is of.

    Raises Incomplete where the scanner is not there; OSError where there is no room for its temporary files.
    """

    def __init__(self, texts: Sequence[tuple[str, str, bytes]]) -> None:
        self.version = version()
        self._names = [(file, view) for file, view, _ in texts]
        self._starts, line = list[int](), 1 + _FIRST.count(b"\n")
        for _, _, text in texts:
            self._starts.append(line)
            line += text.count(b"\n") + 2
        self._given = _FIRST + b"".join(text + b"\n\n" for _, _, text in texts)
        self._room = tempfile.TemporaryDirectory(prefix="argusic-scan-")
        try:
            self._process = subprocess.Popen(
                [binary(), *_arguments(), "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(Path(self._room.name)),
                cwd=self._room.name,
            )
        except OSError as error:
            self._room.cleanup()
            raise Incomplete("scanner", f"{NAME} does not start: {error.strerror}") from None
        self._said = b""
        self._reader = threading.Thread(target=self._talk, daemon=True)
        self._reader.start()

    def _talk(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._said = self._process.communicate(self._given)[0]

    def doubts(self) -> list[Doubt]:
        """What it found. Raises Incomplete where it came to no end."""
        self._reader.join(_AT_LEAST + _PER_MB * len(self._given) / 1e6)
        late = self._reader.is_alive()
        self.end()
        if late or self._process.returncode not in (FOUND_NOTHING, *FOUND_SOMETHING):
            problem = "takes too long" if late else f"ended with {self._process.returncode}"
            raise Incomplete("scanner", f"{NAME} {problem}")
        try:
            told, _ = json.JSONDecoder().raw_decode(self._said.decode())
            summary = told["metadata"]["summary"]
            if summary["bytes_scanned"] < len(self._given) or summary["rules_applied"] < len(_RULES):
                raise Incomplete("scanner", f"{NAME} did not look at everything")
            found = {(self._place(one["finding"]["line"]), str(one["rule"]["id"])) for one in told["findings"]}
        except (ValueError, KeyError, TypeError):
            raise Incomplete("scanner", f"{NAME} gave no answer that can be read") from None
        listed = set(map(_id, _RULES))
        return [
            Doubt(file, view, f"a token that {NAME} knows by rule {rule}")
            for (file, view), rule in sorted(found)
            if rule in listed
        ]

    def end(self) -> None:
        """Ends the process, whatever it does; a second time nothing happens."""
        if self._reader.is_alive():
            self._process.kill()
        self._reader.join()
        self._room.cleanup()

    def _place(self, line: int) -> tuple[str, str]:
        return self._names[max(0, bisect_right(self._starts, line) - 1)]


def version() -> str:
    """Of the installed scanner. Raises Incomplete where there is none."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        raise Incomplete("scanner", f"{NAME} is not installed") from None


def binary() -> str:
    """The scanner's own program; the package beside it would only start it in a process more."""
    spec = importlib.util.find_spec(NAME)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        program = Path(folder) / "bin" / NAME
        if os.access(program, os.X_OK):
            return str(program)
    raise Incomplete("scanner", f"{NAME} is not installed")


def warm() -> None:
    """Makes the cache of compiled rules if it is not there, which takes seconds the first time."""
    try:
        if not any(_cache().glob("*.vscdb")):
            Scan([]).doubts()
    except (Incomplete, OSError):
        return  # Said when there is something to scan.


def _id(rule: str) -> str:
    return f"betterleaks.{rule}"


def _arguments() -> list[str]:
    chosen = [word for rule in _RULES for word in ("--rule", _id(rule))]
    quiet = ["--no-validate", "--no-update-check", "--no-dedup", "--no-ignore", "--turbo", "--confidence", "low"]
    return ["scan", *quiet, *chosen, "--format", "json", "--no-extract-archives", "--max-file-size", "4096"]


def _environment(room: Path) -> dict[str, str]:
    return {"HOME": str(room), "TMPDIR": str(room), "KF_RULE_CACHE_DIR": str(_cache()), "PATH": os.defpath}


def _cache() -> Path:
    """The folder of the compiled rules, one for each version and choice of rules."""
    rules = f"{version()}-{zlib.crc32(' '.join(_RULES).encode()):08x}"
    try:
        (_CACHE / rules).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir()) / f"argusic-scanner-{os.getuid()}-{rules}"
    return _CACHE / rules
