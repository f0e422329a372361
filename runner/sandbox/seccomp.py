"""A small system call filter for everything inside a machine.

It closes what reaches across: the kernel's keyrings, which no namespace divides, and calls by which a process could
change limits or scheduling of the machine's process 1, which runs as the same user. Refused calls fail with EPERM.
"""

from __future__ import annotations

import platform
import struct
from typing import NamedTuple

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE, UNKNOWN = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38
"""Actions of the kernel: go on, fail with EPERM, fail with ENOSYS."""
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
"""Where the kernel puts what a filter may look at."""


class Calls(NamedTuple):
    """Numbers of one architecture, from the kernel's own tables."""

    audit: int
    always: tuple[int, ...]
    """keyctl, add_key, request_key."""
    on_process_one: tuple[int, ...]
    """sched_setaffinity, sched_setscheduler, sched_setparam, sched_setattr: the process is the first argument."""
    prlimit: int
    second_argument: tuple[int, ...]
    """setpriority, ioprio_set: the process is the second argument."""


TABLE = {
    "x86_64": Calls(0xC000003E, (250, 248, 249), (203, 144, 142, 314), 302, (141, 251)),
    "aarch64": Calls(0xC00000B7, (219, 217, 218), (122, 119, 118, 274), 261, (140, 30)),
}


def filter_program(machine: str = platform.machine()) -> bytes | None:
    """The filter for this architecture in the form that the kernel takes; None for one without a table."""
    calls = TABLE.get(machine)
    if calls is None:
        return None
    program = [_op(LOAD, ARCHITECTURE), _op(JUMP_EQUAL, calls.audit, 1, 0), _op(RETURN, UNKNOWN), _op(LOAD, NUMBER)]
    # Numbers of the second x86 interface, and none of any other.
    program += [_op(JUMP_AT_LEAST, 0x40000000, 0, 1), _op(RETURN, UNKNOWN)]
    for number in calls.always:
        program += [_op(JUMP_EQUAL, number, 0, 1), _op(RETURN, REFUSE)]
    for number in calls.on_process_one:
        program += _if_one(number, 0)
    for number in calls.second_argument:
        program += _if_one(number, 1)
    # prlimit may look at process 1 and not change it: refused where a new limit is given.
    program += [
        _op(JUMP_EQUAL, calls.prlimit, 0, 7),
        *(_op(LOAD, ARGUMENTS), _op(JUMP_EQUAL, 1, 0, 5)),
        *(_op(LOAD, ARGUMENTS + 16), _op(JUMP_EQUAL, 0, 0, 2)),
        *(_op(LOAD, ARGUMENTS + 20), _op(JUMP_EQUAL, 0, 1, 0)),
        _op(RETURN, REFUSE),
    ]
    program.append(_op(RETURN, ALLOW))
    return b"".join(program)


def _if_one(number: int, argument: int) -> list[bytes]:
    """Refuses call `number` where its argument is process 1; the number is in the accumulator before and after."""
    return [
        _op(JUMP_EQUAL, number, 0, 4),
        _op(LOAD, ARGUMENTS + 8 * argument),
        _op(JUMP_EQUAL, 1, 0, 1),
        _op(RETURN, REFUSE),
        _op(LOAD, NUMBER),
    ]


def _op(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)
