"""Small trees, small images, and what a real build needs."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from archive.errors import MachineError
from archive.image import ImageConfig
from runner.image import system
from runner.image.docker_archive import Layer, Written, write_archive
from runner.image.engine import Engine, engine
from runner.image.layer import write_layer

EPOCH = 1_700_000_000
CREATED = "2023-11-14T22:13:20Z"
LONG_AGO = 1_000_000_000
CONFIG = ImageConfig(user="1000:1000", folder="/", hostname="h", env=("A=1", "PATH=/bin"), command=("/bin/sh", "-c"))
STATUS = """\
Package: dpkg
Status: install ok installed
Architecture: amd64
Version: 1.21.22

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9
Description: one
 Version: of no meaning, a continued line

Package: libc6
Status: install ok installed
Architecture: i386
Version: 2.36-9

Package: tzdata
Status: install ok installed
Architecture: all
Version: 2025b
"""


def layer_of(tree: Path, since: float = EPOCH) -> bytes:
    out = io.BytesIO()
    write_layer(tree, out, EPOCH, since)
    return out.getvalue()


def entries(layer: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(layer), errors="surrogateescape") as tar:
        return {entry.name: entry for entry in tar}


@pytest.fixture
def image(tmp_path: Path) -> Callable[..., tuple[Path, Written]]:
    """Writes an archive with a dpkg status and a list of tools in it."""

    def make(
        name: str = "image.tar", status: str = STATUS, tools: str = '{"node": "24.0.0"}', config: ImageConfig = CONFIG
    ) -> tuple[Path, Written]:
        trees = [tmp_path / f"{name}.{part}" for part in ("system", "tools")]
        for tree, place, text in zip(
            trees, ("var/lib/dpkg/status", "opt/argusic/tools.json"), (status, tools), strict=True
        ):
            (tree / place).parent.mkdir(parents=True)
            (tree / place).write_text(text)
        layers = [Layer(tree.name, lambda file, tree=tree: write_layer(tree, file, EPOCH, 0)) for tree in trees]  # type: ignore[misc]
        with (tmp_path / name).open("wb") as file:
            return tmp_path / name, write_archive(file, layers, config, "amd64", CREATED, "argusic/test:odd")

    return make


@pytest.fixture(scope="session")
def running() -> object:
    """A container engine."""
    try:
        with engine() as found:
            yield found
    except MachineError as error:
        pytest.skip(f"no container engine here: {error}")


@pytest.fixture(scope="session")
def builder() -> None:
    """Whatever unpacking a system needs."""
    if reason := system.missing():
        pytest.skip(f"no image can be built here: {reason}")


__all__ = ["CONFIG", "CREATED", "EPOCH", "LONG_AGO", "Engine", "entries", "layer_of"]
