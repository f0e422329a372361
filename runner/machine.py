"""What every machine of an attempt holds besides its system: tools, environment, the task."""

from __future__ import annotations

from pathlib import Path

from runner.sandbox import HOME, Limits, Mount, Sandbox, Spec

LIMITS = Limits()
BIN = Path(__file__).with_name("bin")
INSIDE = Path(__file__).with_name("inside")
INSTRUCTIONS = Path(__file__).with_name("instructions")
REPORT = f"{HOME}/report.json"
SESSION = f"{HOME}/session.jsonl"
CA_INSIDE = "/argusic/extra-ca.pem"
CA_VARIABLES = (
    *("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "NPM_CONFIG_CAFILE", "GIT_SSL_CAINFO"),
)


def spec(sandbox: Sandbox, mounts: tuple[Mount, ...], extra_ca: Path | None, limits: Limits = LIMITS) -> Spec:
    """A machine with `mounts` and the tools. Nothing of the runner's environment goes into it."""
    base = str(Path(sandbox.python).parent)
    # Before Node's own folder: the npm of the Node package does not start from there.
    path = ["/argusic/bin", "/opt/argusic/node/bin", base, "/usr/local/bin", "/usr/bin", "/bin"]
    env = {
        "HOME": HOME,
        "USER": "agent",
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "ARGUSIC_PYTHON": sandbox.python,
        "PATH": ":".join(dict.fromkeys(path)),
    }
    if extra_ca is not None:
        env |= dict.fromkeys(CA_VARIABLES, CA_INSIDE)
        mounts = (*mounts, Mount(extra_ca.resolve(), CA_INSIDE))
    return Spec((*mounts, Mount(BIN, "/argusic/bin"), *sandbox.tools()), env, limits)
