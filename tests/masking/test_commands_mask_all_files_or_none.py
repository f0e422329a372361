"""`argusic evidence mask` and `apply`: what is made, what is refused, and that the chain of stages holds."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import runner.masking.commands as commands
from archive.edits import Manifest
from argusic import app, main
from tests.masking.escape_table import SECRETS
from tests.masking.key_table import pem

SECRET = SECRETS["provider-shaped"]
CLEAN = """
import json, pathlib, sys
folder, known = pathlib.Path(sys.argv[1]), sys.stdin.read().splitlines()
texts = {path.name: path.read_text(errors="replace") for path in folder.iterdir()}
found = [name for name, text in texts.items() if any(value in text for value in known if value)]
if found or (folder / "dirty.txt").exists():
    print(json.dumps({"withheld": [{"file": "dirty.txt", "view": "raw", "reason": "said so"}]}))
    sys.exit(3)
(folder / "certificate.json").write_text("{}")
"""


@pytest.fixture(autouse=True)
def _stand_in(tmp_path, monkeypatch):
    """A program that answers as the checker does."""
    program = tmp_path / "checker.py"
    program.write_text(CLEAN)
    monkeypatch.setattr(commands, "CHECKER", (sys.executable, str(program)))


def run(*arguments):
    return CliRunner().invoke(app, ["evidence", *map(str, arguments)], standalone_mode=True)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "known.txt").write_text(f'{SECRET}\n"two\\nlines-of-it"\n')
    (tmp_path / "run.log").write_bytes(b"key " + SECRET.encode() + b"\n" + pem("ec").encode() + b"done\n")
    events = [[0.1, "o", "key " + SECRET[:30]], [0.2, "i", "pw"], [0.3, "o", SECRET[30:] + "\r\n" + pem("ec")]]
    lines = ['{"version": 2, "width": 80, "height": 24, "title": "t"}', *map(json.dumps, events)]
    (tmp_path / "run.cast").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_served_copies_manifests_and_certificate_are_made(files):
    done = run("mask", "--known", files / "known.txt", "--out", files / "out", files / "run.log", files / "run.cast")
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (files / "out").iterdir()) == [
        "certificate.json", "run.cast", "run.cast.credentials.json", "run.cast.presentation.json",
        "run.log", "run.log.credentials.json", "run.log.presentation.json",
    ]  # fmt: skip
    served = (files / "out" / "run.log").read_bytes()
    assert served.startswith(b"key " + b"*" * 73 + b"\n-----BEGIN PRIVATE KEY-----\n****")
    assert served.endswith(b"-----END PRIVATE KEY-----\ndone\n")


@pytest.mark.parametrize("name", ["run.log", "run.cast"])
def test_each_stage_is_made_again_from_the_one_before(files, name):
    (files / "key").write_text("ab" * 32)
    key = ("--key", files / "key")
    made = run("mask", "--known", files / "known.txt", "--out", files / "out", *key, files / name)
    assert made.exit_code == 0, made.output
    first, second = (files / "out" / f"{name}.{stage}.json" for stage in ("credentials", "presentation"))
    assert run("apply", first, files / name, "--out", files / "stage1", *key).exit_code == 0
    assert run("apply", second, files / "stage1", "--out", files / "stage2", *key).exit_code == 0
    served = (files / "out" / name).read_bytes()
    assert (files / "stage2").read_bytes() == served
    stage = (files / "stage1").read_bytes()
    assert SECRET[:12].encode() not in stage
    assert pem("ec").splitlines()[1].encode() in stage
    said = Manifest.model_validate_json(second.read_bytes())
    assert said.after.mark == "sha256:" + hashlib.sha256(served).hexdigest()
    assert said.before.mark.startswith("hmac-sha256:")


def test_a_manifest_of_another_file_is_refused(files):
    run("mask", "--known", files / "known.txt", "--out", files / "out", files / "run.log")
    (files / "other.log").write_bytes((files / "run.log").read_bytes().replace(b"done", b"DONE"))
    done = run("apply", files / "out" / "run.log.presentation.json", files / "other.log")
    assert isinstance(done.exception, Exception)
    assert "DONE" not in done.stdout


def test_what_the_checker_withholds_leaves_nothing(files):
    (files / "dirty.txt").write_text("x")
    done = run("mask", "--known", files / "known.txt", "--out", files / "out", files / "dirty.txt", files / "run.log")
    assert done.exit_code == 3
    assert json.loads(done.stdout) == {"withheld": [{"file": "dirty.txt", "reason": "raw: said so"}]}
    assert sorted(path.name for path in files.iterdir() if "out" in path.name) == []


def test_what_cannot_be_proven_is_withheld_with_its_reason(files):
    half = len(SECRET) // 2
    # The second half first, in a region that scrolls: whoever looks at the screen reads it.
    drawn = f"\x1b[2;9r\x1b[5;{half + 1}H{SECRET[half:]}\x1b[5;1H{SECRET[:half]}"
    (files / "drawn.raw").write_text(drawn)
    done = run("mask", "--known", files / "known.txt", "--out", files / "out", files / "drawn.raw")
    assert done.exit_code == 3
    assert "screen" in json.loads(done.stdout)["withheld"][0]["reason"]
    assert not (files / "out").exists()


def test_a_folder_that_is_not_empty_is_not_written_to(files):
    (files / "out").mkdir()
    (files / "out" / "mine").write_text("x")
    done = subprocess.run(
        [sys.executable, "-m", "argusic", "evidence", "mask", "--known", str(files / "known.txt"), "--out",
         str(files / "out"), str(files / "run.log")],
        capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False,
    )  # fmt: skip
    assert (done.returncode, "not empty" in done.stderr) == (2, True)
    assert [path.name for path in (files / "out").iterdir()] == ["mine"]


@pytest.mark.parametrize("content", ["short\n", '"torn\n'])
def test_known_values_that_cannot_be_used_are_refused(files, content, monkeypatch, capsys):
    (files / "bad.txt").write_text(content)
    monkeypatch.setattr(
        sys, "argv", ["argusic", "evidence", "mask", "--known", str(files / "bad.txt"), "--out", str(files / "out"),
                      str(files / "run.log")],
    )  # fmt: skip
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "bad.txt" in capsys.readouterr().err
