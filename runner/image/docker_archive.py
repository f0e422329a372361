"""An image as one file that every container engine loads, and whose id depends on its content alone."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from archive.image import ImageConfig

BLOCK = 512


class Layer(NamedTuple):
    """One layer of an archive."""

    said: str
    """What made it, for the image's history."""
    write: Callable[[IO[bytes]], None]
    """Writes its tar."""


class Written(NamedTuple):
    """An archive that was written."""

    id: str
    """Of the image: the digest of its configuration."""
    layers: tuple[str, ...]
    size_bytes: int
    """Of all layers."""


class _Measured(io.RawIOBase):
    """Passes bytes on, and knows their number and digest."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out, self.size, self.digest = out, 0, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.out.write(data)
        self.digest.update(data)
        self.size += len(data)
        return len(data)


def write_archive(
    out: IO[bytes], layers: list[Layer], config: ImageConfig, architecture: str, created: str, tag: str | None
) -> Written:
    """Writes the image of `layers` to `out`, which must be able to seek: a layer's digest and size, which stand before
    it, are known only after it. The name `tag` is a wish to the engine and no part of the image.
    """
    names, digests, total = [], [], 0
    for layer in layers:
        begin = out.tell()
        out.write(bytes(BLOCK))
        measured = _Measured(out)
        layer.write(measured)  # type: ignore[arg-type]
        out.write(bytes(-measured.size % BLOCK))
        end = out.tell()
        names.append(f"{measured.digest.hexdigest()}/layer.tar")
        digests.append(f"sha256:{measured.digest.hexdigest()}")
        total += measured.size
        out.seek(begin)
        out.write(_header(names[-1], measured.size))
        out.seek(end)
    configuration = _json(_configuration(layers, digests, config, architecture, created))
    image = hashlib.sha256(configuration).hexdigest()
    manifest = [{"Config": f"{image}.json", "Layers": names, "RepoTags": [tag] if tag else None}]
    for name, data in ((f"{image}.json", configuration), ("manifest.json", _json(manifest))):
        out.write(_header(name, len(data)) + data + bytes(-len(data) % BLOCK))
    out.write(bytes(2 * BLOCK))
    return Written(f"sha256:{image}", tuple(digests), total)


def _configuration(
    layers: list[Layer], digests: list[str], config: ImageConfig, architecture: str, created: str
) -> dict[str, Any]:
    return {
        "architecture": architecture,
        "config": {
            "Cmd": list(config.command),
            "Env": list(config.env),
            "Hostname": config.hostname,
            "User": config.user,
            "WorkingDir": config.folder,
        },
        "created": created,
        "history": [{"created": created, "created_by": layer.said} for layer in layers],
        "os": "linux",
        "rootfs": {"diff_ids": digests, "type": "layers"},
    }


def _header(name: str, size: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size = size
    # One block whatever the size: a place of its own was kept for it. Sizes above 8 GiB take GNU's binary form.
    return entry.tobuf(tarfile.GNU_FORMAT)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
