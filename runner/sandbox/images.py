"""The images of our machines in an engine: which are ours, and which of them may go when the disk runs short."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from docker.errors import APIError

from runner.sandbox.engine import told

NAME = "argusic/machine"
SHORT = 12
"""Each image that was built here is also called by so many digits of its id, whatever build takes its name later."""
_BUILD = re.compile(rf"{NAME}:[0-9a-f]{{{SHORT}}}")


def spare(images: Sequence[Mapping[str, Any]], keep: Collection[str]) -> list[str]:
    """Ids of our older builds, as the engine lists `images`: no name but the one by their id, and not in `keep`.

    An image with any other name is somebody's, or the current build of a variant.
    """
    found = []
    for image in images:
        names = [name for name in image.get("RepoTags") or () if name != "<none>:<none>"]
        if names and all(_BUILD.fullmatch(name) for name in names) and image["Id"] not in keep:
            found.append(str(image["Id"]))
    return found


def prune(engine: Any, keep: Collection[str]) -> list[str]:
    """Removes our older builds; what was removed, in words. One that a container still uses stays."""
    removed = []
    with told("older images could not be removed"):
        images = engine.images(name=NAME)
        sizes = {image["Id"]: image["Size"] for image in images}
        for one in spare(images, keep):
            # In use, or being removed by somebody else: then the engine refuses, and that is fine.
            with contextlib.suppress(APIError):
                engine.remove_image(one, force=False, noprune=False)
                removed.append(f"image {one.partition(':')[2][:SHORT]}, {sizes[one] // 1_000_000} MB")
    return removed
