"""The commands of this room: audit complete, append-only, rules, pages; verify; evidence push, fetch,
take-down, stamp."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from archive import pools, timestamps
from archive.backends import Token, backend
from archive.canonical import canonical_line
from archive.errors import DataError, Unfinished
from archive.ledger import Ledger
from archive.release_assets import ReleaseStore
from archive.web import shown
from audit import append_only, complete, pages, rules, transfer
from audit import verify as verifying
from audit.finding import Checked, Finding, printable

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")]
TokenValue = Annotated[str | None, typer.Option("--token", envvar="GITHUB_TOKEN", hidden=True)]
Api = Annotated[str, typer.Option("--api", envvar="GITHUB_API_URL", hidden=True)]
GITHUB = Token("").api
MOVED = {
    "moved": "moved",
    "there": "is there already",
    "waits": "waits: its key may still be alive",
    "missing": "is not whole in that store",
}
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
    authority: Annotated[
        Path | None,
        typer.Option(help="PEM file with your own certificates of the authorities that stamped the ledger."),
    ] = None,
    token: TokenValue = None,
    api: Api = GITHUB,
    as_json: Json = False,
) -> None:
    """Check a run or a cycle: every file against its digest, every number derived again."""
    checked, confirmed = Checked(), list[str]()
    trusted = _pem(authority) if authority else None
    found = verifying.verify(
        ctx.obj, target, source, checked=checked, confirmed=confirmed, token=_token(token, api), authority=trusted
    )
    _tell(found, checked, as_json, confirmed)


def evidence_push(
    ctx: typer.Context,
    cycle: str,
    to: Annotated[str, typer.Option("--to", metavar="STORE", help="As --from of verify; not https://…")],
    publish: Annotated[
        bool, typer.Option("--publish", help="Make the drafts on GitHub releases that everybody sees.")
    ] = False,
    token: TokenValue = None,
    api: Api = GITHUB,
    as_json: Json = False,
) -> None:
    """Send the evidence of CYCLE to a store; a second time only what is not there. Exit 5 while some waits on."""
    pools.cycle(ctx.obj, cycle)
    target = backend(to, _token(token, api))
    if publish and not isinstance(target, ReleaseStore):
        raise DataError(to, "", "--publish is for github:owner/repository: other stores have no drafts")
    waits = _moving(transfer.push(ctx.obj, cycle, target), as_json)["waits"]
    if publish and isinstance(target, ReleaseStore):
        print(f"{_counted(target.publish(cycle), 'releases')} published", file=sys.stderr)
    if waits:
        raise Unfinished(f"cycle {cycle}: the evidence of {_counted(waits, 'runs')} waits for the end of a key")


def evidence_fetch(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(metavar="RUN|CYCLE")],
    source: Annotated[str, typer.Option("--from", metavar="STORE", help="As of verify.")],
    token: TokenValue = None,
    api: Api = GITHUB,
    as_json: Json = False,
) -> None:
    """Bring the evidence of a run or a cycle from a store into this checkout; exit 1 where the store lacks some."""
    cycle, run = verifying.named(ctx.obj, target)
    if _moving(transfer.fetch(ctx.obj, cycle, run, backend(source, _token(token, api))), as_json)["missing"]:
        raise typer.Exit(1)


def evidence_take_down(
    ctx: typer.Context,
    digest: Annotated[str, typer.Argument(help="sha256:… of one file of evidence.")],
    reason: Annotated[str, typer.Option(help="Why, for everybody to read.")],
) -> None:
    """Remove one file of evidence here, for legal reasons, and leave a tombstone that says so."""
    here = transfer.take_down(ctx.obj, digest, time.strftime("%Y-%m-%d", time.gmtime()), reason)
    print(f"{digest}: {'removed' if here else 'was not here'}; its tombstone is in results/tombstones")


def evidence_stamp(
    ctx: typer.Context,
    cycle: str,
    tsa: Annotated[str, typer.Option(metavar="URL", help="Address of a time-stamp authority (RFC 3161).")],
    authority: Annotated[Path, typer.Option(help="PEM file with that authority's certificates, from itself.")],
) -> None:
    """Have somebody else say when the closed ledger of CYCLE existed; a second time at the same one does nothing."""
    pools.cycle(ctx.obj, cycle)
    ledger = Ledger.read(ctx.obj, cycle)
    if not ledger.closed:
        raise DataError(ledger.path, "", f"is still open; close it first: argusic cycle close {cycle}")
    head, trusted = ledger.head, _pem(authority)
    there = [path for path, one in timestamps.each(ctx.obj, cycle) if (one.tsa, one.head) == (shown(tsa), head)]
    if there:
        path, done = there[0].with_suffix(".tsr"), ", is there already"
    else:
        line = canonical_line(ledger.lines[-1])
        path, done = timestamps.keep(ctx.obj, cycle, line, tsa, trusted, timestamps.ask(tsa, line, trusted)), ""
    at, by = timestamps.check(path.read_bytes(), head, trusted)
    print(f"{path.relative_to(ctx.obj)}: {at} by {printable(by)}{done}")


def _token(value: str | None, api: str) -> Token | None:
    return Token(value, api) if value else None


def _pem(path: Path) -> str:
    """The text of a PEM file. Raises DataError where it holds no certificates."""
    try:
        text = path.read_bytes()[: timestamps.MOST_BYTES].decode("ascii")
        timestamps.certificates(text)
    except (UnicodeDecodeError, DataError):
        raise DataError(path, "", "holds no certificates; give a PEM file of the authority's own") from None
    return text


def _moving(moved: Iterator[transfer.Moved], as_json: bool) -> Counter[str]:
    """Prints what came of each run; how many runs came to which state."""
    counts = Counter[str]()
    for one in moved:
        counts[one.state] += 1
        if as_json:
            print(json.dumps(one._asdict()), flush=True)
        else:
            print(f"{one.run[:12]}  {MOVED[one.state]}" + (f", {one.objects} files" if one.objects else ""), flush=True)
    return counts


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
