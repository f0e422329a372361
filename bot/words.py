"""Fixed words and the written form of numbers: what a page says instead of an enum, a float or a null."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from archive.reasons import POLICIES, Outcome, Reason, Validity
from scoring.rounding import two
from scoring.spread import Spread

OUTCOMES = {
    Outcome.PASS_FULL: "full pass",
    Outcome.PASS_MOCK: "pass with mocks",
    Outcome.FAIL: "fail",
    Outcome.TIMEOUT: "time-out",
}
ENDED = {
    "agent": "the agent ended by itself",
    "budget": "the time budget was used up",
    "memory-limit": "the memory limit was reached",
    "output-ceiling": "the output ceiling was reached",
    "key-cap": "the attempt's key had spent all that it may spend",
    "model-context": "the session was longer than the model can read",
    "harness": "our own program ended it",
}
MASKED: dict[str, str] = {
    "banner": "the start-up banner of the agent's tool",
    "credential": "a credential of the attempt",
    "key": "the body of a generated key",
    "picture": "a picture drawn on the terminal",
    "token": "what looks like a provider's token",
}
"""What was masked in the served copies, in words."""
CUT_OFF = {
    "memory-limit": "ended by the memory limit",
    "output-ceiling": "ended by the output ceiling",
    "key-cap": "ended by the cap of its key",
    "model-context": "ended by what its model can read",
}
"""What is said of an attempt that a limit other than time ended; its report is not read (MEASUREMENT §5)."""
SEEN = {
    "yes": "command seen in the session",
    "no": "command not seen in the session",
    "unknown": "not known whether the command was run",
}
KIND = {"decodes": "it decodes", "probes": "it only probes", "unknown": "not known whether it decodes"}
REPLAY = {
    "same": "replayed with the same result",
    "differs": "replayed with another result",
    "failed": "the replay failed",
    "timed-out": "the replay timed out",
    "needs-live-process": "it needs a process that had ended",
    "not-run": "not replayed",
}
INCIDENTS = {
    "clock-jump": "the wall clock jumped",
    "disk-limit": "the disk limit was reached",
    "large-files-elsewhere": "large files of the repository are kept outside it",
    "memory-limit": "the memory limit was reached",
    "output-ceiling": "the output ceiling was reached",
    "process-limit": "the limit of processes was reached",
    "report-counts-differ": "the report's counts differ from its list",
    "report-refused": "the report was refused",
    "subject-moved": "the project answers at another address",
    "submodule-missing": "a repository that it includes could not be fetched",
    "suspended": "the runner was suspended for a while",
    "video-ceiling": "the video ends at its largest size",
    "video-lost": "the display was not filmed to the end",
    "video-undecodable": "the video does not decode",
}
GUARANTEES = {
    "enforced": "more is refused by the machine itself",
    "watched": "looked at again and again, and acted on once it is exceeded",
    "absent": "not held by this kind of machine",
}
SNIPPET_TYPES = ("hf-model",)
"""Types whose pass proves a documented snippet and not a product (MEASUREMENT §4)."""
_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def count(number: int) -> str:
    """A small whole number in words, such as "three"; larger ones in digits."""
    return _COUNTS[number] if 0 <= number < len(_COUNTS) else str(number)


def valid_attempts(number: int) -> str:
    """How many valid attempts: "no valid attempts", "one valid attempt"."""
    return f"{count(number)} valid attempt{'' if number == 1 else 's'}"


def times(number: int) -> str:
    """How often: "never", "once", "twice", "three times"."""
    return ("never", "once", "twice")[number] if number < 3 else f"{count(number)} times"


def sentence(words: str) -> str:
    """`words` with a capital letter at the beginning; the rest stays."""
    return words[:1].upper() + words[1:]


@lru_cache(maxsize=4096)
def points(score: Fraction | None) -> str:
    """A score to two decimals at most: "80", "93.33"; "none" where there is none."""
    return "none" if score is None else decimal(score)


def decimal(value: Fraction) -> str:
    """`value` half up to two decimals, without them where whole."""
    rounded = two(value)
    return str(rounded) if isinstance(rounded, int) else f"{rounded:.2f}"


@lru_cache(maxsize=4096)
def spread(value: Spread | None) -> str:
    """A spread in percent: "12.5 %", "infinite"; "none" for an incomplete set."""
    return "none" if value is None else value if isinstance(value, str) else f"{decimal(value)} %"


def rate(passes: int, attempts: int, interval: tuple[float, float] | None) -> str:
    """A pass rate with the number it is of and its interval, such as "2 of 3 (66.7 %, 95 % interval 20.8 to 93.9)"."""
    if interval is None or not attempts:
        return "no valid attempt"
    low, high = (f"{100 * end:.1f}" for end in interval)
    share = tenths(Fraction(100 * passes, attempts))
    return f"{passes} of {attempts} ({share} %, 95 % interval {low} to {high})"


def tenths(value: Fraction) -> str:
    """`value` half up to one decimal."""
    whole = (value * 10 + Fraction(1, 2)).__floor__()
    return f"{whole // 10}.{whole % 10}"


def minutes(milliseconds: int | None) -> str:
    """A duration in minutes to one decimal; "not started" for None."""
    if milliseconds is None:
        return "not started"
    whole = (milliseconds + 3_000) // 6_000
    return f"{whole // 10}.{whole % 10}"


def duration(seconds: int) -> str:
    """Seconds up to two minutes as such, then minutes to one decimal: "40 seconds", "2.5 minutes"."""
    if seconds < 120:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    return f"{tenths(Fraction(seconds, 60))} minutes"


def moment(milliseconds: int) -> str:
    """A place in a recording: hours, minutes and seconds, such as "1:02:03"."""
    seconds = milliseconds // 1000
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def megabytes(size: int) -> str:
    """A number of bytes in whole millions, such as "538 MB"."""
    return f"{(size + 500_000) // 1_000_000} MB"


def gibibytes(size: int) -> str:
    """A number of bytes as memory is counted, such as "4 GiB" or "1.5 GiB"."""
    return f"{decimal(Fraction(size, 1 << 30))} GiB"


def usd(micro: int) -> str:
    """Millionths of a US dollar as dollars, such as "3 USD" or "0.25 USD"."""
    return f"{decimal(Fraction(micro, 1_000_000))} USD"


def validity(value: Validity, reason: Reason | None) -> str:
    """Whether an attempt counts, and where it does not, why."""
    return str(value) if reason is None else f"{value}: {POLICIES[reason].means}"


def outcome(value: Outcome | None, failed_at: str | None) -> str:
    """What a valid attempt reached; a fail with the step it did not get past."""
    if value is None:
        return "none"
    return f"{OUTCOMES[value]}: {failed_at}" if value is Outcome.FAIL and failed_at else OUTCOMES[value]


def claims(found: tuple[str, str, str] | None) -> str:
    """What the machine could confirm of the agent's word."""
    if found is None:
        return "nothing claimed"
    seen, kind, replay = found
    return f"{SEEN[seen]}; {KIND[kind]}; {REPLAY[replay]}"


def flagged(found: tuple[str, str, str] | None) -> bool:
    """Whether the claims of an attempt that passed call for a look by the approving person: nothing claimed, a command
    that was not seen or only probes, a replay with another result."""
    return found is None or found[0] != "yes" or found[1] == "probes" or found[2] in ("differs", "failed", "timed-out")


def listed(items: Sequence[str], last: str = "and") -> str:
    """`items` as running text: "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}" if items else "none"
