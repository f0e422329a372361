from hypothesis import given
from hypothesis import strategies as st

from scoring.effective import effective


def test_an_edition_is_in_force_from_the_first_day_really_measured_under_it(attempt):
    attempts = [
        attempt(edition="1.3", day="2026-09-07"),
        attempt(edition="1.3", day="2026-09-05"),
        attempt(edition="1.2", day="2026-09-04"),
        attempt(edition="1.2", day="2026-09-05"),
    ]
    assert effective(attempts) == {"1.2": "2026-09-04", "1.3": "2026-09-05"}


def test_the_records_win_over_the_file(attempt, editions):
    assert editions["1.5"].stated_effective == "2026-10-08"
    assert effective([attempt(edition="1.5", day="2026-10-11")]) == {"1.5": "2026-10-11"}


def test_an_attempt_that_does_not_count_brings_no_edition_into_force(attempt):
    attempts = [
        attempt(reason="infra:machine", day="2026-10-08"),
        attempt(reason="evidence:not-proven-clean", day="2026-10-08"),
        attempt(outcome="timeout", day="2026-10-09"),
    ]
    assert effective(attempts) == {"1.5": "2026-10-09"}
    assert effective(attempts[:2]) == {}


def test_two_editions_can_share_a_day(attempt):
    assert effective([attempt(edition="1.1"), attempt(edition="1.2")]) == {"1.1": "2026-10-08", "1.2": "2026-10-08"}


def test_editions_come_in_the_order_of_their_numbers(attempt):
    versions = ["1.10", "0.4", "1.9", "1.0"]
    assert list(effective([attempt(edition=version) for version in versions])) == ["0.4", "1.0", "1.9", "1.10"]


days = st.dates().map(lambda day: day.isoformat())


@given(st.lists(st.tuples(st.sampled_from(["1.4", "1.5"]), days, st.booleans()), max_size=8), st.randoms())
def test_the_order_of_attempts_is_irrelevant_and_no_valid_one_is_earlier(attempt, drawn, random):
    attempts = [
        attempt(edition=version, day=day, reason=None if valid else "infra:disk") for version, day, valid in drawn
    ]
    random.shuffle(attempts)
    found = effective(attempts)
    for version in ("1.4", "1.5"):
        measured = [day for name, day, valid in drawn if valid and name == version]
        assert found.get(version) == min(measured, default=None)
