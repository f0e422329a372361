"""A broker's word that it made a key is not enough: cap and end are read back, or the attempt does not begin."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from archive.errors import ArgusicError
from runner.keys import ADDRESS_VARIABLES, KEY_VARIABLES, Minted, broker, configured, key_name, owner
from runner.keys.fields import instant, micro_usd, moment_of, seconds_of, usd
from runner.keys.http import Client
from runner.keys.kept import KEY
from runner.keys.lease import Lease, NoKey
from runner.keys.litellm import LiteLLM
from runner.keys.openrouter import OpenRouter
from tests.keys.conftest import CAP, NAME, RUN, RUNNER, Side
from tests.keys.fakes import Sent

LIMIT = {"openrouter": "limit", "litellm": "max_budget"}
BROKERS = {"openrouter": OpenRouter, "litellm": LiteLLM}
ENDS = {"openrouter": "expires_at", "litellm": "expires"}


def test_a_good_key_has_its_cap_and_an_end_after_the_attempt(at: Side) -> None:
    before = time.time()
    lease = at.open(seconds=5400)
    assert lease.cap_micro_usd == CAP
    assert before + 5400 <= seconds_of(lease.expires_at) <= before + 5400 + 60 + 62
    assert at.fake.names() == [NAME]
    assert at.broker.refused(lease.secret) is False
    assert at.broker.account(lease.id) == (lease.id, NAME, CAP, 0, lease.expires_at)


def test_the_spool_keeps_the_keys_name_and_never_its_secret(at: Side) -> None:
    lease = at.open()
    kept = at.folder / KEY
    assert NAME in kept.read_text()
    assert lease.id in kept.read_text()
    assert lease.secret not in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_the_name_is_kept_before_the_broker_is_asked(at: Side) -> None:
    kept = []
    at.fake.made = lambda: kept.append((at.folder / KEY).read_text())
    at.open()
    assert NAME in kept[0]
    assert '"id": null' in kept[0]


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        (lambda field: {field: None}, "without a cap"),
        (lambda field: {field: 30}, "its cap is 30000000 micro USD and should be 3000000"),
        (lambda field: {field: 2.999999}, "its cap is 2999999 micro USD"),
        (lambda field: {field: "3"}, "without a cap"),
        (lambda field: {field: True}, "without a cap"),
        (lambda field: {field: -3}, "without a cap"),
    ],
    ids=["none", "ten-times", "a-little-less", "a-text", "a-truth-value", "negative"],
)
def test_a_cap_that_was_not_saved_is_found(at: Side, saved: Any, said: str) -> None:
    at.fake.saved = lambda key: key | saved(LIMIT[at.fake.name])
    with pytest.raises(NoKey, match=said):
        at.open()
    assert at.fake.keys == {}
    assert not (at.folder / KEY).exists()


def test_a_cap_field_that_is_silently_left_out_is_found(at: Side) -> None:
    at.fake.saved = lambda key: {name: value for name, value in key.items() if name != LIMIT[at.fake.name]}
    with pytest.raises(NoKey, match="without a cap"):
        at.open()
    assert at.fake.keys == {}


def test_a_cap_that_is_set_back_every_day_is_none(openrouter: Side, litellm: Side) -> None:
    openrouter.fake.saved = lambda key: key | {"limit_reset": "daily"}
    litellm.fake.saved = lambda key: key | {"budget_duration": "1d"}
    for at in (openrouter, litellm):
        with pytest.raises(NoKey, match="without a cap that holds"):
            at.open()
        assert at.fake.keys == {}


def test_a_cap_that_leaves_out_what_own_provider_keys_spend_is_none(openrouter: Side) -> None:
    openrouter.fake.saved = lambda key: key | {"include_byok_in_limit": False}
    with pytest.raises(NoKey, match="without a cap that holds"):
        openrouter.open()


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (lambda: None, "without an end"),
        (lambda: "tomorrow", "without an end"),
        (lambda: moment_of(time.time() + 5000), "it ends at"),
        (lambda: moment_of(time.time() + 30 * 86400), "it ends at"),
    ],
    ids=["none", "unreadable", "before-the-attempt", "a-month-later"],
)
def test_an_end_that_was_not_saved_is_found(at: Side, ends: Any, said: str) -> None:
    at.fake.saved = lambda key: key | {ENDS[at.fake.name]: ends()}
    with pytest.raises(NoKey, match=said):
        at.open()
    assert at.fake.keys == {}


def test_a_proxys_clock_may_be_a_little_behind_ours(litellm: Side) -> None:
    litellm.fake.clock_behind = 50.0
    now = int(time.time())
    to_the_minute = 5400 + 60 - now % 60
    lease = Lease.open(litellm.broker, litellm.folder, NAME, CAP, to_the_minute, now, litellm.slept.append)
    assert seconds_of(lease.expires_at) >= now + to_the_minute
    litellm.fake.clock_behind = 150.0
    with pytest.raises(NoKey, match="it ends at"):
        litellm.open(NAME.replace("5b", "5c"))


def test_many_attempts_at_once_get_a_key_each(at: Side) -> None:
    def whole(number: int) -> tuple[str, bool | None]:
        folder = at.folder / str(number)
        name = key_name(RUNNER, f"{number:032x}")
        lease = Lease.open(at.broker, folder, name, CAP, 60, time.time(), lambda _: None)
        return lease.secret, lease.close().deletion_confirmed

    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(whole, range(8)))
    assert len({secret for secret, _ in ended}) == 8
    assert all(confirmed for _, confirmed in ended)
    assert at.fake.keys == {}


def test_a_key_that_somebody_has_used_is_not_handed_out(at: Side) -> None:
    at.fake.spends = [0.5]
    with pytest.raises(NoKey, match="500000 micro USD of it are spent already"):
        at.open()
    assert at.fake.keys == {}


def test_a_new_key_that_one_process_of_the_broker_does_not_know_yet_is_waited_for(at: Side) -> None:
    at.fake.instead["show"] = [at.fake.error(404, "not found")]
    assert at.open().cap_micro_usd == CAP
    assert at.slept == [1.0]


def test_a_key_that_was_made_and_is_shown_to_nobody_is_not_used(at: Side) -> None:
    at.fake.instead["show"] = [at.fake.error(404, "not found")] * 3
    with pytest.raises(NoKey, match="does not know it"):
        at.open()
    assert at.fake.keys == {}


@pytest.mark.parametrize("status", [401, 403])
def test_a_management_key_that_is_refused_makes_no_attempt(at: Side, status: int) -> None:
    at.fake.instead["create"] = [at.fake.error(status, f"the key {at.fake.management} may not")]
    with pytest.raises(NoKey) as caught:
        at.open()
    assert KEY_VARIABLES[at.fake.name] in str(caught.value)
    assert at.fake.management not in str(caught.value)
    assert [asked.what for asked in at.fake.asked] == ["create"]
    assert not (at.folder / KEY).exists()


@pytest.mark.parametrize("status", [402, 429])
def test_no_key_is_no_attempt_and_says_why(at: Side, status: int) -> None:
    at.fake.instead["create"] = [at.fake.error(status, "no")]
    with pytest.raises(NoKey, match=f"answered {status}"):
        at.open()


def test_a_broker_that_is_not_there_is_no_attempt_and_its_key_stays_named(at: Side) -> None:
    dead = broker(at.fake.name, at.environ | {ADDRESS_VARIABLES[at.fake.name]: "http://127.0.0.1:1"})
    with pytest.raises(NoKey, match="a key may be left: argusic keys sweep"):
        Lease.open(dead, at.folder, NAME, CAP, 60, time.time(), at.slept.append)
    assert NAME in (at.folder / KEY).read_text()


def test_a_broker_that_goes_away_after_the_key_was_made_is_no_attempt(at: Side) -> None:
    at.fake.instead["show"] = [Sent(503, b"upstream is down")]
    with pytest.raises(NoKey, match="show a key: the broker answered 503"):
        at.open()
    assert at.fake.keys == {}


@pytest.mark.parametrize("status", [200, 500, 502])
def test_a_key_whose_making_was_answered_with_trouble_is_found_by_name(at: Side, status: int) -> None:
    real = at.fake.create
    at.fake.create = lambda body: (real(body), Sent(status, b"<html>oops</html>"))[1]
    with pytest.raises(NoKey, match=f"answered {status}"):
        at.open()
    assert at.fake.keys == {}
    assert not (at.folder / KEY).exists()


def test_a_key_that_is_made_after_we_gave_up_is_found_by_name(at: Side) -> None:
    real = at.fake.create
    late: list[Any] = []
    at.fake.create = lambda body: (late.append(body), Sent(504, b""))[1]

    def sleep(seconds: float) -> None:
        at.slept.append(seconds)
        if late:
            real(late.pop())

    with pytest.raises(NoKey, match="answered 504"):
        Lease.open(at.broker, at.folder, NAME, CAP, 60, time.time(), sleep)
    assert at.fake.keys == {}
    assert at.slept == [2.0]


def test_a_client_that_gives_up_while_the_broker_works_on_leaves_no_key(at: Side) -> None:
    address = at.environ[ADDRESS_VARIABLES[at.fake.name]]
    impatient = BROKERS[at.fake.name](Client(at.fake.name, address, at.fake.management, seconds=1.0))
    at.fake.made = lambda: time.sleep(1.5)
    with pytest.raises(NoKey, match="no answer"):
        Lease.open(impatient, at.folder, NAME, CAP, 60, time.time(), at.slept.append)
    assert at.fake.keys == {}


@pytest.mark.parametrize("call", ["create", "account"])
def test_an_interruption_in_the_middle_leaves_no_key(at: Side, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = getattr(at.broker, call)

    def interrupted(*given: Any) -> Any:
        real(*given)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(at.broker, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        at.open()
    assert at.fake.keys == {}
    assert [asked.what for asked in at.fake.asked].count("create") == 1


def test_a_full_disk_after_the_key_was_made_leaves_no_key(at: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    from runner.keys import lease

    real, tried = lease.keep, []

    def full(folder: Any, kept: Any) -> None:
        tried.append(kept)
        if len(tried) > 1:
            raise OSError(28, "No space left on device")
        real(folder, kept)

    monkeypatch.setattr(lease, "keep", full)
    with pytest.raises(OSError, match="No space left"):
        at.open()
    assert at.fake.keys == {}


def test_a_minted_key_does_not_show_its_secret() -> None:
    minted = Minted("hash-1", "s" + "k-secret")
    assert "secret" not in f"{minted} {minted!r}"


def test_the_public_name_of_a_litellm_key_is_never_its_secret(litellm: Side) -> None:
    lease = litellm.open()
    assert lease.id == litellm.fake.secrets[lease.secret]
    assert lease.id != lease.secret


@pytest.mark.parametrize(
    ("said", "micro"),
    [
        (3, 3_000_000),
        ("0.1", 100_000),
        ("0.0000001", 1),
        ("2.9999990000000001", 3_000_000),
        ("2.999999" + "0" * 90 + "1", 3_000_000),
        ("1e-9999", 1),
        (0, 0),
    ],
)
def test_money_is_read_exactly_and_rounded_up(said: Any, micro: int) -> None:
    assert micro_usd(Decimal(said)) == micro


@pytest.mark.parametrize("said", [None, True, "3", [], -1, 10**12])
def test_what_is_no_amount_is_unknown(said: Any) -> None:
    assert micro_usd(said) is None


def test_money_survives_the_way_there_and_back() -> None:
    for micro in (1, 999_999, 3_000_000, 3_000_001, 123_456_789_012):
        assert micro_usd(Decimal(repr(usd(micro)))) == micro


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("2026-12-01T10:00:00Z", "2026-12-01T10:00:00Z"),
        ("2026-12-01T10:00:00.999Z", "2026-12-01T10:00:00Z"),
        ("2026-12-01T12:00:00+02:00", "2026-12-01T10:00:00Z"),
        ("2026-12-01T10:00:00", "2026-12-01T10:00:00Z"),
        ("0001-01-01T00:00:00+14:00", None),
        ("soon", None),
        (1796119200, None),
        (None, None),
    ],
)
def test_moments_of_every_spelling_are_one(said: Any, moment: str | None) -> None:
    assert instant(said) == moment


def test_a_keys_name_says_whose_it_is() -> None:
    assert owner(key_name(RUNNER, RUN)) == (RUNNER, RUN)
    assert owner("argusic-somebody") is None
    assert len(key_name(RUNNER, RUN)) == 56


@pytest.mark.parametrize("name", ["openrouter", "litellm"])
def test_a_missing_variable_is_named_and_none_is_shown(name: str) -> None:
    with pytest.raises(ArgusicError, match=KEY_VARIABLES[name]):
        broker(name, {})
    bad = "two words" + chr(10)
    with pytest.raises(ArgusicError) as caught:
        broker(name, {KEY_VARIABLES[name]: bad, ADDRESS_VARIABLES[name]: "https://broker.example"})
    assert "two words" not in str(caught.value)


def test_a_litellm_proxy_needs_its_address() -> None:
    with pytest.raises(ArgusicError, match="ARGUSIC_LITELLM_ADDRESS"):
        broker("litellm", {"ARGUSIC_LITELLM_KEY": "k"})
    assert broker("openrouter", {"ARGUSIC_OPENROUTER_KEY": "k"}).name == "openrouter"


def test_brokers_are_those_whose_variables_are_set(at: Side) -> None:
    assert [one.name for one in configured(at.environ)] == [at.fake.name]
    with pytest.raises(ArgusicError, match=re.escape("ARGUSIC_OPENROUTER_KEY nor ARGUSIC_LITELLM_KEY")):
        configured({})
    with pytest.raises(ArgusicError, match=KEY_VARIABLES[at.fake.name]):
        configured({ADDRESS_VARIABLES[at.fake.name]: "http://127.0.0.1:1"})
    with pytest.raises(ArgusicError, match="no key broker 'other'"):
        broker("other", at.environ)
