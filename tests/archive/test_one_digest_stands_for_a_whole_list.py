"""The tree hash of RFC 6962, held against the standard's own definition and its well-known test vectors."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as some

from archive.merkle import root

LEAVES = [bytes.fromhex(one) for one in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "digits"),
    [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
        (2, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
        (3, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
        (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
    ],
)
def test_the_vectors_of_certificate_transparency(count, digits):
    assert root(LEAVES[:count]) == f"sha256:{digits}"


def defined(leaves: list[bytes]) -> bytes:
    """The standard's definition, word for word."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return hashlib.sha256(b"\1" + defined(leaves[:half]) + defined(leaves[half:])).digest()


@given(some.lists(some.binary(max_size=4), min_size=1, max_size=70))
def test_any_number_of_entries_gives_the_standards_tree(leaves):
    assert root(leaves) == "sha256:" + defined(leaves).hex()
