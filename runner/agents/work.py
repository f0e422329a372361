"""How an attempt deals with its agent: what the machine is given for it, its start, and what it left."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from archive.agent import Agent, ModelAccess
from archive.errors import ArgusicError
from archive.record import Program as Installed
from runner.agents import Adapter
from runner.agents.install import PLACE, Ready
from runner.agents.program import Program, Setting
from runner.agents.reading import Output, Reading
from runner.endpoint import Door
from runner.evidence import Bundle
from runner.machine import SESSION
from runner.reach import Watchman
from runner.sandbox import HOME, FileRefused, Machine, Mount, Session
from runner.task import readable
from runner.watch import Ended, Halt, run

SESSION_BYTES = 64 << 20
LEFT_SECONDS = 120
SETTING = "/argusic/agent.json"
NO_KEY = "the-runner-has-the-key"
"""What a program is told where the key stays with the runner: it wants to be told one."""


class Left(NamedTuple):
    """What an agent left."""

    commands: list[str] | None
    """Commands that were run, in order; None where that cannot be known."""
    reading: Reading | None
    """What its program's output says; None for a control."""


class Work(Protocol):
    """One agent at work in one attempt."""

    installed: Installed | None
    """Its program; None for a control."""

    def mounts(self, folder: Path) -> tuple[Mount, ...]:
        """What the machine sees for it; files of its own are made in `folder`."""

    def ready(self, machine: Machine) -> None:
        """What has to be there before its time begins."""

    def begin(self, machine: Machine, halt: Halt) -> Session:
        """Its time begins. `halt` is this attempt's own."""

    def left(self, machine: Machine, bundle: Bundle, ended: Ended, note: Callable[[str], None]) -> Left:
        """Copies out what it left, after its end."""

    def end(self) -> None:
        """Lets go of what the runner held for it; a second call does nothing."""


class Control:
    """A control: one program of ours, no model."""

    installed: Installed | None = None

    def __init__(self, agent: Agent, adapter: Adapter) -> None:
        self._agent, self._adapter = agent, adapter

    def mounts(self, folder: Path) -> tuple[Mount, ...]:
        """As `Work.mounts`."""
        return ()

    def ready(self, machine: Machine) -> None:
        """As `Work.ready`."""

    def begin(self, machine: Machine, halt: Halt) -> Session:
        """As `Work.begin`."""
        return machine.exec(self._adapter.argv(self._agent))

    def left(self, machine: Machine, bundle: Bundle, ended: Ended, note: Callable[[str], None]) -> Left:
        """As `Work.left`."""
        session = _read(machine, SESSION, note)
        if session is not None:
            session = bundle.add("session", session)
        return Left(self._adapter.commands(session), None)

    def end(self) -> None:
        """As `Work.end`."""


class WithModel:
    """An agent with a model: its program from a package, its key, its endpoint."""

    def __init__(
        self,
        program: Program,
        model: ModelAccess,
        *,
        prompt: str,
        installed: Ready | None,
        key: str | None,
        extra_ca: Path | None,
    ) -> None:
        """`prompt` is all that the program is told: the standard instructions, word for word. `key` is the attempt's
        own, or the shared one, which then stays here; None where there is none."""
        self._program, self._model, self._ready, self._prompt = program, model, installed, prompt
        self.installed = installed.what if installed else None
        self._inside = key if model.key == "own" and key else NO_KEY
        self._door: Door | None = None
        self._watchman: Watchman | None = None
        if model.through_runner:
            # Without a key of the runner's the program's own is passed on.
            held = None if model.key == "own" else key or NO_KEY
            self._door = Door(model.endpoint, program.apis, held, extra_ca)

    def mounts(self, folder: Path) -> tuple[Mount, ...]:
        """As `Work.mounts`."""
        start = self._program.start(
            Setting(
                home=HOME,
                endpoint=self._door.address if self._door else self._model.endpoint,
                model=self._model.name,
                prompt=self._prompt,
                context_tokens=self._model.context_tokens,
                answer_tokens=self._model.answer_tokens,
            )
        )
        self._environment = start.environment
        argv = [f"{PLACE}/bin/{start.argv[0]}" if self._ready else start.argv[0], *start.argv[1:]]
        told = json.dumps({"argv": argv, "files": start.files}).encode()
        found = [Mount(readable(folder / "agent.json", told), SETTING)]
        if self._ready:
            found.append(Mount(self._ready.folder, PLACE))
        if self._door:
            found.append(self._door.mount)
        return tuple(found)

    def ready(self, machine: Machine) -> None:
        """As `Work.ready`."""
        if self._door:
            self._door.open(machine)

    def begin(self, machine: Machine, halt: Halt) -> Session:
        """As `Work.begin`. The key is a variable of this program and of nothing else in the machine."""
        key = {self._program.key_variable: self._inside} if self._program.key_variable else {}
        words = ["python3", "-I", "-S", "/argusic/inside/agent_run.py", SETTING]
        if self._program.waits_for_ever:
            self._watchman = Watchman(self._model.endpoint, halt)
        return machine.exec(words, env=self._environment | key)

    def left(self, machine: Machine, bundle: Bundle, ended: Ended, note: Callable[[str], None]) -> Left:
        """As `Work.left`. What is read is what is published: the masked files."""
        self._let_watchman_go()
        stdout, stderr = (_read(machine, f"{HOME}/.agent/{name}", note) or b"" for name in ("stdout", "stderr"))
        session = self._sessions(machine, note)
        output = Output(
            stdout=bundle.add("stdout", stdout),
            stderr=bundle.add("stderr", stderr),
            sessions=(bundle.add("session", session),) if session else (),
            exit=ended.exit if ended.by == "agent" else None,
        )
        reading = self._program.read(output)
        commands = None if reading.commands is None else [one.command for one in reading.commands]
        return Left(commands, reading)

    def _sessions(self, machine: Machine, note: Callable[[str], None]) -> bytes | None:
        if not self._program.session_files:
            return None
        target = f"/tmp/left-{secrets.token_hex(8)}"
        words = ["python3", "-I", "-S", "/argusic/inside/agent_left.py", target, str(SESSION_BYTES)]
        session = machine.exec([*words, *self._program.session_files], HOME)
        ended, said = run(session, seconds=LEFT_SECONDS, most_bytes=1 << 20)
        machine.stop()
        if ended.exit != 0 or said:
            note(f"session files: {said.decode('ascii', 'replace').strip()[:1000]} (exit {ended.exit})")
        return _read(machine, target, note)

    def end(self) -> None:
        """As `Work.end`."""
        self._let_watchman_go()
        if self._door:
            self._door.close()
            self._door = None

    def _let_watchman_go(self) -> None:
        if self._watchman:
            self._watchman.end()
            self._watchman = None


def checked(agent: Agent, program: Program) -> ModelAccess:
    """How the agent's model is reached. ArgusicError where its file does not say it, or not as its program needs it."""
    if agent.model is None:
        raise ArgusicError(f"agent {agent.id}: no [model] table says which model it is and where it answers")
    if agent.model.key != "none" and program.key_variable is None:
        raise ArgusicError(f"agent {agent.id}: {program.name} takes no key; say in which variable it looks for it")
    return agent.model


def _read(machine: Machine, path: str, note: Callable[[str], None]) -> bytes | None:
    try:
        return machine.read(path, SESSION_BYTES)
    except FileRefused as error:
        note(str(error))
        return None
