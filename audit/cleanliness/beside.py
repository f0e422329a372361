"""A part of the check in a process of its own, so that two cores work on it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from audit.cleanliness.doubt import Incomplete, failed

Answer = TypeVar("Answer")


class Beside(Generic[Answer]):
    """`work`, begun at once in a copy of this process, which must have one thread only. Raises OSError."""

    def __init__(self, work: Callable[[], Answer]) -> None:
        context = multiprocessing.get_context("fork")
        self._answer, told = context.Pipe(duplex=False)
        self._process = context.Process(target=_carry_out, args=(work, told), daemon=True)
        self._process.start()
        told.close()

    def answer(self) -> Answer:
        """What `work` came to. Raises Incomplete where it broke off, or its process did."""
        try:
            answer, problem = self._answer.recv()
        except EOFError:
            answer, problem = None, "the process of this view ended before its work"
        if problem:
            raise Incomplete("rendered", problem)
        return answer  # type: ignore[no-any-return]

    def end(self) -> None:
        """Ends the process, whatever it does; a second time nothing happens."""
        self._process.kill()
        self._process.join()
        self._answer.close()


def _carry_out(work: Callable[[], object], told: Connection) -> None:
    try:
        told.send((work(), None))
    except Exception as error:  # noqa: BLE001 - whatever breaks off has proven nothing
        told.send((None, failed(error)))
