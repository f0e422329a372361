"""The rules as pipes: JSON Lines on standard input, JSON Lines on standard output, one for one.

A wrong line is named on standard error with its number and field, and makes the exit code 2; the good lines are
answered as they come. Numbers are read exactly (93.33 is 9333/100; "280/3" may be written as text) and rounded half
up to two decimals when they are printed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator

import typer

from archive.errors import DataErrors
from archive.pools import editions
from scoring import answers
from scoring.answers import Answer, Editions
from scoring.board_lines import BoardLines
from scoring.jsonlines import Line, parse

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def score_attempt(ctx: typer.Context) -> None:
    """Points and outcome of attempts, one a line.

    A line is one JSON object:

    \b
    {"installed":true,"launched":true,"errors_encountered":3,"errors_fixed":2,
     "test_depth":"tier1_real","timed_out":false,"edition":"1.5"}

    Where the attempt left no readable report, it is:

    \b
    {"report":null,"timed_out":false,"edition":"1.5"}
    """
    _each_line(ctx, answers.attempt)


def score_set(ctx: typer.Context) -> None:
    """Middle and spread of sets, one a line.

    A line is one JSON object, with "edition" where it is not the newest one:

    \b
    {"scores":[80,"280/3",100]}

    Fewer than three scores are an incomplete set.
    """
    _each_line(ctx, answers.measured_set)


def score_verdict(ctx: typer.Context) -> None:
    """Verdicts of projects, one a line.

    A line is one JSON object:

    \b
    {"edition":"1.5",
     "attempts":[{"agent":"standard","outcome":"fail","validity":"valid"}]}

    The answer says whose attempt comes next: "standard", "stronger" or null.
    """
    _each_line(ctx, answers.project_verdict)


def score_board(ctx: typer.Context) -> None:
    """The board of sets: a line for each set in, a line for each agent out, best first.

    A line is one JSON object:

    \b
    {"agent":"a","project":"p","scores":[80,90,0],
     "outcomes":["fail","pass_full","timeout"],
     "under_review":false,"control":false}

    Outcomes are those of all valid attempts, those for a verdict included; scores are those of the first three for the
    board. Without "under_review" it is computed from the lines. One wrong line, and there is no board.
    """
    board = BoardLines(editions(ctx.obj))
    good = True
    for number, raw in _input():
        try:
            board.add(parse(raw, number))
        except DataErrors as error:
            good = False
            print(error, file=sys.stderr)
    if not good:
        raise typer.Exit(2)
    for row in board.rows():
        if not _write(row):
            break


def _each_line(ctx: typer.Context, answer: Callable[[Line, Editions], Answer]) -> None:
    known = editions(ctx.obj)
    good = True
    for number, raw in _input():
        try:
            answered = answer(parse(raw, number), known)
        except DataErrors as error:
            good = False
            print(error, file=sys.stderr)
        else:
            if not _write(answered):
                break
    if not good:
        raise typer.Exit(2)


def _input() -> Iterator[tuple[int, bytes]]:
    return enumerate(sys.stdin.buffer, 1)


def _write(answer: Answer) -> bool:
    """One line out, at once: whoever reads may want it before writing the next one. False where nobody reads."""
    try:
        sys.stdout.buffer.write(_ENCODER.encode(answer).encode() + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The reader has what it wanted (head -1). The interpreter's own flush at exit must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True
