"""What a plan pins: the digest of every file that decides what a cycle measures and how (MEASUREMENT §2)."""

from __future__ import annotations

from pathlib import Path

from archive.agent import Agent
from archive.canonical import digest
from archive.cycle import Cycle
from archive.errors import DataError
from archive.harness import harness
from archive.plan import Pins
from archive.subject import Subject


def pins_of(root: Path, cycle: Cycle, subjects: list[Subject], agents: list[Agent], code: Path) -> Pins:
    """The pins of a plan that is made now, by the program at `code`."""
    folder = root / "pools/cycles" / cycle.id
    kinds = sorted({subject.source_type for subject in subjects})
    return Pins(
        cycle=_digest(folder / "cycle.toml"),
        edition=_digest(root / f"pools/editions/{cycle.edition}.toml"),
        pool=_digest(folder / "public.toml"),
        agents={agent.id: _digest(root / f"pools/agents/{agent.id}.toml") for agent in agents},
        sources={kind: _digest(root / f"pools/sources/{kind}.toml") for kind in kinds},
        instructions={str(agent.instructions): _instructions(root, agent, code) for agent in agents},
        harness=harness(code),
    )


def _digest(path: Path) -> str:
    return digest(path.read_bytes())


def _instructions(root: Path, agent: Agent, code: Path) -> str:
    path = code / f"runner/instructions/{agent.instructions}.md"
    if not path.is_file():
        place = root / f"pools/agents/{agent.id}.toml"
        raise DataError(place, "instructions", f"there are no standard instructions of version {agent.instructions}")
    return _digest(path)
