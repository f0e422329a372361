"""What is random and no credential is never withheld."""

from __future__ import annotations

import pytest

from archive.certificate import Certificate
from audit.cleanliness.check import check
from audit.cleanliness.known import Fragments
from audit.cleanliness.shapes import Shapes
from tests.cleanliness.decoys import Decoys
from tests.cleanliness.escapes import SECRETS


@pytest.mark.parametrize("seed", [1, 2])
def test_two_megabytes_of_ordinary_output_hold_nothing(seed: int) -> None:
    decoys = Decoys(seed)
    given = {"recording.cast": decoys.cast(1 << 19), "terminal.raw": decoys.text(1 << 19).encode()}
    proof = check(given, Fragments(SECRETS.values()), Shapes())
    assert isinstance(proof, Certificate), proof
    assert [one.name for one in proof.files] == ["recording.cast", "terminal.raw"]
    assert proof.files[0].undecodable > 0
