"""Commands of the published environment: image build, image show, image diff."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from archive import atomic, pools
from archive.canonical import canonical
from archive.errors import ArgusicError, MachineError

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
"""What engines call the images, followed by the variant."""


def image_build(
    ctx: typer.Context,
    variant: Annotated[str, typer.Option(help="full, slim or desktop; see runner/image/variants.toml.")] = "full",
    out: Annotated[Path | None, typer.Option(help="Keep the image as this archive, for `docker load`.")] = None,
    no_load: Annotated[bool, typer.Option("--no-load", help="Do not give it to a container engine.")] = False,
    tag: Annotated[
        str | None, typer.Option(help="What the engine shall call it.", show_default="argusic/machine:VARIANT")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build an image of the disposable machine, load it, and publish what is in it in pools/images."""
    from runner.image.build import build
    from runner.image.engine import engine
    from runner.image.recipe import recipe
    from runner.sandbox.images import NAME

    recipe()[0].lineage(variant)  # A name that does not exist is named first.
    root: Path = ctx.obj
    tag = tag or f"{NAME}:{variant}"

    def loads(archive: Path, image: str) -> None:
        with engine() as found:
            found.load(archive, image)

    loading = not no_load
    if loading:
        # Asked before the minutes of a build, not after them.
        try:
            with engine():
                pass
        except MachineError as error:
            if out is None:
                raise MachineError(f"{error}; or keep the image as a file: --out FILE.tar") from None
            loading = False
            typer.echo(f"note: {error}; the image is only written to {out}", err=True)
    made = build(variant, tag, out, loads if loading else None, lambda said: typer.echo(said, err=True))
    path = pools.image_path(root, variant)
    changed = atomic.write_if_new(path, canonical(made))
    if as_json:
        print(json.dumps({"id": made.id, "manifest": str(path), "changed": changed, "tag": tag if loading else None}))
        return
    print(f"{tag if loading else variant}  {made.id}")
    print(f"{len(made.packages)} packages, {len(made.tools)} tools, {made.size_bytes // 1_000_000} MB")
    if out is not None:
        print(f"archive   {out}")
    print(f"published {path.relative_to(root)}{'' if changed else ' (as it was)'}")
    if changed:
        print("the page that shows it: argusic pages build")


def image_show(
    ctx: typer.Context,
    image: Annotated[str, typer.Argument(help="Variant, archive, manifest, or an engine's reference or id.")] = "full",
    as_json: AsJson = False,
) -> None:
    """Say what IMAGE is and what is in it."""
    from runner.image.describe import describe

    found = describe(ctx.obj, image)
    if as_json:
        print(json.dumps(found._asdict() | {"config": found.config.model_dump(mode="json")}, sort_keys=True))
        return
    print(f"id            {found.id}")
    print(f"architecture  {found.architecture}")
    print(f"size          {found.size_bytes // 1_000_000} MB")
    print(f"user          {found.config.user or 'root'}, in {found.config.folder or '/'}")
    for entry in found.config.env:
        print(f"environment   {entry}")
    for title, versions in (("tools", found.tools), ("packages", found.packages)):
        print(f"\n{len(versions)} {title}")
        for name, version in sorted(versions.items()):
            print(f"  {name}  {version}")


def image_diff(
    ctx: typer.Context,
    a: Annotated[str, typer.Argument(help="Variant, archive, manifest, or an engine's reference or id.")],
    b: Annotated[str, typer.Argument(help="The other one.")],
    as_json: AsJson = False,
) -> None:
    """Say what is different from image A to image B; exit 1 where something is."""
    from runner.image.describe import describe
    from runner.image.diff import changes

    before, after = describe(ctx.obj, a), describe(ctx.obj, b)
    found = changes(before, after)
    same = before.id == after.id
    if same and found:
        raise ArgusicError(f"{a} and {b} have one id and not one content; one of them is not what it says")
    if as_json:
        listed = [change._asdict() for change in found]
        print(json.dumps({"same": same, "ids": [before.id, after.id], "changes": listed}, sort_keys=True))
    elif same:
        print(f"the same image: {before.id}")
    else:
        for change in found:
            print(change)
        print(f"{len(found)} differences; {before.id} → {after.id}")
        if not found:
            print("packages, tools and configuration are the same, the bytes of files are not")
    if not same:
        raise typer.Exit(1)
