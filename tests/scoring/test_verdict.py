import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.reasons import Outcome, Validity
from scoring.verdict import Tried, Verdict, verdict, verdicts

WORST_FIRST = ["not yet verified", "could not verify", "runs with mocks", "runs"]
WITH_STRONGER = ["0.4", "1.0", "1.1", "1.2"]
WITHOUT = ["1.3", "1.4", "1.5"]


def tried(words, agent="standard", validity="valid", run=None):
    return Tried(agent, None if words is None else Outcome(words), Validity(validity), run)


FAIL, TIMEOUT = tried("fail"), tried("timeout")
FULL, MOCK = tried("pass_full"), tried("pass_mock")
STRONG_FAIL, STRONG_FULL = tried("fail", "stronger"), tried("pass_full", "stronger")
INVALID, WITHHELD = tried(None, validity="invalid"), tried(None, validity="withheld")

any_try = st.builds(
    tried,
    st.sampled_from(["pass_full", "pass_mock", "fail", "fail", "timeout"]),
    st.sampled_from(["standard", "standard", "stronger"]),
    st.sampled_from(["valid", "valid", "invalid", "withheld"]),
)


@pytest.mark.parametrize("version", WITH_STRONGER + WITHOUT)
@pytest.mark.parametrize(
    ("attempts", "words", "comes_next"),
    [
        ([], "not yet verified", "standard"),
        ([FULL], "runs", None),
        ([MOCK], "runs with mocks", None),
        ([FAIL], "not yet verified", "standard"),
        ([TIMEOUT], "not yet verified", "standard"),
        ([FAIL, FULL], "runs", None),
        ([FAIL, MOCK], "runs with mocks", None),
        ([INVALID], "not yet verified", "standard"),
        ([FAIL, INVALID, WITHHELD], "not yet verified", "standard"),
        ([FAIL, TIMEOUT, STRONG_FULL], "runs", None),
        ([FAIL, TIMEOUT, STRONG_FAIL], "could not verify", None),
        ([FAIL, STRONG_FAIL], "not yet verified", "standard"),
        ([MOCK, STRONG_FULL], "runs", None),
    ],
)
def test_every_edition_with_a_verdict_agrees_on(editions, version, attempts, words, comes_next):
    found = verdict(attempts, editions[version])
    assert (found.words, found.next) == (words, comes_next)


@pytest.mark.parametrize("version", WITH_STRONGER)
def test_until_1_2_a_stronger_agent_comes_after_two_failures(editions, version):
    assert verdict([FAIL, TIMEOUT], editions[version]) == Verdict("not yet verified", "stronger", None)


@pytest.mark.parametrize("version", WITHOUT)
def test_since_1_3_two_complete_failures_settle_it(editions, version):
    assert verdict([FAIL, TIMEOUT], editions[version]) == Verdict("could not verify", None, None)


@pytest.mark.parametrize("version", ["0.2", "0.3"])
@given(attempts=st.lists(any_try, max_size=4))
def test_an_edition_without_verdicts_says_nothing(editions, version, attempts):
    assert verdict(attempts, editions[version]) == Verdict(None, None, None)


@pytest.mark.parametrize("version", WITH_STRONGER + WITHOUT)
@given(attempts=st.lists(any_try, max_size=5), more=any_try)
def test_a_further_attempt_never_lowers_a_verdict(editions, version, attempts, more):
    before = verdict(attempts, editions[version]).words
    after = verdict([*attempts, more], editions[version]).words
    assert WORST_FIRST.index(after) >= WORST_FIRST.index(before)


@pytest.mark.parametrize("version", WITH_STRONGER + WITHOUT)
@given(attempts=st.lists(any_try, max_size=6), random=st.randoms())
def test_the_order_of_attempts_is_irrelevant(editions, version, attempts, random):
    shuffled = list(attempts)
    random.shuffle(shuffled)
    assert verdict(shuffled, editions[version]) == verdict(attempts, editions[version])


@pytest.mark.parametrize("version", WITH_STRONGER + WITHOUT)
@given(attempts=st.lists(any_try, max_size=6))
def test_invalid_and_withheld_attempts_do_not_count_whatever_they_say(editions, version, attempts):
    valid = [one for one in attempts if one.validity is Validity.VALID]
    assert verdict(attempts, editions[version]) == verdict(valid, editions[version])


@pytest.mark.parametrize("version", WITH_STRONGER + WITHOUT)
@given(attempts=st.lists(any_try, max_size=6))
def test_the_verdict_is_the_best_outcome_and_a_pass_ends_it(editions, version, attempts):
    found = verdict(attempts, editions[version])
    reached = {one.outcome for one in attempts if one.validity is Validity.VALID}
    assert (found.words == "runs") == (Outcome.PASS_FULL in reached)
    assert (found.words == "runs with mocks") == (Outcome.PASS_MOCK in reached and Outcome.PASS_FULL not in reached)
    assert (found.next is None) == (found.words != "not yet verified")


def test_the_record_says_which_run_verified_it(edition):
    attempts = [
        tried("fail", run="one"),
        tried("pass_mock", run="two"),
        tried("pass_full", "stronger", run="three"),
        tried("pass_full", run="four"),
        tried("pass_full", run="five"),
    ]
    assert verdict(attempts, edition).verified_by == "four"
    assert verdict(attempts[:3], edition).verified_by == "three"
    assert verdict(attempts[:2], edition) == Verdict("runs with mocks", None, "two")
    assert verdict(attempts[:1], edition).verified_by is None


def test_how_many_failures_settle_it_comes_from_the_edition(edition):
    rules = edition.verdict.model_copy(update={"standard_attempts": 3})
    altered = edition.model_copy(update={"verdict": rules})
    assert verdict([FAIL, FAIL], altered).next == "standard"
    assert verdict([FAIL, FAIL, FAIL], altered).words == "could not verify"


def test_every_attempt_of_the_standard_agent_counts_whatever_it_was_made_for(attempt, edition):
    attempts = [
        attempt("std", "p", 1, outcome="pass_mock"),
        attempt("std", "p", 1, outcome="fail", purpose="verdict"),
        attempt("std", "q", 2, outcome="fail"),
        attempt("std", "q", 1, outcome="timeout", purpose="verdict"),
        attempt("std", "r", 1, reason="infra:disk", purpose="verdict"),
    ]
    assert verdicts(attempts, "std", edition) == {
        "p": Verdict("runs with mocks", None, "std-p-1"),
        "q": Verdict("could not verify", None, None),
        "r": Verdict("not yet verified", "standard", None),
    }


def test_a_valid_pass_of_any_agent_counts_whatever_it_was_made_for(attempt, edition):
    attempts = [
        attempt("big", "p", 1, outcome="pass_full", purpose="verdict"),
        attempt("std", "p", 1, outcome="fail"),
        attempt("big", "q", 1, outcome="pass_mock", purpose="board"),
        attempt("std", "q", 1, outcome="fail"),
        attempt("std", "q", 2, outcome="timeout"),
        attempt("big", "r", 1, outcome="pass_full", purpose="board"),
        attempt("big", "s", 1, reason="infra:disk", purpose="board"),
    ]
    assert verdicts(attempts, "std", edition) == {
        "p": Verdict("runs", None, "big-p-1"),
        "q": Verdict("runs with mocks", None, "big-q-1"),
        "r": Verdict("runs", None, "big-r-1"),
        "s": Verdict("not yet verified", "standard", None),
    }


@pytest.mark.parametrize(
    ("version", "purpose", "expected"),
    [
        ("1.5", "board", Verdict("could not verify", None, None)),
        ("1.5", "verdict", Verdict("could not verify", None, None)),
        ("1.2", "board", Verdict("not yet verified", "stronger", None)),
        ("1.2", "verdict", Verdict("could not verify", None, None)),
    ],
)
def test_a_failure_counts_of_the_standard_agent_and_of_attempts_for_a_verdict_alone(
    attempt, editions, version, purpose, expected
):
    attempts = [
        attempt("std", "p", 1, outcome="fail", edition=version),
        attempt("std", "p", 2, outcome="timeout", edition=version),
        attempt("big", "p", 1, outcome="fail", purpose=purpose, edition=version),
    ]
    assert verdicts(attempts, "std", editions[version]) == {"p": expected}
    alone = [attempt("big", "p", number, edition=version, purpose=purpose) for number in (1, 2)]
    assert verdicts(alone, "std", editions[version]) == {"p": Verdict("not yet verified", "standard", None)}


@given(st.randoms())
def test_verdicts_do_not_depend_on_the_order_of_attempts(attempt, edition, random):
    attempts = [
        attempt(agent, subject, number, outcome=outcome, purpose="verdict")
        for subject in "pq"
        for agent, number, outcome in [
            ("std", 1, "fail"),
            ("std", 2, "pass_full"),
            ("std", 3, "pass_full"),
            ("big", 1, "pass_full"),
        ]
    ]
    random.shuffle(attempts)
    found = verdicts(attempts, "std", edition)
    assert found == {subject: Verdict("runs", None, f"std-{subject}-2") for subject in "pq"}


def test_verdicts_refuse_attempts_under_another_edition(attempt, edition):
    with pytest.raises(ValueError, match=r"made under edition 1\.2, not 1\.5"):
        verdicts([attempt(purpose="verdict", edition="1.2")], "a", edition)
