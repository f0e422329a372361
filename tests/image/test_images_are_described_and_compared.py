"""image show and image diff: packages, tools and configuration, from whatever holds them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from archive import pools
from archive.canonical import canonical
from archive.errors import ArgusicError, DataErrors, MachineError
from archive.image import Image
from argusic import app
from runner.image.describe import describe, of_archive, of_manifest
from runner.image.diff import changes
from runner.image.docker_archive import Written
from runner.image.system import packages
from tests.image.conftest import CONFIG, STATUS

CHECKOUT = Path(__file__).parents[2]
Make = Callable[..., tuple[Path, Written]]


def published(**changed: object) -> Image:
    """The committed description of slim, with other values."""
    data = json.loads(pools.image_path(CHECKOUT, "slim").read_bytes())
    return Image.model_validate_json(canonical(data | changed))


def call(*words: str, root: Path = CHECKOUT) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["--root", str(root), *words])
    assert done.exception is None or isinstance(done.exception, SystemExit | ArgusicError), done.exception
    return done.exit_code, done.stdout


def test_only_installed_packages_count_and_a_foreign_architecture_is_named() -> None:
    assert packages(STATUS) == {"dpkg": "1.21.22", "libc6": "2.36-9", "libc6:i386": "2.36-9", "tzdata": "2025b"}


def test_an_archive_describes_itself(image: Make) -> None:
    path, written = image()
    found = of_archive(path)
    assert (found.id, found.size_bytes, found.architecture) == (written.id, written.size_bytes, "amd64")
    assert found.config == CONFIG
    assert found.tools == {"node": "24.0.0"}
    assert found.packages["tzdata"] == "2025b"


def test_a_change_is_an_addition_a_removal_or_another_version(image: Make) -> None:
    a, _ = image("a.tar")
    status = STATUS.replace("2025b", "2025c").replace(
        "Package: gone\nStatus: deinstall", "Package: come\nStatus: install"
    )
    status = status.replace("ok config-files", "ok installed").replace("i386", "armhf")
    other = CONFIG.model_copy(update={"env": ("A=2", "PATH=/bin"), "user": ""})
    b, _ = image("b.tar", status, '{"node": "24.1.0"}', other)
    assert [str(change) for change in changes(of_archive(a), of_archive(b))] == [
        "+ package come 1",
        "+ package libc6:armhf 2.36-9",
        "- package libc6:i386 2.36-9",
        "~ package tzdata 2025b → 2025c",
        "~ tool node 24.0.0 → 24.1.0",
        "~ config env A 1 → 2",
        "~ config user 1000:1000 → ",
    ]
    status_, said = call("image", "diff", str(a), str(b), "--json")
    assert status_ == 1
    assert json.loads(said)["same"] is False
    assert json.loads(said)["changes"][0] == {"kind": "package", "name": "come", "before": None, "after": "1"}


def test_the_same_image_has_no_difference_and_exit_status_zero(image: Make) -> None:
    a, written = image("a.tar")
    shutil.copy(a, a.with_name("copy.tar"))
    assert call("image", "diff", str(a), str(a.with_name("copy.tar"))) == (0, f"the same image: {written.id}\n")


def test_other_bytes_in_the_same_packages_are_a_difference(image: Make) -> None:
    a, _ = image("a.tar")
    b, _ = image("b.tar", status=STATUS.replace("Description: one", "Description: two"))
    status, said = call("image", "diff", str(a), str(b))
    assert status == 1
    assert "packages, tools and configuration are the same, the bytes of files are not" in said


def test_a_damaged_archive_is_found_out(image: Make) -> None:
    path, _ = image()
    data = path.read_bytes()
    assert data.count(b"1.21.22") == 1
    path.write_bytes(data.replace(b"1.21.22", b"1.21.99"))
    with pytest.raises(ArgusicError, match="the file is damaged"):
        of_archive(path)


@pytest.mark.parametrize("text", ["{}", "no json", '{"schema_version": 2}'])
def test_a_file_that_is_no_description_is_refused_with_its_fields(tmp_path: Path, text: str) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(DataErrors, match=r"some\.json"):
        describe(tmp_path, str(path))


def test_a_tar_that_is_no_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a").write_text("a")
    path = Path(shutil.make_archive(str(tmp_path / "plain"), "tar", tmp_path / "folder"))
    with pytest.raises(ArgusicError, match="is no image archive"):
        of_archive(path)


def test_a_published_image_is_shown_by_its_name() -> None:
    wanted = published()
    assert of_manifest(wanted) == describe(CHECKOUT, "slim")
    status, said = call("image", "show", "slim")
    assert status == 0
    assert said.startswith(f"id            {wanted.id}\n")
    assert f"\n  python3  {wanted.packages['python3']}\n" in said
    _, as_json = call("image", "show", "slim", "--json")
    assert json.loads(as_json)["tools"]["node"] == wanted.tools["node"]


def test_a_reference_without_an_engine_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(
        MachineError,
        match="no container engine can be reached: no engine listens there",
    ):
        describe(tmp_path, "some/image:tag")


def test_a_reference_that_the_engine_does_not_know_says_so(running) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ArgusicError, match="the engine has no image 'argusic/nowhere:none'"):
        describe(CHECKOUT, "argusic/nowhere:none")


def test_a_description_is_canonical_and_named_after_its_variant(tmp_path: Path) -> None:
    images = pools.images(CHECKOUT)
    assert "slim" in images
    for name, image in images.items():
        assert pools.image_path(CHECKOUT, name).read_bytes() == canonical(image)
    place = pools.image_path(tmp_path, "other")
    place.parent.mkdir(parents=True)
    place.write_bytes(canonical(published()))
    with pytest.raises(ArgusicError, match=r"other\.json: variant: must be 'other', the file's name"):
        pools.images(tmp_path)
