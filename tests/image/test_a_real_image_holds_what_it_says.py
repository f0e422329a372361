"""A whole build, twice, and a machine started from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from archive import pools
from archive.image import Image
from archive.store import file_digest
from runner.image.engine import Engine
from runner.image.recipe import recipe
from runner.image.workplace import workplace

CHECKOUT = Path(__file__).parents[2]
ARGUSIC = str(Path(sys.executable).with_name("argusic"))
TAG = f"argusic/test-{os.getpid()}:slim"
pytestmark = [pytest.mark.soak, pytest.mark.network]
PROBE = """
import json, os, subprocess, sys
sys.path.insert(0, "/opt/argusic/python")
import mcp
said = {"ids": [os.getuid(), os.getgid()], "home": os.path.expanduser("~"), "folder": os.getcwd(), "mcp": mcp.__file__}
said["python"] = sys.version_info[:2]
for words in ("node --version", "npm --version", "npx --version", "pip --version", "git --version",
              "python3 -m venv /tmp/v", "/tmp/v/bin/pip --version", "npm init -y", "node -e console.log(40+2)"):
    done = subprocess.run(words.split(), capture_output=True, text=True, cwd="/tmp")
    said[words] = [done.returncode, done.stdout.strip() or done.stderr.strip()]
try:
    open("/etc/x", "w")
except OSError as error:
    said["refused"] = error.strerror
print(json.dumps(said))
"""


def argusic(root: Path, *words: str, **env: str) -> tuple[int, str]:
    done = subprocess.run(
        [ARGUSIC, "--root", str(root), *words],
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if "is there a network?" in done.stderr:
        pytest.skip(f"no packages can be reached: {done.stderr.strip()}")
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def built(builder: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with two builds of slim, `1.tar` and `2.tar`, and the description of the second."""
    root = tmp_path_factory.mktemp("built")
    with workplace(recipe()[0].variant["slim"].megabytes) as work:
        for name in ("1.tar", "2.tar"):
            words = ["--variant=slim", "--no-load", "--tag", TAG, "--out", str(root / name)]
            status, said = argusic(root, "image", "build", *words, TMPDIR=str(work))
            assert status == 0, said
            assert list(work.iterdir()) == []
    assert {path.name for path in root.iterdir()} == {"1.tar", "2.tar", "pools"}
    return root


def test_two_builds_are_the_same_byte_for_byte(built: Path) -> None:
    assert file_digest(built / "1.tar") == file_digest(built / "2.tar")
    assert argusic(built, "image", "diff", str(built / "1.tar"), "slim")[0] == 0


def test_what_is_published_was_made_from_the_same_lists(built: Path) -> None:
    now = pools.read_json(Image, pools.image_path(built, "slim"))
    for name, image in pools.images(CHECKOUT).items():
        assert (image.inputs.recipe, image.inputs.client) == (now.inputs.recipe, now.inputs.client), (
            f"build {name} anew"
        )
        assert image.tools == now.tools, name


def test_a_machine_of_it_has_every_tool_for_a_user_who_can_change_nothing(built: Path, running: Engine) -> None:
    image = pools.read_json(Image, pools.image_path(built, "slim"))
    running.load(built / "1.tar", image.id)
    client = running._client
    try:
        assert argusic(built, "image", "diff", TAG, "slim")[0] == 0
        output = client.containers.run(
            image.id,
            ["python3", "-c", PROBE],
            read_only=True,
            network_mode="none",
            cap_drop=["ALL"],
            tmpfs={"/tmp": "exec"},
            remove=True,
        )
    finally:
        client.images.remove(TAG, force=True)
    said = json.loads(output)
    assert (said["ids"], said["home"], said["folder"]) == ([1000, 1000], "/home/agent", "/home/agent/project")
    assert said["refused"] == "Read-only file system"
    assert said["python"] == [3, 11]
    assert said["mcp"].startswith("/opt/argusic/python/mcp/")
    assert {
        words: found for words, found in said.items() if isinstance(found, list) and found[0] not in (0, 3, 1000)
    } == {}
    assert int(said["node --version"][1].removeprefix("v").partition(".")[0]) >= 22
    assert said["npm --version"][1] == image.tools["npm"]
    assert said["node -e console.log(40+2)"][1] == "42"
    assert said["git --version"][1].startswith("git version 2.")
