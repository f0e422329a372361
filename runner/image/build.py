"""Building an image: system, tools, archive, and its published description."""

from __future__ import annotations

import errno
import functools
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from archive import atomic
from archive.errors import DataError, MachineError
from archive.image import Image, ImageConfig, Inputs
from archive.model import read_model
from runner.image import listing, system, tools
from runner.image.docker_archive import Layer, write_archive
from runner.image.layer import write_layer
from runner.image.recipe import client, recipe
from runner.image.workplace import workplace
from runner.sandbox import HOME, PROJECT

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"
CLOCK_GRAIN = 2
"""Seconds by which a file system's time may be behind this program's."""
CONFIG = ImageConfig(
    user=f"{system.USER}:{system.USER}",
    folder=PROJECT,
    hostname=system.HOSTNAME,
    env=(f"HOME={HOME}", "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", "USER=agent"),
    command=("/bin/bash",),
)


def build(
    variant: str,
    tag: str,
    out: Path | None,
    loads: Callable[[Path, str], None] | None,
    tell: Callable[[str], None] = lambda said: None,
) -> Image:
    """Builds `variant`. The archive is kept as `out`, whole or not at all, after `loads` has taken it (file, id).

    Raises MachineError where this computer lacks something, DataError where the recipe or `out` is wrong.
    """
    found, of_recipe = recipe()
    names = found.lineage(variant)
    wanted = client(found.client, CONSTRAINTS)
    reason = system.missing()
    if reason:
        raise MachineError(reason)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise DataError(out, "--out", "must be a file in a folder that there is")
    architecture, mmdebstrap = system.architecture(), system.version()
    since = time.time() - CLOCK_GRAIN
    with workplace(found.variant[variant].megabytes) as place:
        tell(f"system: {found.suite}, {len(found.packages(variant))} packages and what they need")
        system.unpack(found, variant, place / "system", place)
        tell("tools: Node and the MCP client, by their hashes")
        (place / "tools").mkdir()
        tools.install(wanted, found.python, architecture, place / "tools", place)
        tools.compile_python(place / "tools", place / "system")
        tell("archive")
        layers = [
            Layer(
                f"argusic image build: {said}",
                functools.partial(_layer, place / folder, epoch=found.epoch, since=since),
            )
            for folder, said in (("system", f"{found.suite} {' '.join(names)}"), ("tools", "/opt/argusic"))
        ]
        with _kept(out or place / "image.tar") as (file, path):
            written = write_archive(file, layers, CONFIG, architecture, found.created, tag)
            file.flush()
            os.fsync(file.fileno())
            if loads is not None:
                tell("engine: loading")
                loads(path, written.id)
        status = (place / "system/var/lib/dpkg/status").read_text()
        described = {
            "schema_version": 1,
            "variant": variant,
            "about": found.variant[variant].about,
            "id": written.id,
            "suite": found.suite,
            "architecture": architecture,
            "created": found.created,
            "size_bytes": written.size_bytes,
            "layers": written.layers,
            "config": CONFIG.model_dump(mode="json"),
            "packages": system.packages(status),
            "tools": listing.versions(place / "tools"),
            "inputs": Inputs(recipe=of_recipe, client=wanted.digest, mmdebstrap=mmdebstrap).model_dump(mode="json"),
        }
    return read_model(Image, described, f"{variant}.json")


def _layer(tree: Path, file: IO[bytes], epoch: int, since: float) -> None:
    write_layer(tree, file, epoch, since)


@contextmanager
def _kept(path: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A new file and its temporary name; it becomes `path` where all went well, and is gone where not."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with temporary.open("xb") as file:
            yield file, temporary
        temporary.rename(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise MachineError(f"the disk is full at {path.parent}: the archive of the image does not fit") from None
        raise
    atomic.sync_folder(path.parent)
