"""What all attempts of a cycle on this runner have in common."""

from __future__ import annotations

import os
import platform
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from archive import atomic, places, pools
from archive.agent import Agent
from archive.canonical import digest
from archive.cycle import Cycle
from archive.edition import Edition
from archive.errors import ArgusicError, DataError
from archive.harness import harness
from archive.pins import check_pins
from archive.plan import Harness, Job, Plan
from archive.record import Environment, Limit
from archive.store import FolderStore
from archive.subject import Subject
from runner.agents import program_of
from runner.agents.install import Ready, installed, word
from runner.agents.work import checked
from runner.gpu import gpu_present
from runner.keys import broker
from runner.machine import LIMITS
from runner.masking import Known
from runner.sandbox import Limits, Sandbox

OUTPUT_CEILING_BYTES = 512 << 20
"""Of all that a recording takes on disk; far above real work. At the ceiling the attempt ends, nothing is cut."""
FREE_BYTES = 4 << 30
"""No attempt begins with less free disk."""


class Condition(NamedTuple):
    """Everything an attempt needs besides its job."""

    root: Path
    cycle: Cycle
    edition: Edition
    plan: Plan
    subjects: dict[str, Subject]
    agents: dict[str, Agent]
    agent_digests: dict[str, str]
    sandbox: Sandbox
    environment: Environment
    store: FolderStore
    extra_ca: Path | None
    limits: Limits
    ceiling_bytes: int
    programs: Mapping[str, Ready]
    """Installed programs of the agents that have one, by the agent's id."""
    environ: Mapping[str, str]
    """The runner's own environment, in which keys are: no machine sees anything of it."""


def condition(
    root: Path,
    cycle_id: str,
    sandbox: Sandbox,
    extra_ca: Path | None,
    limits: Limits = LIMITS,
    again: str | None = None,
) -> Condition:
    """Reads and checks what a cycle needs on this runner.

    With `again`, an agent's id: what it takes to make one of that agent's attempts once more, by another harness, too.
    Raises `ArgusicError` where there is no plan, where this is not the harness that the plan pins, where the cycle has
    not begun or does not accept this kind of sandbox, or where a setting is wrong: before any attempt begins.
    """
    cycle = pools.cycle(root, cycle_id)
    today = time.strftime("%Y-%m-%d", time.gmtime())
    if today < cycle.starts and not cycle.demonstration:
        place = pools.cycle_path(root, cycle_id)
        raise DataError(place, "starts", f"no attempt before {cycle.starts}; today is {today}")
    if extra_ca is not None and not extra_ca.is_file():
        raise DataError(extra_ca, "--extra-ca", "no such file; give a bundle of certificates in PEM form")
    plan = pools.plan(root, cycle_id)
    if plan is None:
        raise DataError(pools.plan_path(root, cycle_id), "", f"no plan yet; make one: argusic cycle plan {cycle_id}")
    if sandbox.name not in cycle.sandboxes:
        raise ArgusicError(f"cycle {cycle_id} accepts {', '.join(cycle.sandboxes)}; this runner offers {sandbox.name}")
    missing = [] if cycle.demonstration else absent(sandbox)
    if missing:
        raise ArgusicError(
            f"cycle {cycle_id} is no demonstration, and {sandbox.name} on this runner does not hold: "
            f"{', '.join(missing)}; argusic doctor says more"
        )
    measuring = harness()
    if again is None and measuring.digest != plan.pins.harness.digest:
        raise ArgusicError(
            f"cycle {cycle_id} is pinned to harness {plan.pins.harness.digest[:19]}…, and this is "
            f"{measuring.digest[:19]}…; a harness changes only between cycles"
        )
    check_pins(root, plan)
    if any(job.tier == "gpu" for job in plan.jobs) and not gpu_present():
        raise ArgusicError(f"cycle {cycle_id} has attempts of the tier gpu, and this runner has no GPU")
    wanted = cycle.agents if again is None else (again,)
    agents = {name: agent for name, agent in pools.agents(root).items() if name in wanted}
    edition = pools.editions(root)[cycle.edition]
    keys_at_hand(cycle, edition, agents, os.environ)
    return Condition(
        root=root,
        cycle=cycle,
        edition=edition,
        plan=plan,
        subjects={subject.id: subject for subject in pools.subjects(root, cycle_id)},
        agents=agents,
        agent_digests={name: digest((root / f"pools/agents/{name}.toml").read_bytes()) for name in agents},
        sandbox=sandbox,
        environment=environment(root, sandbox, extra_ca, limits, measuring),
        store=places.store(root),
        extra_ca=extra_ca,
        limits=limits,
        ceiling_bytes=OUTPUT_CEILING_BYTES,
        programs=programs(root, sandbox, agents, extra_ca),
        environ=dict(os.environ),
    )


def keys_at_hand(cycle: Cycle, edition: Edition, agents: Mapping[str, Agent], environ: Mapping[str, str]) -> None:
    """Raises ArgusicError where an attempt of `cycle` could not get the key that its agent's file promises."""
    for agent in agents.values():
        model = agent.model
        if model is None:
            continue
        if model.key == "none" and not cycle.demonstration:
            raise ArgusicError(f"agent {agent.id}: a model without a key is for demonstrations, and {cycle.id} is none")
        if model.key == "shared":
            _maskable(agent, model.key_from or "", environ)
        if model.broker is not None:
            broker(model.broker, environ)
            if edition.key_cap_micro_usd is None:
                raise ArgusicError(
                    f"agent {agent.id}: edition {edition.version} states no cap for an attempt's own key"
                )
            if cycle.spend_cap_micro_usd is None:
                place = f"pools/cycles/{cycle.id}/cycle.toml"
                raise ArgusicError(f"{place}: spend_cap_micro_usd: agent {agent.id} spends money; say how much at most")


def _maskable(agent: Agent, variable: str, environ: Mapping[str, str]) -> None:
    """Raises ArgusicError where a shared key is missing, or is none that evidence could be wiped of."""
    if not environ.get(variable):
        raise ArgusicError(f"agent {agent.id}: the variable {variable} with its shared key is not set here")
    try:
        Known((environ[variable],))
    except ValueError as error:
        raise ArgusicError(f"agent {agent.id}: the variable {variable} holds no usable key: {error}") from None


def programs(root: Path, sandbox: Sandbox, agents: Mapping[str, Agent], extra_ca: Path | None) -> dict[str, Ready]:
    """The programs of `agents`, installed for the machines of `sandbox` where they are not yet."""
    ready = {}
    for name, agent in agents.items():
        if agent.model is None:
            continue
        program = program_of(agent)
        checked(agent, program)
        if program.package is not None:
            ready[name] = installed(root, sandbox, program.package, word(program), extra_ca)
    return ready


def absent(sandbox: Sandbox) -> list[str]:
    """What a runner must hold for a cycle that counts, and this one does not (MEASUREMENT §5)."""
    return [name.replace("_", " ") for name, kind in sorted(sandbox.guarantees().items()) if kind == "absent"]


def environment(root: Path, sandbox: Sandbox, extra_ca: Path | None, limits: Limits, measuring: Harness) -> Environment:
    """The environment of an attempt as its record states it."""
    guarantees = sandbox.guarantees()
    values = limits._asdict()
    inside = sandbox.inside()
    return Environment(
        sandbox=sandbox.name,
        image=sandbox.image,
        system=inside.system,
        architecture=platform.machine(),
        python=inside.python,
        limits={name: Limit(value=values.get(name), guarantee=kind) for name, kind in sorted(guarantees.items())},
        network="open",
        extra_ca=digest(extra_ca.read_bytes()) if extra_ca else None,
        harness=measuring,
        runner=runner_name(root),
    )


def job_of(plan: Plan, job_id: str) -> Job:
    """The job with this id, or the only one whose id begins so."""
    found = [job for job in plan.jobs if job.id.startswith(job_id)]
    if len(found) != 1:
        many = "several jobs whose id begins so" if found else "no job whose id begins so"
        raise ArgusicError(f"job {job_id!r}: pools/cycles/{plan.cycle}/plan.json has {many}")
    return found[0]


def runner_name(root: Path) -> str:
    """An opaque name, made once, that says nothing about the computer."""
    path = places.private(root) / "runner"
    if not path.is_file():
        atomic.write(path, f"runner-{secrets.token_hex(4)}\n".encode(), 0o600)
    return path.read_text().strip()
