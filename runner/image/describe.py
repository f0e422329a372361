"""What an image holds, whichever way it is at hand: a published description, an archive, or an engine's own."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path
from typing import IO, Any, NamedTuple

from archive import pools
from archive.canonical import digest
from archive.errors import DataError
from archive.image import Image, ImageConfig
from runner.image import engine
from runner.image.listing import LISTED
from runner.image.system import packages

STATUS = "var/lib/dpkg/status"


class Described(NamedTuple):
    """One image."""

    id: str
    architecture: str
    size_bytes: int
    """Unpacked; an engine counts files where an archive counts its layers."""
    config: ImageConfig
    packages: dict[str, str]
    """Debian packages with their versions."""
    tools: dict[str, str]


def describe(root: Path, name: str) -> Described:
    """The image `name`: a file (archive or published description), a variant published in `root`, or an engine's
    reference or id. Raises DataErrors where a file is none of these, MachineError where no engine answers."""
    path = Path(name)
    if path.is_file():
        return of_archive(path) if tarfile.is_tarfile(path) else of_manifest(pools.read_json(Image, path))
    if path.suffix in (".json", ".tar"):
        raise DataError(path, "", "no such file")
    published = pools.image_path(root, name)
    if "/" not in name and published.is_file():
        return of_manifest(pools.read_json(Image, published))
    return of_engine(name)


def of_manifest(image: Image) -> Described:
    """As it is published."""
    return Described(image.id, image.architecture, image.size_bytes, image.config, image.packages, image.tools)


def of_engine(name: str) -> Described:
    """As the engine has it."""
    with engine.engine() as found:
        said = found.inspect(name)
        files = found.files(said["Id"], [f"/{STATUS}", f"/{LISTED}"])
    return _described(said["Id"], said["Architecture"], said["Size"], said["Config"], *files.values())


def of_archive(path: Path) -> Described:
    """As a docker-archive holds it; its digests are checked against its bytes."""
    try:
        with tarfile.open(path) as tar:
            manifest = json.loads(_member(tar, "manifest.json").read())
            if len(manifest) != 1:
                raise DataError(path, "manifest.json", f"describes {len(manifest)} images; one is read")
            data = _member(tar, manifest[0]["Config"]).read()
            config = json.loads(data)
            found: dict[str, bytes | None] = {STATUS: None, LISTED: None}
            size = 0
            for name, wanted in zip(manifest[0]["Layers"], config["rootfs"]["diff_ids"], strict=True):
                size += tar.getmember(name).size
                _check_layer(path, tar, name, wanted)
                with tarfile.open(fileobj=_member(tar, name), mode="r|*") as layer:
                    for entry in layer:
                        place = entry.name.removeprefix("./")
                        if place in found and (file := layer.extractfile(entry)):
                            found[place] = file.read()
            return _described(
                digest(data), config["architecture"], size, config["config"], found[STATUS], found[LISTED]
            )
    except (KeyError, TypeError, ValueError, tarfile.TarError) as error:
        raise DataError(
            path, "", f"is no image archive as `docker save` and `argusic image build` write it: {error!r}"
        ) from None


def _check_layer(path: Path, tar: tarfile.TarFile, name: str, wanted: str) -> None:
    found = f"sha256:{hashlib.file_digest(_member(tar, name), 'sha256').hexdigest()}"  # type: ignore[arg-type]
    if found != wanted:
        raise DataError(path, name, f"its bytes have the digest {found}, the image says {wanted}: the file is damaged")


def _member(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    found = tar.extractfile(name)
    if found is None:
        raise KeyError(name)
    return found


def _described(
    image: str, architecture: str, size: int, config: dict[str, Any], status: bytes | None, listed: bytes | None
) -> Described:
    said = ImageConfig(
        user=config.get("User") or "",
        folder=config.get("WorkingDir") or "",
        hostname=config.get("Hostname") or "",
        env=tuple(config.get("Env") or ()),
        command=tuple(config.get("Cmd") or ()),
    )
    tools = json.loads(listed) if listed else {}
    return Described(image, architecture, size, said, packages((status or b"").decode(errors="replace")), tools)
