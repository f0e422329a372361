"""Forty megabytes of ordinary output: one false alarm in them would be one in many attempts."""

from __future__ import annotations

import pytest

from archive.certificate import Certificate
from audit.cleanliness.check import check
from audit.cleanliness.known import Fragments
from audit.cleanliness.shapes import Shapes
from tests.cleanliness.decoys import Decoys
from tests.cleanliness.escapes import SECRETS

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("seed", range(10, 18))
def test_ordinary_output_holds_nothing(seed: int) -> None:
    proof = check({"recording.cast": Decoys(seed).cast(5 << 20)}, Fragments(SECRETS.values()), Shapes())
    assert isinstance(proof, Certificate), proof
