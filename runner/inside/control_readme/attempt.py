"""The order of one attempt: environment, install, examples or server, report."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from . import commands, fences, fixes, report, repository, server, task, verify
from .session import Result, Session

TASK = Path("/argusic/task.json")
INSTALL_SECONDS = 900
EXAMPLE_SECONDS = 120
SERVER_SECONDS = 90
MAX_FIXES = 6
VENV = "python3 -m venv .venv"
_KEPT_BACK = 0.02
"""The share of the budget that is kept for writing the report."""


class Attempt:
    """One subject, one session, what was observed."""

    def __init__(self, given: task.Task, session: Session, readme: str) -> None:
        self.task = given
        self.session = session
        self.readme = readme
        self.repository = given.name.rpartition("/")[2]
        self.found = fences.blocks(readme)
        self.seen = report.Observed()

    def do(self, step: commands.Step, limit_seconds: float) -> tuple[commands.Step, Result]:
        """Run a step; while it fails and the table knows the error, fix and run it again.

        An error counts as fixed only when the command that failed is then seen to pass.
        """
        pending: list[dict[str, Any]] = []
        known: set[str] = set()
        while True:
            self._write(step)
            at = self.session.seconds
            result = self.session.run(step.command, limit_seconds)
            if result.passed:
                for row in pending:
                    row["fixed"] = True
                return step, result
            fix = fixes.propose(self.task, result.tail, step)
            row = self.seen.met(fix.error if fix else fixes.last_error(result.tail), at)
            if fix is None or fix.what in known or len(known) == MAX_FIXES or self.session.left_seconds < 5:
                return step, result
            known.add(fix.what)
            row["fix"] = f"{fix.what}{f': {fix.first}' if fix.first else ''}"
            pending.append(row)
            self.session.say(f"# known fix: {fix.what}")
            if fix.first and not self.session.run(fix.first, INSTALL_SECONDS).passed:
                return step, result
            step = fix.again

    def _write(self, step: commands.Step) -> None:
        if step.file:
            (self.task.project / step.file).write_text(step.source + "\n", encoding="utf-8", errors="replace")
            self.session.run(f"cat {step.file}", 10)

    def install(self) -> bool:
        """Installed means: the command ended well, and the installer then finds the pinned version."""
        if self.task.source_type == "repository":
            return self._build()
        pypi = self.task.ecosystem == "pypi"
        prepare = VENV if pypi else "npm init -y"
        if not self.do(commands.Step(prepare), INSTALL_SECONDS)[1].passed:
            return False
        started = self.session.seconds
        if not self.do(commands.Step(commands.install(self.task, self.found)), INSTALL_SECONDS)[1].passed:
            return False
        self.seen.install_seconds = int(self.session.seconds - started)
        name = self.task.name
        shown = self.session.run(f"{commands.PIP} show {name}" if pypi else f"npm ls {name}", 60)
        pattern = r"^Version: (\S+)$" if pypi else rf"{re.escape(name)}@(\S+)"
        version = re.search(pattern, shown.printed.decode("utf-8", errors="replace"), re.M)
        self.seen.installed = shown.passed and version is not None and commands.is_pinned(self.task, version[1])
        return self.seen.installed

    def _build(self) -> bool:
        """A repository is installed when each command of its README for that has ended well, or it needs none."""
        self.task = repository.recognised(self.task)
        steps = repository.builds(self.task, self.found, self.repository)
        if self.task.ecosystem == "pypi":
            steps.insert(0, commands.Step(VENV))
        if not steps:
            self.seen.sentences.append("Neither its README nor its files say how it is installed.")
        started = self.session.seconds
        self.seen.installed = all(self.do(step, INSTALL_SECONDS)[1].passed for step in steps)
        if steps and self.seen.installed:
            self.seen.install_seconds = int(self.session.seconds - started)
        return self.seen.installed

    def scripts(self) -> list[str]:
        """The programs that the installed package brings, by name."""
        if self.task.ecosystem == "npm" and self.task.source_type == "repository":
            return []
        if self.task.ecosystem == "npm":
            package = json.loads((self.task.project / "node_modules" / self.task.name / "package.json").read_bytes())
            programs = package.get("bin")
            if isinstance(programs, str):
                return [self.task.name.rpartition("/")[2]]
            return sorted(programs) if isinstance(programs, dict) else []
        for info in self.task.project.glob(".venv/lib/python*/site-packages/*.dist-info"):
            if commands.normal(info.name.partition("-")[0]) == commands.normal(self.task.name):
                entries = info / "entry_points.txt"
                text = entries.read_text("utf-8", errors="replace") if entries.exists() else ""
                section = re.search(r"^\[console_scripts\]\s*$([^\[]*)", text, re.M)
                return re.findall(r"^([\w.-]+)\s*=", section[1], re.M) if section else []
        return []

    def examples(self) -> None:
        """Run the README's examples in order until one is verified by its own output."""
        steps = commands.examples(self.task, self.found, self.scripts())
        before, modules = commands.Step(""), False
        for number, step in enumerate(steps, 1):
            step = commands.after(before, step)
            step = commands.renamed(step, ".mjs") if modules and commands.is_module(step) else step
            step, result = self.do(step, EXAMPLE_SECONDS)
            modules |= result.passed and step.file.endswith((".mjs", ".mts"))
            check = verify.check(step, result)
            self.seen.launched |= result.passed
            self.seen.sentences.append(f"Example {number} of its README {check.seen}{_because(result)}.")
            if check.verified:
                self.seen.verified = self._alone(step, result) or (step.command, check.text)
                return
            if result.passed and step.file:
                before = step
            if self.session.left_seconds < 5:
                return
        if not steps:
            self.seen.sentences.append("Its README has no example that this agent can run.")

    def _alone(self, step: commands.Step, result: Result) -> tuple[str, str] | None:
        """Once more without the warnings that stood between its lines, so that a replay can be compared with it."""
        if not result.complained:
            return None
        alone = self.session.run(f"{step.command} 2>/dev/null", EXAMPLE_SECONDS)
        check = verify.check(step, alone)
        return (alone.command, check.text) if check.verified else None

    def serve(self) -> None:
        """Start the server as the README says and let a real client list its tools and call one."""
        starts = server.starts(self.task, self.found, self.scripts())
        if not starts:
            self.seen.sentences.append("Its README gives no start command that this agent can run.")
        for start in starts:
            step = commands.Step(f"argusic-mcp --timeout {SERVER_SECONDS - 30} -- {start}")
            step, result = self.do(step, SERVER_SECONDS)
            answer = _json(result.printed)
            names, called = answer.get("tools"), answer.get("called")
            if result.exit not in {0, 3} or not isinstance(names, list):
                self.seen.sentences.append(f"Started by {start}, it could not be connected to{_because(result)}.")
                continue
            self.seen.launched = True
            named = sum(str(name) in self.readme for name in names)
            counted = f"{len(names)} tool{'' if len(names) == 1 else 's'}, {named} named in its README"
            tools = f"Started by {start}, it listed to a client {counted}"
            if result.passed and isinstance(called, dict) and called.get("text"):
                self.seen.verified = (step.command, result.printed.decode("utf-8", errors="replace"))
                self.seen.sentences.append(f"{tools}; the tool {called.get('tool')} answered a call with text.")
            else:
                self.seen.sentences.append(f"{tools}; no call of a tool was answered without an error.")
            return


def _because(result: Result) -> str:
    """The line that names the error, in brackets, after a command that failed."""
    return "" if result.passed else f" ({fixes.last_error(result.tail)[:200]})"


def _json(printed: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(printed)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def main() -> int:
    """One attempt from /argusic/task.json. Exit code 0 when a report was written, 1 when there was no readable task."""
    try:
        given = task.load(TASK)
    except (OSError, ValueError, KeyError) as error:
        print(f"no readable task at {TASK}: {error!r}", file=sys.stderr)
        return 1
    given.project.mkdir(parents=True, exist_ok=True)
    log = given.report.with_name("session.jsonl")
    session = Session(given.project, log, given.budget_minutes * 60 * (1 - _KEPT_BACK))
    attempt = Attempt(given, session, task.read_readme(given.readme))
    try:
        if attempt.install():
            attempt.seen.sentences.append(f"{given.pinned} is installed.")
            (attempt.serve if given.source_type == "mcp-server" else attempt.examples)()
        else:
            attempt.seen.sentences.append(f"{given.pinned} could not be installed.")
    finally:
        report.write(report.document(attempt.seen), given.report)
    attempt.session.run(f"argusic-report {given.report}", 30)
    return os.EX_OK
