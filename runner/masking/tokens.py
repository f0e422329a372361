"""Tokens by the shapes that vendors document, whoever they belong to: the second net under the known values.

Only shapes that name their vendor and have a fixed or long body are here, so that hashes, UUIDs, integrity strings and
digests are never touched; a placeholder is none either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from runner.masking.search import Engine, Finder, Form
from runner.masking.text import Span

_BASE62 = "A-Za-z0-9"


class Shape(NamedTuple):
    """One vendor's token: what it begins with, and a regular expression of all of it."""

    begins: str
    body: str


SHAPES = (
    Shape("sk-or-v1-", r"sk-or-v1-[0-9a-f]{64}"),
    Shape("sk-proj-", rf"sk-proj-[{_BASE62}_-]{{40,200}}"),
    Shape("sk-svcacct-", rf"sk-svcacct-[{_BASE62}_-]{{40,200}}"),
    Shape("sk-admin-", rf"sk-admin-[{_BASE62}_-]{{40,200}}"),
    Shape("T3BlbkFJ", rf"sk-[{_BASE62}_-]{{20,80}}T3BlbkFJ[{_BASE62}_-]{{20,80}}"),
    Shape("sk-ant-", rf"sk-ant-[a-z0-9]{{3,12}}-[{_BASE62}_-]{{80,120}}"),
    Shape("sk-", r"sk-[0-9a-f]{32}(?![0-9a-zA-Z])"),
    Shape("gsk_", rf"gsk_[{_BASE62}]{{52}}"),
    Shape("xai-", rf"xai-[{_BASE62}_]{{70,90}}"),
    Shape("pplx-", rf"pplx-[{_BASE62}]{{48,56}}"),
    Shape("r8_", rf"r8_[{_BASE62}]{{37}}(?![{_BASE62}])"),
    Shape("hf_", r"hf_[A-Za-z]{34}(?![A-Za-z0-9_])"),
    Shape("ghp_", rf"ghp_[{_BASE62}]{{36}}"),
    Shape("gho_", rf"gho_[{_BASE62}]{{36}}"),
    Shape("ghu_", rf"ghu_[{_BASE62}]{{36}}"),
    Shape("ghs_", rf"ghs_[{_BASE62}]{{36}}"),
    Shape("ghr_", rf"ghr_[{_BASE62}]{{36,76}}"),
    Shape("github_pat_", rf"github_pat_[{_BASE62}_]{{82}}"),
    Shape("glpat-", rf"glpat-[{_BASE62}_-]{{20,300}}(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{7,9}})?"),
    Shape("gldt-", rf"gldt-[{_BASE62}_-]{{20,64}}"),
    Shape("glrt-", rf"glrt-[{_BASE62}_-]{{20,64}}"),
    Shape("glptt-", r"glptt-[0-9a-f]{40}"),
    Shape("AKIA", r"AKIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Shape("ASIA", r"ASIA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Shape("AIza", rf"AIza[{_BASE62}_-]{{35}}(?![{_BASE62}_-])"),
    Shape("GOCSPX-", rf"GOCSPX-[{_BASE62}_-]{{28}}"),
    Shape("ya29.", rf"ya29\.[{_BASE62}_-]{{60,400}}"),
    Shape("xox", rf"xox[abeoprs]-(?:[0-9]{{8,14}}-){{1,3}}[{_BASE62}-]{{16,160}}"),
    Shape("xapp-", r"xapp-[0-9]-[A-Z0-9]{8,14}-[0-9]{8,16}-[a-f0-9]{32,80}"),
    Shape("hooks.slack.com", rf"hooks\.slack\.com/services/T[A-Z0-9]{{6,12}}/B[A-Z0-9]{{6,12}}/[{_BASE62}]{{24}}"),
    Shape("npm_", rf"npm_[{_BASE62}]{{36}}(?![{_BASE62}_])"),
    Shape("pypi-AgE", rf"pypi-AgE[{_BASE62}_-]{{60,300}}"),
    Shape("rubygems_", r"rubygems_[0-9a-f]{48}"),
    Shape("dckr_pat_", rf"dckr_pat_[{_BASE62}_-]{{27}}"),
    Shape("SG.", rf"SG\.[{_BASE62}_-]{{22}}\.[{_BASE62}_-]{{43}}"),
    Shape("key-", r"key-[0-9a-f]{32}(?![0-9a-zA-Z])"),
    Shape("_live_", rf"(?:sk|rk)_live_[{_BASE62}]{{24,247}}"),
    Shape("_test_", rf"(?:sk|rk)_test_[{_BASE62}]{{24,247}}"),
    Shape("whsec_", rf"whsec_[{_BASE62}+/]{{32,64}}"),
    Shape("dop_v1_", r"dop_v1_[a-f0-9]{64}"),
    Shape("doo_v1_", r"doo_v1_[a-f0-9]{64}"),
    Shape("dor_v1_", r"dor_v1_[a-f0-9]{64}"),
    Shape("dapi", r"(?<![A-Za-z0-9])dapi[a-f0-9]{32}(?:-[0-9])?(?![a-z0-9])"),
    Shape("shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    Shape("sq0", rf"sq0(?:atp|csp)-[{_BASE62}_-]{{22,43}}"),
    Shape("EAAA", rf"EAAA[{_BASE62}_-]{{60}}(?![{_BASE62}_-])"),
    Shape("lin_api_", rf"lin_api_[{_BASE62}]{{40}}"),
    Shape("ntn_", rf"ntn_[{_BASE62}]{{46}}"),
    Shape("secret_", rf"secret_[{_BASE62}]{{43}}(?![{_BASE62}])"),
    Shape("figd_", rf"figd_[{_BASE62}_-]{{40}}"),
    Shape("PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    Shape("NRAK-", r"NRAK-[A-Z0-9]{27}"),
    Shape("sntry", rf"sntry[su]_[{_BASE62}+/=_-]{{60,400}}"),
    Shape("glsa_", rf"glsa_[{_BASE62}]{{32}}_[0-9a-fA-F]{{8}}"),
    Shape("glc_", rf"glc_[{_BASE62}+/]{{40,400}}={{0,2}}"),
    Shape("hvs.", rf"hvs\.[{_BASE62}_-]{{24,200}}"),
    Shape("hvb.", rf"hvb\.[{_BASE62}_-]{{100,300}}"),
    Shape("hvr.", rf"hvr\.[{_BASE62}_-]{{24,200}}"),
    Shape("atlasv1.", rf"[{_BASE62}]{{14}}\.atlasv1\.[{_BASE62}_-]{{60,70}}"),
    Shape("dp.", rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?[{_BASE62}]{{40,44}}"),
    Shape("pul-", r"pul-[a-f0-9]{40}"),
    Shape("sbp_", r"sbp_[a-f0-9]{40}"),
    Shape("fo1_", rf"fo1_[{_BASE62}_-]{{43}}"),
    Shape("FlyV1", rf"FlyV1 fm[12][a-z]?_[{_BASE62}+/=,_-]{{80,2000}}"),
    Shape("CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    Shape("oy2", r"(?<![a-z0-9])oy2[a-z0-9]{43}(?![a-z0-9])"),
    Shape("cio", rf"(?<![{_BASE62}])cio[{_BASE62}]{{32}}(?![{_BASE62}])"),
    Shape("tskey-", rf"tskey-[a-z]{{3,8}}-[{_BASE62}]{{8,24}}-[{_BASE62}]{{20,48}}"),
    Shape("AGE-SECRET", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Shape("eyJ", rf"(?i:bearer|authorization|token)[\s\"':=]{{1,8}}(?:bearer[\s]{{1,3}})?"
          rf"(?P<body>eyJ[{_BASE62}_-]{{10,2000}}\.eyJ[{_BASE62}_-]{{10,4000}}\.[{_BASE62}_-]{{20,1000}})"),
)  # fmt: skip
"""Beginnings and lengths as the vendors' own pages state them."""
_RULES = {shape.begins.encode(): re.compile(shape.body.encode()) for shape in SHAPES}
_WINDOW = 128
_LONGEST = 8192
_EDGE = re.compile(rb"[A-Za-z0-9_]")
_PLACEHOLDER = re.compile(
    rb"(?i)example|placeholder|your|x{6}|0{8}|1234567890|abcdefgh|redacted|dummy|changeme|test_?key"
)
_DIFFERENT = 8


def tokens(data: bytes, engine: Engine | None = None) -> Iterator[Span]:
    """Where a token stands in `data`."""
    for at, begins in _finder(engine).seeds(data):
        pattern = _RULES[begins]
        for match in pattern.finditer(data, max(0, at - _WINDOW), at + _LONGEST):
            if match.start() > at:
                break
            if match.end() > at:
                start, end = match.span("body") if "body" in pattern.groupindex else match.span()
                if _genuine(data, start, end):
                    yield start, end
                break


@cache
def _finder(engine: Engine | None) -> Finder:
    return Finder((Form(begins, len(begins), len(begins), False) for begins in _RULES), engine)


def _genuine(data: bytes, start: int, end: int) -> bool:
    token = data[start:end]
    if start and _EDGE.match(data, start - 1, start):
        return False
    return len(set(token)) >= _DIFFERENT and not _PLACEHOLDER.search(token)
