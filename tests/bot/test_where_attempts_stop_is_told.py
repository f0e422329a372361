"""Error lines by group: for each attempt that did not pass, and counted for a cycle."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from archive.plan import Job
from archive.report import Report
from bot.error_lines import SHOWN, error_lines
from bot.escape import Markdown
from bot.measured import measured
from bot.render import render
from bot.view.stops import stops
from scoring.groups import GROUPS
from tests.support.make import Change, failed, invalid, make_record, make_root, passed, silent
from tests.support.markdown import inline, links, seen, tables, tokens

ONE, TWO = "pkg:pypi/one@1.0", "pkg:npm/two@2.0.0"
HEAD = ["group", "error lines", "not fixed", "attempts", "without a pass"]
EVIL = "</li> `x` | <script>alert(1)</script> [a](http://b) @everyone #1 \u202e\x1b[31m\n\n# Head\n* pnpm not found"
ANCHOR = re.compile(r'<a id="[pr]-[0-9a-f]+">')


def errors(*said: str, fixed: int = 0) -> dict[str, Any]:
    """The part of a report about errors; the last `fixed` of them are fixed."""
    left = len(said) - fixed
    listed = [
        {"what": what, "fix": "did it" if number >= left else None, "fixed": number >= left, "at_seconds": None}
        for number, what in enumerate(said)
    ]
    return {"errors": listed, "errors_encountered": len(said), "errors_fixed": fixed}


def report(*said: str, fixed: int = 0) -> Report:
    found = make_record(report=errors(*said, fixed=fixed)).report
    assert found is not None
    return found


def one_agent(root: Path, play: Any) -> Path:
    return make_root(root, ONE, purposes=["verdict"], agents=["agent-a"], play=play, evidence=False)


def told(root: Path) -> str:
    """What the verdicts page shows about error lines."""
    page = seen(render(root)["docs/verdicts.md"].decode())
    _, found, after = page.partition("Error lines of the attempts that did not pass")
    return after.partition("Claims of the agents")[0] if found else ""


def test_each_line_of_a_failed_attempt_stands_there_with_its_group(tmp_path: Path) -> None:
    one_agent(tmp_path, lambda job: failed(**errors("sh: cmake: command not found", "ran at 3 a.m.")))
    assert "Attempt 1 of Agent A:" in told(tmp_path)
    assert "Tool, runtime or component not installed: sh: cmake: command not found (not fixed)" in told(tmp_path)
    assert "Other: ran at 3 a.m. (not fixed)" in told(tmp_path)


def test_what_was_not_fixed_comes_first_and_what_was_is_a_claim(tmp_path: Path) -> None:
    root = one_agent(tmp_path, lambda job: failed(**errors("request timed out", "port 80 already in use", fixed=1)))
    run = measured(root)["first"][0]
    assert [line.partition(":")[0] for line in stops(run)] == [
        "Network, timeout or service unreachable",
        "Port already in use",
    ]
    assert stops(run)[1].endswith("(fixed, as the agent says)")


def test_the_lines_of_an_attempt_that_passed_are_counted_and_not_told(tmp_path: Path) -> None:
    root = one_agent(tmp_path, lambda job: passed(**errors("request timed out", fixed=1)))
    assert told(root) == ""
    (line,) = measured(root)["first"][0].errors
    assert (line.group.id, line.fixed, line.words) == ("network", True, None)


def test_more_lines_than_a_page_shows_are_counted_by_group(tmp_path: Path) -> None:
    said = [f"tool-{number} not installed" for number in range(SHOWN + 2)]
    root = one_agent(tmp_path, lambda job: failed(**errors(*said, "tests failed", "file.csv not found", fixed=1)))
    shown = stops(measured(root)["first"][0])
    assert len(shown) == SHOWN + 1
    assert shown[-1] == (
        "and 4 more: Tool, runtime or component not installed 2 ×, The project's own tests failed 1 ×, "
        "Expected file or data not present 1 ×"
    )


def test_a_moment_stands_with_its_line_and_one_that_is_not_known_does_not() -> None:
    lines = error_lines(report("request timed out", "port 80 already in use"), words=True, moments=(62_345, None))
    assert [line.at_ms for line in lines] == [62_345, None]
    assert [line.at_ms for line in error_lines(report("request timed out"), words=True)] == [None]


def test_a_moment_is_told_as_a_place_in_the_recording(tmp_path: Path) -> None:
    root = one_agent(tmp_path, lambda job: failed(**errors("request timed out")))
    run = measured(root)["first"][0]
    lines = error_lines(report("request timed out"), words=True, moments=(62_345,))
    assert stops(run._replace(errors=lines)) == [
        "Network, timeout or service unreachable: `request timed out` "
        "(not fixed, first shown at 0:01:02 of the recording)"
    ]


def test_an_attempt_without_a_report_has_no_lines(tmp_path: Path) -> None:
    assert told(one_agent(tmp_path, lambda job: silent())) == ""
    assert error_lines(None, words=True) == ()


def test_hostile_lines_stay_text_and_long_ones_are_shortened(tmp_path: Path) -> None:
    root = one_agent(tmp_path, lambda job: failed(**errors(EVIL, "x" * 500, "", fixed=0)))
    page = render(root)["docs/verdicts.md"].decode()
    assert {token.content for token in inline(page) if token.type == "html_inline"} <= {"</a>", *ANCHOR.findall(page)}
    headings = [block.tag for block in tokens(page) if block.type == "heading_open"]
    assert headings == ["h1", "h2", "h3"]
    assert "pnpm not found" in told(root)
    shown = stops(measured(root)["first"][0])
    assert all(isinstance(line, Markdown) and "\n" not in line and len(line) < 350 for line in shown)
    assert shown[2] == "Other: nothing (not fixed)"


def play(job: Job) -> Change:
    """Two attempts fail on a missing tool, one of them twice; the third passes after a time-out of its own."""
    if job.subject == TWO:
        return invalid("infra:disk")
    if job.attempt == 3:
        return passed(**errors("request timed out", fixed=1))
    return failed(**errors(*["cmake: command not found"] * job.attempt))


def test_a_cycle_counts_the_lines_of_its_valid_attempts_by_group(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, TWO, play=play, agents=["agent-a"], evidence=False)
    table = next(table for table in tables(render(tmp_path)["docs/board.md"].decode()) if table[0] == HEAD)
    assert table[1:] == [
        ["Tool, runtime or component not installed", "3", "3", "2", "2"],
        ["Network, timeout or service unreachable", "1", "0", "1", "0"],
    ]


def test_a_cycle_without_an_error_line_has_no_such_table(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, agents=["agent-a"], evidence=False)
    assert "Where attempts stop" not in render(tmp_path)["docs/board.md"].decode()


def test_the_methodology_names_every_group_in_its_order_and_the_board_links_there(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, play=play, agents=["agent-a"], evidence=False)
    pages = {path: data.decode() for path, data in render(tmp_path).items()}
    table = next(rows for rows in tables(pages["docs/methodology.md"]) if rows[0] == ["group", "what it means"])
    assert table[1:] == [[group.name, group.means] for group in GROUPS]
    assert "methodology.md#stops" in links(pages["docs/board.md"])
    assert '<a id="stops"></a>' in pages["docs/methodology.md"]
