"""The key of one attempt, whatever kind it is: there before anything begins, gone when the attempt is over."""

from __future__ import annotations

import time
from pathlib import Path

from archive.agent import Agent
from archive.errors import ArgusicError
from archive.record import Key
from runner.condition import Condition
from runner.keys import broker, key_name
from runner.keys.lease import Lease, NoKey
from runner.masking import Known

SLACK_SECONDS = 3600
"""What an attempt may need beside its agent's time: fetching, the machine, copying out, settling the account."""


class AttemptKey:
    """A key while it is needed. Leaving the block ends it, however it is left."""

    def __init__(self, key: Key, secrets: tuple[str, ...] = (), lease: Lease | None = None) -> None:
        self.key, self.secrets = key, secrets
        """What the record says of it, and the values that nothing recorded may show."""
        self._lease = lease

    def close(self) -> Key:
        """Ends an own key: its spend settled, the key deleted, that confirmed. A second call changes nothing."""
        if self._lease is not None:
            self.key = self._lease.close()
        return self.key

    def __enter__(self) -> AttemptKey:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def attempt_key(condition: Condition, agent: Agent, folder: Path, run: str, budget_seconds: int) -> AttemptKey:
    """The key for an attempt of `agent`, kept track of in `folder`.

    Raises NoKey where none can be made: then the attempt does not begin (MEASUREMENT §5).
    """
    model = agent.model
    if model is None or model.key == "none":
        return AttemptKey(Key.none())
    if model.key == "shared":
        return AttemptKey(Key.shared(), (shared_key(condition, agent),))
    cap = condition.edition.key_cap_micro_usd
    if cap is None or model.broker is None:
        raise ArgusicError(f"edition {condition.edition.version} states no cap for an attempt's own key")
    name = key_name(condition.environment.runner, run)
    maker = broker(model.broker, condition.environ)
    lease = Lease.open(maker, folder, name, cap, budget_seconds + SLACK_SECONDS, time.time())
    try:
        Known((lease.secret,))
    except ValueError as error:
        lease.close()
        raise NoKey(f"key {name}: {error}") from None
    return AttemptKey(lease.key, (lease.secret,), lease)


def shared_key(condition: Condition, agent: Agent) -> str:
    """The key that all attempts of `agent` share, from the runner's environment. ArgusicError where it is not there."""
    variable = agent.model.key_from if agent.model else None
    value = condition.environ.get(variable or "", "")
    if not value:
        raise ArgusicError(f"agent {agent.id}: the variable {variable} with its shared key is not set on this runner")
    return value
