"""Settled, deleted, confirmed: absent and refused. Whatever is not certain is not confirmed, and is no error."""

from __future__ import annotations

from typing import Any

import pytest

from archive.errors import DataErrors
from archive.record import Key
from runner.keys import BrokerError
from runner.keys.ending import confirmed_gone
from runner.keys.kept import KEY, Kept
from runner.keys.lease import close_left
from tests.keys.conftest import CAP, Side
from tests.keys.fakes import Sent


def kinds(at: Side) -> list[str]:
    return [asked.what for asked in at.fake.asked]


def test_a_closed_key_is_absent_and_refused(at: Side) -> None:
    lease = at.open()
    key = lease.close()
    assert key == Key(
        kind="own",
        broker=at.fake.name,
        id=lease.id,
        cap_micro_usd=CAP,
        spent_micro_usd=0,
        expires_at=lease.expires_at,
        deletion_confirmed=True,
    )
    assert at.fake.keys == {}
    assert at.broker.refused(lease.secret) is True
    assert at.broker.account(lease.id) is None


def test_a_spend_that_arrives_late_is_waited_for_before_the_deletion(at: Side) -> None:
    lease = at.open()
    at.fake.spends = [0, 0.4, 0.4, 1.2345678, 1.2345678, 1.2345678]
    at.fake.asked.clear()
    assert lease.close().spent_micro_usd == 1_234_568
    assert kinds(at)[:7] == ["show"] * 6 + ["delete"]
    assert at.slept == [at.broker.poll_seconds] * 5


def test_three_equal_answers_of_litellm_span_more_than_its_spends_are_late(litellm: Side) -> None:
    assert 2 * litellm.broker.poll_seconds > 10


def test_a_spend_that_never_settles_is_unknown_and_the_key_is_deleted_in_time(at: Side) -> None:
    lease = at.open()
    at.fake.spends = [number / 100 for number in range(100)]
    key = lease.close()
    assert key.spent_micro_usd is None
    assert key.deletion_confirmed is True
    assert sum(at.slept) <= 30


def test_a_spend_over_the_cap_is_told_as_it_is(at: Side) -> None:
    lease = at.open()
    at.fake.spends = [3.31]
    assert lease.close().spent_micro_usd == 3_310_000


def test_what_own_provider_keys_spent_is_spent(openrouter: Side) -> None:
    openrouter.fake.spends = [1.5]
    openrouter.fake.saved = lambda key: key | {"byok_usage": 0.25}
    id = openrouter.fake.new("argusic-x")
    account = openrouter.broker.account(id)
    assert account is not None
    assert account.spent_micro_usd == 1_750_000


def test_a_key_that_says_no_spend_is_closed_with_an_unknown_one(at: Side) -> None:
    lease = at.open()
    at.fake.spends = ["much"]
    key = lease.close()
    assert (key.spent_micro_usd, key.deletion_confirmed) == (None, True)


@pytest.mark.parametrize("answers", [[404], [500], [500, 503], [409, 500, 404], [429]])
def test_odd_answers_to_a_deletion_are_met_by_asking_again(at: Side, answers: list[int]) -> None:
    lease = at.open()
    at.fake.instead["delete"] = [at.fake.error(status, "odd") for status in answers]
    assert lease.close().deletion_confirmed is True
    assert at.fake.keys == {}


def test_a_deletion_that_was_carried_out_and_answered_with_500_is_confirmed(at: Side) -> None:
    lease = at.open()
    real = at.fake.delete
    at.fake.delete = lambda id: (real(id), Sent(500, b""))[1]
    assert lease.close().deletion_confirmed is True


def test_a_key_that_somebody_else_deleted_is_confirmed_and_its_spend_unknown(at: Side) -> None:
    lease = at.open()
    at.fake.keys.clear()
    key = lease.close()
    assert (key.spent_micro_usd, key.deletion_confirmed) == (None, True)


def test_a_deleted_key_that_a_cache_lets_live_for_a_while_is_confirmed_in_the_end(at: Side) -> None:
    lease = at.open()
    at.fake.cached = 4
    assert lease.close().deletion_confirmed is True
    assert at.slept[-4:] == [1.0, 2.0, 4.0, 8.0]


def test_a_deleted_key_that_goes_on_working_is_not_confirmed(at: Side) -> None:
    lease = at.open()
    at.fake.cached = 1000
    key = lease.close()
    assert at.fake.keys == {}
    assert key.deletion_confirmed is False
    at.fake.cached = 0
    assert lease.close().deletion_confirmed is True


def test_a_deletion_that_only_says_so_is_not_confirmed(at: Side) -> None:
    lease = at.open()
    at.fake.deletes_for_real = False
    assert lease.close().deletion_confirmed is False


def test_a_broker_that_went_away_is_no_error_and_no_confirmation(at: Side) -> None:
    lease = at.open()
    for what in ("show", "delete", "try"):
        at.fake.instead[what] = [Sent(503, b"")] * 50
    key = lease.close()
    assert (key.spent_micro_usd, key.deletion_confirmed) == (None, False)
    at.fake.instead.clear()
    assert lease.close().deletion_confirmed is True


def test_closing_twice_asks_once(at: Side) -> None:
    lease = at.open()
    first = lease.close()
    at.fake.asked.clear()
    assert lease.close() == first
    assert at.fake.asked == []


@pytest.mark.parametrize("body", [b"<html>404</html>", b"", b'{"detail": "Not Found"}', b"[]"])
def test_a_404_that_the_broker_did_not_say_is_no_absence(at: Side, body: bytes) -> None:
    lease = at.open()
    at.fake.instead["show"] = [Sent(404, body)]
    with pytest.raises(BrokerError):
        at.broker.account(lease.id)
    at.fake.instead["show"] = [Sent(404, body)] * 50
    assert lease.close().deletion_confirmed is False


@pytest.mark.parametrize("status", [403, 404, 429, 500, 502])
def test_only_a_key_that_is_not_known_is_refused(at: Side, status: int) -> None:
    lease = at.open()
    at.fake.instead["try"] = [at.fake.error(status, "Key limit exceeded (total limit)")]
    with pytest.raises(BrokerError):
        at.broker.refused(lease.secret)
    assert confirmed_gone(at.broker, lease.id, lease.secret) is False


def test_a_401_of_a_server_in_between_is_no_refusal(at: Side) -> None:
    lease = at.open()
    at.fake.instead["try"] = [Sent(401, b"<html>log in to the network</html>")]
    with pytest.raises(BrokerError):
        at.broker.refused(lease.secret)


@pytest.mark.parametrize("status", [400, 401, 403, 422, 429])
def test_a_key_over_its_budget_is_alive_under_every_status(litellm: Side, status: int) -> None:
    lease = litellm.open()
    litellm.fake.over_budget = status
    assert litellm.broker.refused(lease.secret) is False


def test_a_deleted_key_in_the_archive_is_absent(litellm: Side) -> None:
    lease = litellm.open()
    litellm.broker.delete(lease.id)
    assert lease.id in litellm.fake.archive
    assert litellm.broker.account(lease.id) is None
    litellm.fake.keeps_archive = False
    assert litellm.broker.account(lease.id) is None


def test_an_account_of_another_key_is_no_answer(openrouter: Side) -> None:
    lease = openrouter.open()
    openrouter.fake.instead["show"] = [Sent(200, {"data": {"hash": "another"}})]
    with pytest.raises(BrokerError, match="not about this key"):
        openrouter.broker.account(lease.id)


def test_a_crash_after_the_key_was_handed_out_is_closed_with_its_secret(at: Side) -> None:
    lease = at.open()
    at.fake.spends = [0.7]
    key = close_left(at.folder, at.environ, lease.secret, at.slept.append)
    assert key is not None
    assert (key.spent_micro_usd, key.deletion_confirmed, key.expires_at) == (700_000, True, lease.expires_at)
    assert "try" in kinds(at)


def test_a_crash_before_the_id_was_kept_is_closed_by_name(at: Side) -> None:
    at.open()
    kept = Kept.model_validate_json((at.folder / KEY).read_text())
    (at.folder / KEY).write_text(kept.model_copy(update={"id": None}).model_dump_json())
    other = at.fake.new("argusic-runner-99999999-" + "ab" * 16)
    key = close_left(at.folder, at.environ, sleep=at.slept.append)
    assert key is not None
    assert key.deletion_confirmed is True
    assert list(at.fake.keys) == [other]


def test_two_keys_of_one_name_are_both_ended_or_nothing_is_confirmed(openrouter: Side) -> None:
    openrouter.open()
    kept = Kept.model_validate_json((openrouter.folder / KEY).read_text())
    (openrouter.folder / KEY).write_text(kept.model_copy(update={"id": None}).model_dump_json())
    stays = openrouter.fake.new(kept.name)
    real = openrouter.fake.delete
    openrouter.fake.delete = lambda id: Sent(500, b"") if id == stays else real(id)
    for confirmed in (False, True):
        key = close_left(openrouter.folder, openrouter.environ, sleep=openrouter.slept.append)
        assert key is not None
        assert key.deletion_confirmed is confirmed
        openrouter.fake.delete = real
    assert openrouter.fake.keys == {}


def test_a_crash_before_the_key_was_made_leaves_nothing_to_delete(at: Side) -> None:
    at.open().close()
    kept = Kept.model_validate_json((at.folder / KEY).read_text())
    before = kept.model_copy(update={"id": None, "spent_micro_usd": None, "deletion_confirmed": None})
    (at.folder / KEY).write_text(before.model_dump_json())
    key = close_left(at.folder, at.environ, sleep=at.slept.append)
    assert key is not None
    assert (key.spent_micro_usd, key.deletion_confirmed) == (None, True)


def test_a_crash_after_the_end_keeps_what_was_settled(at: Side) -> None:
    lease = at.open()
    at.fake.spends = [0.7]
    closed = lease.close()
    at.fake.asked.clear()
    assert close_left(at.folder, at.environ, lease.secret, at.slept.append) == closed
    assert at.fake.asked == []


def test_a_crash_between_spend_and_deletion_keeps_the_spend(at: Side) -> None:
    lease = at.open()
    at.fake.spends = [0.7]
    real: Any = at.broker.delete

    def die(id: str) -> None:
        real(id)
        raise KeyboardInterrupt

    at.broker.delete = die
    with pytest.raises(KeyboardInterrupt):
        lease.close()
    key = close_left(at.folder, at.environ, lease.secret, at.slept.append)
    assert key is not None
    assert (key.spent_micro_usd, key.deletion_confirmed) == (700_000, True)


def test_without_the_brokers_variables_a_left_key_is_not_confirmed(at: Side) -> None:
    at.open()
    key = close_left(at.folder, {}, sleep=at.slept.append)
    assert key is not None
    assert key.deletion_confirmed is False


def test_an_attempt_without_a_key_leaves_none(at: Side) -> None:
    assert close_left(at.folder, at.environ) is None


def test_a_key_file_that_cannot_be_read_is_named(at: Side) -> None:
    (at.folder / KEY).write_text("{}")
    with pytest.raises(DataErrors, match=KEY):
        close_left(at.folder, at.environ)


def test_a_full_disk_keeps_no_key_alive(at: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    from runner.keys import kept

    lease = at.open()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept, "keep", full)
    assert lease.close().deletion_confirmed is True
