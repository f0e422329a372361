"""docs/environment.md: a function of pools/images and pools/limits.toml."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from archive import pools
from archive.canonical import canonical
from bot.render import render
from bot.render_environment import PAGE
from tests.support.make import CHECKOUT, make_root


def page(root: Path) -> str:
    return render(root)[PAGE].decode()


def test_without_an_image_the_page_says_so(tmp_path: Path) -> None:
    said = page(make_root(tmp_path, evidence=False))
    assert "No image was published yet." in said
    assert "This checkout does not say what a machine may use." in said


def test_each_package_stands_with_its_version(tmp_path: Path) -> None:
    make_root(tmp_path, evidence=False)
    shutil.copytree(CHECKOUT / "pools/images", tmp_path / "pools/images")
    shutil.copy(CHECKOUT / "pools/limits.toml", tmp_path / "pools/limits.toml")
    image = pools.images(tmp_path)["slim"]
    said = page(tmp_path)
    for name, version in (image.packages | image.tools).items():
        assert f"\n| `{name}` | `{version}` |\n" in said
    assert f"`{image.id}`" in said
    assert "| memory, without swap | 4 GiB |" in said
    assert "`, `" in said
    assert "[slim](#image-slim)" in said
    assert '<a id="image-slim"></a>' in said


def test_a_hostile_version_stays_text(tmp_path: Path) -> None:
    make_root(tmp_path, evidence=False)
    data = json.loads(pools.image_path(CHECKOUT, "slim").read_bytes())
    data["packages"] = {"a|b": "1` <script>\n# x"}
    place = pools.image_path(tmp_path, "slim")
    place.parent.mkdir(parents=True)
    place.write_bytes(canonical(data))
    assert "| `a`\\|`b` | ``1` <script> # x`` |" in page(tmp_path)
