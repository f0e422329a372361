"""Named after harnesses that pruned a developer's images: only our own older builds go, and only when room is short."""

from __future__ import annotations

import io
import json
import secrets
import tarfile

import pytest

from archive import pools
from archive.errors import MachineError
from bot.plan import write_plan
from runner import cycle as cycle_module
from runner.condition import condition
from runner.machine import LIMITS
from runner.sandbox.engine import connect
from runner.sandbox.images import NAME, spare
from runner.watch import Halt
from tests.support.make import declare


def listed(id: str, *names: str) -> dict[str, object]:
    return {"Id": f"sha256:{id * 64}", "RepoTags": list(names) or None}


@pytest.mark.parametrize(
    ("image", "goes"),
    [
        (listed("a", f"{NAME}:aaaaaaaaaaaa"), True),
        (listed("a", f"{NAME}:slim", f"{NAME}:aaaaaaaaaaaa"), False),
        (listed("a", f"{NAME}:aaaaaaaaaaaa", "mine:latest"), False),
        (listed("a", "debian:12"), False),
        (listed("a", "<none>:<none>"), False),
        (listed("a"), False),
        (listed("a", f"other/{NAME}:aaaaaaaaaaaa"), False),
    ],
)
def test_what_has_only_the_name_of_an_older_build_goes(image, goes):
    assert (spare([image], ()) == [image["Id"]]) is goes


def test_a_pinned_build_stays():
    image = listed("a", f"{NAME}:aaaaaaaaaaaa")
    assert spare([image], {image["Id"]}) == []


@pytest.fixture
def engine():
    try:
        return connect().api
    except MachineError as error:
        pytest.skip(str(error))


def tiny(engine, *tags: str) -> str:
    """A new image of one small file under these names; `BUILD` stands for the name by its own id."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        data = secrets.token_bytes(16)
        info = tarfile.TarInfo("file")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    said = engine.import_image_from_data(layer.getvalue(), repository=f"argusic-test/{secrets.token_hex(4)}")
    first = json.loads(said.strip().splitlines()[-1])["status"]
    attrs = engine.inspect_image(first)
    for tag in tags:
        name, _, rest = tag.partition(":")
        engine.tag(first, name, rest.replace("BUILD", first.partition(":")[2][:12]))
    engine.remove_image(attrs["RepoTags"][0])
    return str(first)


def there(engine) -> set[str]:
    return {image["Id"] for image in engine.images()}


@pytest.mark.sandbox
def test_below_the_floor_older_builds_go_and_nothing_else(tmp_path, sandboxes, engine, monkeypatch):
    docker = sandboxes("docker")
    older, pinned = tiny(engine, f"{NAME}:BUILD"), tiny(engine, f"{NAME}:BUILD")
    foreign, variant = (
        tiny(engine, f"argusic-test/foreign:{secrets.token_hex(4)}"),
        tiny(engine, f"{NAME}:test-variant"),
    )
    try:
        declare(tmp_path, "pkg:pypi/six@1.17.0", demonstration=True, sandboxes=["docker"], image=pinned)
        write_plan(tmp_path, "first")
        assert pools.cycle(tmp_path, "first").image == pinned
        ready = condition(tmp_path, "first", docker, None, LIMITS)
        halt = Halt()
        halt.now("infra:cancelled", "only the beginning is looked at")
        cycle_module.run_cycle(ready, 1, halt, lambda _: None)
        assert {older, pinned, foreign, variant} <= there(engine)
        monkeypatch.setattr(cycle_module, "FREE_BYTES", 1 << 60)
        notes = cycle_module.run_cycle(ready, 1, halt, lambda _: None).notes
        assert [note for note in notes if older.partition(":")[2][:12] in note]
        assert {pinned, foreign, variant, docker.image} <= there(engine)
        assert older not in there(engine)
    finally:
        for one in (older, pinned, foreign, variant):
            if one in there(engine):
                engine.remove_image(one, force=True)
