"""The archive: same content, same bytes, same id; whatever is in the tree comes out as it was."""

from __future__ import annotations

import hashlib
import io
import json
import os
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from archive.errors import MachineError
from runner.image.docker_archive import Layer, Written, write_archive
from tests.image.conftest import CONFIG, CREATED, EPOCH, LONG_AGO, entries, layer_of

Make = Callable[..., tuple[Path, Written]]


def plant(tree: Path, *, backwards: bool) -> Path:
    """One small tree, its files written in one order or the other, at times that differ."""
    files = {"b/two": b"2", "a": b"1", "b/one": b"11", "c/deep/er": b"111"}
    for name in sorted(files, reverse=backwards):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(files[name])
    (tree / "link").symlink_to("b/../a/.")
    for number, path in enumerate(tree.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o640)
            os.utime(path, (EPOCH + number, EPOCH + number + 500 * backwards))
    os.utime(tree / "a", (LONG_AGO, LONG_AGO))
    return tree


def test_two_trees_of_one_content_are_one_layer(tmp_path: Path) -> None:
    one, other = plant(tmp_path / "one", backwards=False), plant(tmp_path / "other", backwards=True)
    assert layer_of(one) == layer_of(other)
    (other / "a").chmod(0o600)
    os.utime(other / "a", (LONG_AGO, LONG_AGO))
    assert layer_of(one) != layer_of(other)


def test_a_file_of_a_package_keeps_its_time_and_what_the_build_wrote_has_the_fixed_one(tmp_path: Path) -> None:
    found = entries(layer_of(plant(tmp_path / "tree", backwards=False)))
    assert found["a"].mtime == LONG_AGO
    assert {name: found[name].mtime for name in ("b", "b/one", "c/deep/er")} == dict.fromkeys(
        ("b", "b/one", "c/deep/er"), EPOCH
    )
    assert list(found) == ["a", "b", "b/one", "b/two", "c", "c/deep", "c/deep/er", "link"]


def test_a_folder_has_the_fixed_time_however_old_it_is(tmp_path: Path) -> None:
    (tmp_path / "tree/old").mkdir(parents=True)
    os.utime(tmp_path / "tree/old", (LONG_AGO, LONG_AGO))
    assert entries(layer_of(tmp_path / "tree"))["old"].mtime == EPOCH


def test_owners_are_numbers_and_modes_are_kept(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/program").write_text("x")
    (tmp_path / "tree/program").chmod(0o4755)
    found = entries(layer_of(tmp_path / "tree"))["program"]
    assert (found.mode, found.uid, found.uname, found.gname) == (0o4755, os.getuid(), "", "")


HOSTILE = [
    b"line\nbreak",
    b"\xff\xfe not utf-8",
    "Főtanúsítvány.crt".encode(),
    b"-rf",
    b"..x",
    b"a\\b",
    b" ",
    b"n" * 255,
]


def test_any_name_that_a_file_system_takes_comes_back(tmp_path: Path) -> None:
    tree = os.fsencode(tmp_path / "tree")
    deep = b"/".join([b"d" * 200] * 3)
    os.makedirs(os.path.join(tree, deep))  # noqa: PTH103, PTH118
    for number, name in enumerate(HOSTILE):
        for folder in (tree, os.path.join(tree, deep)):  # noqa: PTH118
            with open(os.path.join(folder, name), "wb") as file:  # noqa: PTH118
                file.write(b"%d" % number)
    with tarfile.open(fileobj=io.BytesIO(layer_of(tmp_path / "tree")), errors="surrogateescape") as tar:
        for number, name in enumerate(HOSTILE):
            for path in (name, deep + b"/" + name):
                found = tar.extractfile(path.decode("utf-8", "surrogateescape"))
                assert found is not None
                assert found.read() == b"%d" % number


def test_links_stay_links_and_are_not_followed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "b").write_text("content")
    os.link(tree / "b", tree / "a")
    for name, target in {"loop": ".", "out": "/etc/passwd", "dangling": "nowhere/./", "long": "t" * 300}.items():
        (tree / name).symlink_to(target)
        os.symlink(target, tree / f"{name}-raw")  # noqa: PTH211 - a Path is another text
    found = entries(layer_of(tree))
    assert found["a"].isreg()
    assert (found["b"].islnk(), found["b"].linkname) == (True, "a")
    assert (found["loop"].linkname, found["out"].linkname) == (".", "/etc/passwd")
    assert (found["dangling-raw"].linkname, found["long"].linkname) == ("nowhere/./", "t" * 300)


def test_pipes_and_devices_are_kept_and_a_socket_is_refused(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    os.mkfifo(tree / "pipe")
    assert entries(layer_of(tree))["pipe"].isfifo()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tree / "s"))
        with pytest.raises(MachineError, match="a socket cannot be kept in an image"):
            layer_of(tree)
    (tree / "s").unlink()
    try:
        os.mknod(tree / "null", 0o20666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("devices cannot be made here: not root")
    device = entries(layer_of(tree))["null"]
    assert (device.ischr(), device.devmajor, device.devminor) == (True, 1, 3)


def test_the_id_is_the_digest_of_a_configuration_that_names_the_layers(image: Make) -> None:
    path, written = image()
    with tarfile.open(path) as tar:
        manifest = json.loads(tar.extractfile("manifest.json").read())[0]  # type: ignore[union-attr]
        config = tar.extractfile(manifest["Config"]).read()  # type: ignore[union-attr]
        layers = [tar.extractfile(name).read() for name in manifest["Layers"]]  # type: ignore[union-attr]
    assert written.id == f"sha256:{hashlib.sha256(config).hexdigest()}"
    assert manifest["RepoTags"] == ["argusic/test:odd"]
    digests = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in layers]
    assert json.loads(config)["rootfs"] == {"type": "layers", "diff_ids": digests}
    assert list(written.layers) == digests
    assert written.size_bytes == sum(map(len, layers))


def test_the_name_of_an_image_is_no_part_of_its_id(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    layers = [Layer("tree", lambda file: file.write(layer_of(tmp_path / "tree")))]
    ids = {write_archive(io.BytesIO(), layers, CONFIG, "amd64", CREATED, tag).id for tag in (None, "a:b", "c:d")}
    assert len(ids) == 1


def test_an_engine_takes_it_under_the_same_id(image: Make, running) -> None:  # type: ignore[no-untyped-def]
    path, written = image(tools=json.dumps({"node": "1", "only": str(os.getpid())}))
    running.load(path, written.id)
    try:
        assert running.inspect(written.id)["Config"]["User"] == "1000:1000"
        files = running.files(written.id, ["/opt/argusic/tools.json", "/nowhere"])
        assert json.loads(files["/opt/argusic/tools.json"])["only"] == str(os.getpid())
        assert files["/nowhere"] is None
    finally:
        running._client.images.remove(written.id, force=True)
