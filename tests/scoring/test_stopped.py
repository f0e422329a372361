"""Each error line in one of the published groups; the constraints are in published/README.md."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.groups import GROUPS, OTHER, RULES
from scoring.stopped import stopped
from tests.support.constraints import lines, share

EXAMPLES = {
    "port-in-use": ["Error: listen EADDRINUSE: address already in use :::8080", "port 5432 is occupied"],
    "permission-denied": ["mkdir /opt/x: permission denied", "PermissionError: [Errno 13]", "The script requires root"],
    "system-library": [
        "fatal error: zlib.h: No such file or directory",
        "libssl-dev missing",
        "error while loading shared libraries: libGL.so.1",
        "ld: cannot find -lfoo",
    ],
    "not-installed": [
        "sh: 1: cmake: command not found",
        "No Java runtime",
        "ffmpeg binary missing",
        "Docker unavailable",
    ],
    "version": ["Python 3.9 is too old", "requires Ruby >= 3.2", "needs Go 1.25+", "Node v18 does not support it"],
    "configuration": ["DATABASE_URL is not set", "no OPENAI_API_KEY given", "missing environment variable X"],
    "source": ["git submodule is empty", "failed to clone the repository", "downloading the model failed with 404"],
    "network": ["request timed out", "ECONNREFUSED 127.0.0.1:80", "TLS handshake error", "HTTP 503"],
    "dependencies": [
        "ERESOLVE could not resolve",
        "pip install failed: no wheel",
        "ModuleNotFoundError: No module named 'x'",
        "error: externally-managed-environment",
    ],
    "build": ["tsc: compilation failed", "make: build error", "SyntaxError: invalid syntax"],
    "tests": ["3 of 40 tests fail", "src/a.spec.ts: expected 1, got 2", "AssertionError: 1 == 2"],
    "file": ["data.csv not found", "missing dist/ folder", "FileNotFoundError", "open x: no such file"],
    "code": [
        "TypeError: x is not a function",
        "thread main panicked",
        "segmentation fault",
        "'x' has no attribute 'y'",
    ],
    "other": ["", "It is slow", "Mock Clip.Position returned None", "The disk is full"],
}


def test_the_groups_are_the_published_ones_in_their_order():
    assert [group.name for group in GROUPS] == [
        "Port already in use",
        "Permission denied",
        "Missing system library or header",
        "Tool, runtime or component not installed",
        "Version mismatch",
        "Missing configuration or secret",
        "Source or download problem",
        "Network, timeout or service unreachable",
        "Dependency install or resolution failed",
        "Build or compile step failed",
        "The project's own tests failed",
        "Expected file or data not present",
        "Error inside the project's code",
        "Other",
    ]
    assert len({group.id for group in GROUPS}) == 14
    assert EXAMPLES.keys() == {group.id for group in GROUPS}


@pytest.mark.parametrize(("group", "line"), [(group, line) for group, found in EXAMPLES.items() for line in found])
def test_a_line_is_in_the_group_of_what_it_says(group, line):
    assert stopped(line).id == group


def test_the_first_group_that_matches_has_the_line():
    assert stopped("build failed: port 80 already in use").id == "port-in-use"
    assert stopped("build failed: connection refused").id == "network"
    assert stopped("build failed in tests").id == "build"


def test_nine_of_ten_runs_with_a_line_in_a_group_have_one_here():
    assert share(positive=True).of == 41
    assert share(positive=True).percent >= 90


def test_ninety_seven_of_a_hundred_runs_without_one_have_none_here():
    assert share(positive=False).of == 579
    assert share(positive=False).percent >= 97


def test_no_rule_is_made_for_one_line():
    """A rule's pattern is found in lines of its own making; none spells out a subject or a whole line."""
    told = " ".join(pattern for _, rule in RULES for pattern in rule).casefold()
    assert all(one["line"].casefold() not in told for one in lines())
    # Short names, such as "express", are words too.
    names = {one["slug"].partition("--")[0] for one in lines()}
    assert [name for name in names if len(name) > 8 and name in told] == []


@pytest.mark.parametrize("group", RULES, ids=lambda group: group[0].id)
def test_every_pattern_of_a_rule_stands_by_itself(group):
    assert all(re.compile(pattern, re.I) and not re.search(pattern, "", re.I) for pattern in group[1])


@given(st.text(max_size=600))
def test_any_text_has_one_group_whatever_its_spacing(line):
    found = stopped(line)
    assert found in GROUPS
    if len(line) <= 250:
        assert stopped("  ".join(line.split(" "))) == found


@pytest.mark.parametrize("piece", ["1.", "a./", "missing ", "A_", "no a ", "lib", "requires 1.1 ", "test_", "x" * 499])
def test_no_line_makes_a_rule_search_for_long(piece):
    line = (piece * 500)[:500]
    began = time.process_time()
    stopped(line)
    # A rule that goes back over the line again and again takes minutes for one so long.
    assert time.process_time() - began < 5


def test_a_longer_text_is_looked_at_as_far_as_a_report_goes():
    assert stopped("x" * 500 + " EADDRINUSE") is OTHER
