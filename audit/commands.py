"""The commands of this room: audit complete, append-only, rules, pages; verify."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from audit import append_only, complete, pages, rules
from audit import verify as verifying
from audit.finding import Checked, Finding, printable

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")]
Token = Annotated[str | None, typer.Option(envvar="GITHUB_TOKEN", show_default=False, hidden=True)]
CycleName = Annotated[str | None, typer.Argument(help="Which cycle; all without it.", metavar="CYCLE")]


def audit_complete(
    ctx: typer.Context,
    cycle: CycleName = None,
    unfinished: Annotated[
        bool, typer.Option("--open", help="Take attempts that are not made yet for granted.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Prove that every attempt that was due has its record, and that there is no other."""
    checked = Checked()
    _tell(complete.complete(ctx.obj, cycle, unfinished=unfinished, checked=checked), checked, as_json)


def audit_append_only(
    ctx: typer.Context,
    base: Annotated[str | None, typer.Option(help="Commit to compare with; without it where HEAD left main.")] = None,
    as_json: Json = False,
) -> None:
    """Prove that no record changed and that ledgers only grew."""
    checked = Checked()
    _tell(append_only.append_only(ctx.obj, base, checked=checked), checked, as_json)


def audit_rules(ctx: typer.Context, as_json: Json = False) -> None:
    """Prove that pages, editions, workflows and records agree on every number."""
    checked = Checked()
    _tell(rules.rules(ctx.obj, checked=checked), checked, as_json)


def audit_pages(ctx: typer.Context, as_json: Json = False) -> None:
    """Prove that the pages are what the results make them."""
    checked = Checked()
    _tell(pages.pages(ctx.obj, checked=checked), checked, as_json)


def verify(
    ctx: typer.Context,
    target: Annotated[
        str, typer.Argument(help="A run (its id or the beginning of it) or a cycle.", metavar="RUN|CYCLE")
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="DIR|URL",
            help="Store of the evidence, anybody's: a folder, https://…, s3://bucket/prefix?endpoint=https://… or "
            "github:owner/repository; without it the checkout's own.",
        ),
    ] = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Check a run or a cycle: every file against its digest, every number derived again."""
    checked, confirmed = Checked(), list[str]()
    found = verifying.verify(ctx.obj, target, source, checked=checked, confirmed=confirmed, token=token)
    _tell(found, checked, as_json, confirmed)


def _tell(findings: list[Finding], checked: Checked, as_json: bool, confirmed: list[str] | None = None) -> None:
    """Prints what was found and what was looked at; exit 1 where something was found."""
    if as_json:
        told = {"findings": [one._asdict() for one in findings], "checked": dict(checked), "confirmed": confirmed or []}
        print(json.dumps(told, indent=2))
    else:
        for line in confirmed or ():
            print(printable(line))
        for one in findings:
            print(one)
        looked = ", ".join(_counted(number, what) for what, number in checked.items()) or "nothing"
        found = _counted(len(findings), "findings")
        print(f"{found} in {looked}" if findings else f"nothing found; checked: {looked}")
    if findings:
        raise typer.Exit(1)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what.removesuffix('s') if number == 1 else what}"
