"""Zstandard where it helps, named by the plain bytes; a bomb, a cut, another object: one refusal, nothing written."""

from __future__ import annotations

import io
import os
import random
from pathlib import Path

import pytest
import zstandard

from archive.canonical import digest
from archive.packing import Damaged, unpack
from archive.store import FolderStore

TEXT = b"the same line again and again\r\n" * 1000


def put(folder: Path, content: bytes) -> tuple[FolderStore, str]:
    (folder / "source").write_bytes(content)
    store = FolderStore(folder / "store")
    return store, store.put(folder / "source")


def test_what_shrinks_lies_packed_under_the_digest_of_its_plain_bytes(tmp_path: Path) -> None:
    store, name = put(tmp_path, TEXT)
    assert name == digest(TEXT)
    assert store.path(name) == tmp_path / "store/sha256" / name[7:9] / f"{name[7:]}.zst"
    assert store.path(name).stat().st_size < len(TEXT) // 10
    assert store.read(name) == TEXT
    assert store.fetch(name, tmp_path / "out", len(TEXT))
    assert (tmp_path / "out").read_bytes() == TEXT


@pytest.mark.parametrize("content", [b"", b"a" * 4095, random.Random(1).randbytes(5000)])
def test_what_is_small_or_does_not_shrink_lies_as_it_is(tmp_path: Path, content: bytes) -> None:
    store, name = put(tmp_path, content)
    assert store.path(name).suffix == ""
    assert store.path(name).read_bytes() == store.read(name) == content


def test_a_plain_object_of_an_older_store_is_read_and_not_kept_twice(tmp_path: Path) -> None:
    name = digest(TEXT)
    old = tmp_path / "store/sha256" / name[7:9] / name[7:]
    old.parent.mkdir(parents=True)
    old.write_bytes(TEXT)
    store, _ = put(tmp_path, TEXT)
    assert store.read(name) == TEXT
    assert [path.name for path in old.parent.iterdir()] == [name[7:]]


@pytest.mark.parametrize("plain", [True, False])
def test_a_damaged_object_is_replaced_however_it_lay(tmp_path: Path, plain: bool) -> None:
    store, name = put(tmp_path, TEXT)
    packed = store.path(name)
    packed.write_bytes(packed.read_bytes()[:-9])
    if plain:
        packed.rename(packed.with_suffix(""))
    store.put(tmp_path / "source")
    assert store.read(name) == TEXT
    assert [path.name for path in packed.parent.iterdir()] == [packed.name]


def test_a_bomb_stops_at_the_size_that_is_expected(tmp_path: Path) -> None:
    bomb = zstandard.ZstdCompressor(level=19).compress(bytes(500 << 20))
    written = io.BytesIO()
    with pytest.raises(Damaged, match="larger than 1000 bytes"):
        unpack(io.BytesIO(bomb), written, digest(b"x"), 1000, packed=True)
    assert len(written.getvalue()) <= 1000


def test_a_window_that_takes_much_memory_is_refused() -> None:
    wide = zstandard.ZstdCompressionParameters(window_log=27, compression_level=3)
    data = os.urandom(1000) * 20_000
    with pytest.raises(Damaged, match="not whole zstandard"):
        unpack(
            io.BytesIO(zstandard.ZstdCompressor(compression_params=wide).compress(data)),
            None, digest(data), len(data), packed=True,
        )  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [lambda d: d[:-1], lambda d: b"", lambda d: b"no frame at all", lambda d: d[:40] + b"\xff\xff\xff" + d[43:]],
)
def test_damaged_data_is_one_refusal_and_leaves_no_file(tmp_path: Path, change) -> None:
    store, name = put(tmp_path, TEXT + random.Random(2).randbytes(9000))
    path = store.path(name)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(Damaged):
        store.fetch(name, tmp_path / "out/file", 1 << 20)
    assert list((tmp_path / "out").iterdir()) == []


def test_another_object_under_the_name_is_refused(tmp_path: Path) -> None:
    store, name = put(tmp_path, TEXT)
    _, other = put(tmp_path, TEXT + b".")
    store.path(other).replace(store.path(name))
    with pytest.raises(Damaged, match=digest(TEXT + b".")):
        store.read(name)
