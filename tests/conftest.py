"""What long tests measured is printed at the end, whoever ran them: one process or several side by side."""

from __future__ import annotations

from collections.abc import Callable

import pytest

TOLD, CELL = "told", "cell"


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """`tell("40 MB in 9 s")` prints a line at the end of the run."""
    return lambda line: record_property(TOLD, line)


@pytest.fixture
def tell_cell(record_property: Callable[[str, object], None]) -> Callable[[str, str, str, str], None]:
    """`tell_cell(table, row, column, what)` fills a cell of a table that is printed at the end of the run."""
    return lambda *cell: record_property(CELL, cell)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines: list[str] = []
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()) if getattr(report, "when", "") == "call" else ():
                if name == TOLD:
                    lines.append(str(value))
                elif name == CELL:
                    table, row, column, what = value
                    tables.setdefault(table, {}).setdefault(row, {})[column] = what
    for table, rows in sorted(tables.items()):
        columns = sorted({column for cells in rows.values() for column in cells})
        widths = [max(len(column), *(len(cells.get(column, "-")) for cells in rows.values())) for column in columns]
        first = max(map(len, [table, *rows]))
        lines.append("")
        lines.append("  ".join([f"{table:{first}}", *(f"{c:{w}}" for c, w in zip(columns, widths, strict=True))]))
        for row, cells in sorted(rows.items()):
            shown = (f"{cells.get(column, '-'):{width}}" for column, width in zip(columns, widths, strict=True))
            lines.append("  ".join([f"{row:{first}}", *shown]).rstrip())
    if lines:
        terminalreporter.section("what was measured")
        for line in lines:
            terminalreporter.line(line)
