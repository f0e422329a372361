"""`argusic-report [FILE]`: check a report before the agent ends (MEASUREMENT §6).

FILE is /home/agent/report.json when none is given.

One line for each problem: the field, what is wrong, what would be right. Lines that begin with `note` change nothing.
Exit codes: 0 the report is fine, 2 it cannot be read or a field is wrong, 3 it contradicts itself.
"""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

DEFAULT = "/home/agent/report.json"
MAX_BYTES = 262_144
MAX_ERRORS = 200
MAX_LINES = 40
MAX_COUNT = 1_000_000
DEPTHS = ("tier1_real", "tier2_mock", "tier3_none")
FINE, WRONG, CONTRADICTORY = 0, 2, 3


class Answer(NamedTuple):
    """The exit code, and the lines to print."""

    code: int
    lines: list[str]


class Refused(ValueError):
    """The file is not one JSON object as the contract wants it."""


def check(raw: bytes) -> Answer:
    """Judge a report's bytes. Pure: the same bytes always get the same answer."""
    try:
        report = _parse(raw)
    except Refused as refusal:
        return Answer(WRONG, [f"report: {refusal}"])
    wrong = _wrong_fields(report, FIELDS, "")
    if wrong:
        more = [f"… and {len(wrong) - MAX_LINES} more"] if len(wrong) > MAX_LINES else []
        return Answer(WRONG, wrong[:MAX_LINES] + more)
    if report["errors_fixed"] > report["errors_encountered"]:
        return Answer(
            CONTRADICTORY, ["errors_fixed: more than errors_encountered; only an error that was met can be fixed"]
        )
    return Answer(FINE, ["the report is fine", *_notes(report)])


def _parse(raw: bytes) -> dict[str, Any]:
    if len(raw) > MAX_BYTES:
        raise Refused(f"larger than {MAX_BYTES} bytes; shorten its texts")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"byte {error.start} is not UTF-8; write the file as UTF-8") from None
    try:
        report = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constants)
        json.dumps(report, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise Refused(f"not JSON at line {error.lineno} column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise Refused("nested too deeply; the report is one flat object") from None
    except UnicodeEncodeError:
        raise Refused("half of a surrogate pair in a text; write the whole character") from None
    except Refused:
        raise
    except ValueError:
        raise Refused("a number with too many digits; write a plain whole number") from None
    if not isinstance(report, dict):
        raise Refused(f"is {_kind(report)}; it must be one JSON object")
    return report


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(f"the key {_quote(twice)} is there twice; keep one")
    return found


def _no_constants(word: str) -> NoReturn:
    raise Refused(f"{word} is not a JSON number; write a whole number or null")


Rule = Callable[[Any, str], list[str]]
"""(value, field path) -> one line for each problem."""


def _wrong_fields(value: dict[str, Any], fields: dict[str, Rule], path: str) -> list[str]:
    lines = [f"{path}{name}: missing; every key is required" for name in fields if name not in value]
    lines += [f"{path}{_quote(name)}: unknown key; take it out" for name in value if name not in fields]
    for name, rule in fields.items():
        if name in value:
            lines += rule(value[name], path + name)
    return lines


def _one_of(*allowed: Any) -> Rule:
    """One of these values, of the same type: true is not 1."""

    def rule(value: Any, path: str) -> list[str]:
        if any(type(value) is type(right) and value == right for right in allowed):
            return []
        return [f"{path}: is {_kind(value)}; it must be {' or '.join(json.dumps(right) for right in allowed)}"]

    return rule


def _whole(or_null: bool = False) -> Rule:
    def rule(value: Any, path: str) -> list[str]:
        if (type(value) is int and 0 <= value <= MAX_COUNT) or (or_null and value is None):
            return []
        return [
            f"{path}: is {_kind(value)}; it must be a whole number, 0 to {MAX_COUNT}{', or null' if or_null else ''}"
        ]

    return rule


def _text(limit: int, or_null: bool = False, or_empty: bool = True) -> Rule:
    null = " or null" if or_null else ""

    def rule(value: Any, path: str) -> list[str]:
        if or_null and value is None:
            return []
        if not isinstance(value, str):
            return [f"{path}: is {_kind(value)}; it must be a text of at most {limit} characters{null}"]
        if not value and not or_empty:
            return [f"{path}: is empty; write what was run"]
        return [f"{path}: has {len(value)} characters; at most {limit} are taken"] if len(value) > limit else []

    return rule


def _errors(value: Any, path: str) -> list[str]:
    if not isinstance(value, list):
        return [f"{path}: is {_kind(value)}; it must be a list, [] when no error was met"]
    if len(value) > MAX_ERRORS:
        return [f"{path}: has {len(value)} entries; at most {MAX_ERRORS} are taken"]
    return [line for at, error in enumerate(value) for line in _object(ERROR)(error, f"{path}[{at}]")]


def _object(fields: dict[str, Rule]) -> Rule:
    def rule(value: Any, path: str) -> list[str]:
        if not isinstance(value, dict):
            return [f"{path}: is {_kind(value)}; it must be an object with {', '.join(fields)}"]
        return _wrong_fields(value, fields, f"{path}.")

    return rule


def _verified_how(value: Any, path: str) -> list[str]:
    if value == "not verified":
        return []
    if not isinstance(value, dict):
        return [f'{path}: is {_kind(value)}; it must be "not verified" or an object with command and returned']
    return _wrong_fields(value, VERIFIED, f"{path}.")


ERROR: dict[str, Rule] = {
    "what": _text(500),
    "fix": _text(500, or_null=True),
    "fixed": _one_of(True, False),
    "at_seconds": _whole(or_null=True),
}
VERIFIED: dict[str, Rule] = {"command": _text(4000, or_empty=False), "returned": _text(8000)}
FIELDS: dict[str, Rule] = {
    "schema_version": _one_of(1),
    "installed": _one_of(True, False),
    "launched": _one_of(True, False),
    "errors_encountered": _whole(),
    "errors_fixed": _whole(),
    "errors": _errors,
    "test_depth": _one_of(*DEPTHS),
    "verified_how": _verified_how,
    "final_state": _text(2000),
    "install_seconds": _whole(or_null=True),
}


def _notes(report: dict[str, Any]) -> list[str]:
    """What is allowed and reads oddly, so that the agent can look again."""
    fixed = sum(error["fixed"] for error in report["errors"])
    odd = {
        "launched is true and installed is false: started counts only for what is installed": report["launched"]
        and not report["installed"],
        "test_depth counts only for what was started, and launched is false": report["test_depth"] != "tier3_none"
        and not report["launched"],
        'test_depth says verified and verified_how says "not verified"': report["test_depth"] != "tier3_none"
        and report["verified_how"] == "not verified",
        'verified_how names a command and test_depth says "tier3_none"': report["test_depth"] == "tier3_none"
        and report["verified_how"] != "not verified",
        f"errors lists {len(report['errors'])} and errors_encountered is another number": report["errors_encountered"]
        != len(report["errors"])
        < MAX_ERRORS,
        f"errors lists {fixed} as fixed and errors_fixed is another number": report["errors_fixed"] != fixed
        and len(report["errors"]) < MAX_ERRORS,
    }
    return [f"note: {words}" for words, is_odd in odd.items() if is_odd]


def _kind(value: Any) -> str:
    """A value in words that are safe on a terminal, whatever it is."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**12 else "a huge number"
    if isinstance(value, float):
        return f"the fraction {value!r}"
    if isinstance(value, str):
        return f"the text {_quote(value)}"
    return "a list" if isinstance(value, list) else "an object"


def _quote(text: str) -> str:
    return json.dumps(text if len(text) <= 40 else text[:39] + "…")


def read(path: Path) -> bytes:
    """At most one byte more than a report may have. Raises OSError; a pipe or a device is not a report."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(None, "not a regular file")
        return stream.read(MAX_BYTES + 1)


def main(arguments: list[str]) -> int:
    """Check one file and print the answer."""
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print("usage: argusic-report [FILE]", file=sys.stderr)
        return WRONG
    path = Path(arguments[0] if arguments else DEFAULT)
    try:
        answer = check(read(path))
    except OSError as error:
        answer = Answer(WRONG, [f"report: cannot read {_quote(str(path))}: {error.strerror}"])
    print("\n".join(answer.lines))
    return answer.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
