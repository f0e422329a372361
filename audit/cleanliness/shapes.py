"""Tokens that tell by their shape whose they are, unknown or not. A generic or merely random string is none of them.

A token that was masked is not one any more. A placeholder is none either: it has too few different characters.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from audit.cleanliness.keymaterial import HEADERS


class Shape(NamedTuple):
    """A token of one provider: how it begins, and what follows."""

    kind: str
    begins: bytes
    rest: re.Pattern[bytes]
    """With an end to every repetition: a text that is one beginning after another is searched in a single go."""
    alone: bool = True
    """Whether it is a token only where no letter or digit stands before it."""


def _shape(kind: str, begins: str, rest: str, alone: bool = True) -> Shape:
    return Shape(kind, begins.encode(), re.compile(rest.encode()), alone)


SHAPES = (
    _shape("key of OpenRouter", "sk-or-v1-", r"[0-9a-f]{48,200}", alone=False),
    _shape("key of Anthropic", "sk-ant-", r"[a-z0-9]{4,10}-[\w-]{60,200}", alone=False),
    _shape("key of OpenAI", "sk-proj-", r"[\w-]{40,200}", alone=False),
    _shape("key of OpenAI", "sk-svcacct-", r"[\w-]{40,200}", alone=False),
    _shape("key of OpenAI", "sk-", r"[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    _shape("key of an API", "sk-", r"[A-Za-z0-9]{32,64}\b"),
    _shape("token of GitHub", "github_pat_", r"\w{60,200}", alone=False),
    *(_shape("token of GitHub", f"gh{letter}_", r"[A-Za-z0-9]{36}", alone=False) for letter in "pousr"),
    _shape("token of GitLab", "glpat-", r"[\w-]{20,200}", alone=False),
    _shape("key of AWS", "AKIA", r"[A-Z2-7]{16}\b"),
    _shape("key of AWS", "ASIA", r"[A-Z2-7]{16}\b"),
    _shape("key of Google", "AIza", r"[\w-]{35}(?![\w-])"),
    _shape("token of Google", "ya29.", r"[\w-]{60,200}"),
    _shape("secret of Google", "GOCSPX-", r"[\w-]{28}", alone=False),
    *(_shape("token of Slack", f"xox{letter}-", r"[\w-]{24,200}", alone=False) for letter in "bpears"),
    _shape("token of Slack", "xapp-", r"\d-[A-Z0-9]{8,200}-\d{1,64}-[a-f0-9]{40,200}", alone=False),
    _shape("key of Stripe", "sk_live_", r"[A-Za-z0-9]{24,200}", alone=False),
    _shape("key of Stripe", "rk_live_", r"[A-Za-z0-9]{24,200}", alone=False),
    _shape("token of npm", "npm_", r"[A-Za-z0-9]{36}", alone=False),
    _shape("token of PyPI", "pypi-AgEIcHlwaS5vcmc", r"[\w-]{50,200}", alone=False),
    _shape("token of Hugging Face", "hf_", r"[A-Za-z]{34}"),
    _shape("key of SendGrid", "SG.", r"[\w-]{22}\.[\w-]{43}"),
    _shape("key of Groq", "gsk_", r"[A-Za-z0-9]{52}", alone=False),
    _shape("key of xAI", "xai-", r"[A-Za-z0-9]{80}", alone=False),
    _shape("key of Perplexity", "pplx-", r"[A-Za-z0-9]{48}", alone=False),
    _shape("token of DigitalOcean", "dop_v1_", r"[0-9a-f]{64}", alone=False),
    _shape("token of Docker Hub", "dckr_pat_", r"[\w-]{27}", alone=False),
    _shape("token of Vault", "hvs.", r"[\w-]{24,200}"),
    _shape("key of Databricks", "dapi", r"[0-9a-f]{32}\b"),
    _shape("key of age", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}", alone=False),
)
_FEW = 10
"""Different characters that a token has at least, behind its beginning."""
_EXAMPLE = re.compile(rb"example|placeholder|your|x{6}|0{8}|12345678|abcdefgh|redacted", re.IGNORECASE)


class Shapes:
    """All shapes, and the headers of private keys, in one pass over a text."""

    def __init__(self) -> None:
        import hyperscan

        self._begins = [*sorted({shape.begins for shape in SHAPES}), *HEADERS]
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        patterns = ["".join(f"\\x{byte:02x}" for byte in one).encode() for one in self._begins]
        self._database.compile(patterns, ids=list(range(len(patterns))))
        self._shapes = [[shape for shape in SHAPES if shape.begins == one] for one in self._begins]

    def inside(self, text: bytes, tight: bool = False) -> str | None:
        """The kind of a token in `text`, or None. `tight`: nothing tells words apart there, so only what needs no
        beginning of a word is one."""
        found: list[str] = []

        def begins(which: int, _start: int, end: int, _flags: int, _context: object) -> None:
            if found:
                return
            if rest := HEADERS.get(self._begins[which]):
                if rest.match(text, end):
                    found.append("private key with its header")
                return
            before = text[end - len(self._begins[which]) - 1 : end - len(self._begins[which])]
            for shape in self._shapes[which]:
                if shape.alone and (tight or re.match(rb"[\w-]", before)):
                    continue
                match = shape.rest.match(text, end)
                if match and _random(match[0], tight):
                    found.append(shape.kind)

        self._database.scan(text, match_event_handler=begins)
        return found[0] if found else None


def _random(token: bytes, tight: bool) -> bool:
    """Whether a token is drawn rather than written: of many characters, and where words run together with digits."""
    if len(set(token)) < _FEW or _EXAMPLE.search(token):
        return False
    digits = sum(0x30 <= byte <= 0x39 for byte in token)
    return not tight or digits >= 3 or not token.isalnum()
