"""Commands of this room: keys sweep, keys stop."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from archive import places
from archive.errors import ArgusicError, Unfinished, printable
from runner import spool
from runner.condition import runner_name
from runner.keys import Account, BrokerError, KeyBroker, configured, owner
from runner.keys.kept import note_spend
from runner.keys.sweep import Swept, leftovers, stop, sweep

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines.")]


def keys_sweep(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted, and delete nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete every model key of this runner that no running attempt owns; exit 5 where one could not be deleted."""
    runner = runner_name(ctx.obj)

    def swept(broker: KeyBroker) -> Iterator[Swept]:
        if dry_run:
            return (Swept(account, False) for account in leftovers(broker, runner, spool.under_way(ctx.obj)))
        return sweep(broker, runner, lambda: spool.under_way(ctx.obj), keep_spend)

    def keep_spend(account: Account) -> None:
        whose = owner(account.name)
        if whose is not None and whose[0] == runner:
            note_spend(places.spool(ctx.obj) / whose[1], account.spent_micro_usd)

    _each(swept, as_json, dry_run)


def keys_stop(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Emergency stop: delete ALL model keys of ours, of every runner, in use or not."""
    brokers = configured(os.environ)
    if not yes:
        if not sys.stdin.isatty():
            raise ArgusicError("keys stop deletes the keys of running attempts too; say --yes")
        where = " and ".join(broker.name for broker in brokers)
        if not typer.confirm(f"Delete ALL keys of Argusic at {where}, those of running attempts too?", err=True):
            raise typer.Exit(130)
    _each(stop, as_json, dry_run=False)


def _each(what: Callable[[KeyBroker], Iterator[Swept]], as_json: bool, dry_run: bool) -> None:
    """Does it at each broker: one that cannot be reached keeps no key of another one alive."""
    found, left, silent = 0, 0, []
    for broker in configured(os.environ):
        try:
            for one in what(broker):
                result = "would be deleted" if dry_run else "deleted" if one.gone else "NOT DELETED"
                found, left = found + 1, left + (not one.gone)
                _tell(broker.name, one, result, as_json)
        except BrokerError as error:
            silent.append(str(error))
    if silent or (left and not dry_run):
        sure = [f"{left} of {found} keys could not be deleted for certain"] if left and not dry_run else []
        raise Unfinished("; ".join(sure + silent) + "; say the same command again")
    keys = "1 key" if found == 1 else f"{found} keys"
    print(f"{keys} {'would be deleted' if dry_run else 'deleted, none is left'}", file=sys.stderr)


def _tell(broker: str, one: Swept, result: str, as_json: bool) -> None:
    account = one.account
    if as_json:
        print(json.dumps({"broker": broker, "result": result.lower().replace(" ", "-"), **account._asdict()}))
    else:
        print(printable(f"{broker}  {account.name}  {result}"))
