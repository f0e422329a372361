"""The checker, a process of its own that knows nothing of the masker: it reads what is to be served, and proves it.

It starts while the attempt goes on, so that its own start costs no time, and begins when it is told the known values.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from archive.errors import ArgusicError, MachineError

CERTIFICATE = "certificate.json"
CHECKOUT = Path(__file__).resolve().parents[1]


class CheckerFailed(ArgusicError):
    """The checker came to no answer; nothing is proven."""


class Checker:
    """One check of one folder."""

    def __init__(self, folder: Path) -> None:
        """Starts the process; `folder` need not be there yet."""
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "audit.cleanliness", str(folder)],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,  # Ctrl-C is for the runner, which ends this process in order.
        )

    def doubts(self, values: Iterable[str]) -> tuple[str, ...]:
        """Checks the folder; why it is not proven clean, nothing where it is: then it has its certificate.

        Raises MachineError where this computer has no room, CheckerFailed where there is no answer.
        """
        # A list without the empty line at its end is cut off, as when this process is killed: then nothing is checked.
        told = "".join(json.dumps(value) + "\n" for value in values) + "\n"
        said, trouble = self._process.communicate(told.encode())
        match self._process.returncode:
            case 0 if (self.folder / CERTIFICATE).is_file():
                return ()
            case 3:
                return tuple(_reason(one) for one in json.loads(said)["withheld"])
            case 4:
                raise MachineError(trouble.decode(errors="replace").strip()[-500:] or "the checker found no room")
            case status:
                detail = trouble.decode(errors="replace").strip()[-500:]
                raise CheckerFailed(f"the checker ended with {status}: {detail}")

    def end(self) -> None:
        """Ends the process, whatever it does; a second time nothing happens."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _reason(one: dict[str, str]) -> str:
    return ": ".join(one[name] for name in ("file", "view", "reason") if name in one)
