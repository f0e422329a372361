"""Whether this runner has a GPU that a machine could be given: looked at, never believed."""

from __future__ import annotations

from pathlib import Path

VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
"""PCI vendors whose render nodes compute; a display of a virtual machine has another one."""


def gpu_present(devices: Path = Path("/dev"), system: Path = Path("/sys")) -> bool:
    """A control device and a card of NVIDIA's driver, or a render node of a vendor whose GPUs compute."""
    cards = any(path.name.removeprefix("nvidia").isdigit() for path in devices.glob("nvidia*"))
    if cards and (devices / "nvidiactl").exists():
        return True
    return any(_vendor(system / "class/drm" / node.name) in VENDORS for node in devices.glob("dri/renderD*"))


def _vendor(node: Path) -> str:
    try:
        return (node / "device/vendor").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
