"""Commands of keys: keys sweep, keys stop."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Annotated

import typer

from archive.errors import ArgusicError, Unfinished
from runner.condition import runner_name
from runner.keys.brokers import at_hand
from runner.keys.sweep import Swept, leftovers, stop, sweep
from runner.spool import under_way

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines.")]


def keys_sweep(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which keys would be deleted.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete keys of this runner whose attempt is over, and all of ours past their end; exit 5 where one stays."""
    runner = runner_name(ctx.obj)
    running = under_way(ctx.obj)
    brokers = at_hand(os.environ)
    if dry_run:
        found = [Swept(one.name, account, None) for one in brokers for account in leftovers(one, runner, running)]
        _tell(found, as_json)
        print(f"{len(found)} keys would be deleted; {len(running)} attempts are under way", file=sys.stderr)
        return
    _finish(_tell((swept for one in brokers for swept in sweep(one, runner, running)), as_json))


def keys_stop(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Emergency: delete EVERY key of ours at every broker at hand, also of attempts that are under way."""
    brokers = at_hand(os.environ)
    if not yes:
        names = " and ".join(one.name for one in brokers)
        if not sys.stdin.isatty():
            raise ArgusicError("every key of ours would be deleted; say --yes where nobody can be asked")
        typer.confirm(f"Delete every key of ours at {names}, also those in use?", abort=True)
    _finish(_tell((swept for one in brokers for swept in stop(one)), as_json))


def _tell(found: Iterable[Swept], as_json: bool) -> tuple[int, int]:
    """Prints each key; how many there were, and how many of them stay."""
    count = stay = 0
    for one in found:
        count += 1
        stay += one.gone is False
        account = one.account
        if as_json:
            print(json.dumps({"broker": one.broker, "key": account.id, "name": account.name, "gone": one.gone}))
        else:
            word = {True: "deleted", False: "NOT DELETED", None: "left"}[one.gone]
            print(f"{word:12}{one.broker:11}{account.name}  ends {account.expires_at or 'never'}")
    return count, stay


def _finish(counts: tuple[int, int]) -> None:
    count, stay = counts
    if stay:
        raise Unfinished(f"{stay} of {count} keys could not be deleted for certain; the same command tries again")
    print(f"{count} keys deleted, none stays", file=sys.stderr)
