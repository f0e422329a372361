"""A GPU is there when a machine could use it, and not when something is only called so."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.gpu import gpu_present


@pytest.fixture
def computer(tmp_path: Path):
    def one(*devices: str, **vendors: str) -> tuple[Path, Path]:
        for name in devices:
            path = tmp_path / "dev" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        for node, vendor in vendors.items():
            path = tmp_path / "sys/class/drm" / node / "device/vendor"
            path.parent.mkdir(parents=True)
            path.write_text(f"{vendor}\n")
        return tmp_path / "dev", tmp_path / "sys"

    return one


def test_a_card_of_nvidias_driver_is_a_gpu(computer):
    assert gpu_present(*computer("nvidiactl", "nvidia0"))


@pytest.mark.parametrize("vendor", ["0x10de", "0x1002", "0x8086"])
def test_a_render_node_of_a_known_vendor_is_a_gpu(computer, vendor):
    assert gpu_present(*computer("dri/renderD128", renderD128=vendor))


@pytest.mark.parametrize("devices", [(), ("nvidia0",), ("nvidiactl",), ("nvidiactl", "nvidia-caps")])
def test_half_a_driver_is_none(computer, devices):
    assert not gpu_present(*computer(*devices))


def test_the_display_of_a_virtual_machine_is_none(computer):
    assert not gpu_present(*computer("dri/renderD128", "dri/card0", renderD128="0x1af4"))


def test_a_node_whose_vendor_cannot_be_read_is_none(computer):
    assert not gpu_present(*computer("dri/renderD128"))
