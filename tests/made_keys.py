"""Private keys for tests, the same from the same chance: made when they are needed, none is stored."""

from __future__ import annotations

import random
from math import gcd

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x25519

_EXPONENT = 65537
_SMALL = [number for number in range(3, 2000, 2) if all(number % factor for factor in range(3, number, 2))]


def rsa_key(chance: random.Random, bits: int = 2048) -> rsa.RSAPrivateKey:
    """For tests only: its primes are as random as `chance`."""
    p, q = sorted((_prime(chance, bits // 2), _prime(chance, bits // 2)), reverse=True)
    d = pow(_EXPONENT, -1, (p - 1) * (q - 1) // gcd(p - 1, q - 1))
    public = rsa.RSAPublicNumbers(_EXPONENT, p * q)
    numbers = rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public)
    return numbers.private_key()


def ec_key(chance: random.Random, curve: ec.EllipticCurve) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(chance.getrandbits(curve.key_size - 1) | 1, curve)


def ed25519_key(chance: random.Random) -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.from_private_bytes(chance.randbytes(32))


def x25519_key(chance: random.Random) -> x25519.X25519PrivateKey:
    return x25519.X25519PrivateKey.from_private_bytes(chance.randbytes(32))


def _prime(chance: random.Random, bits: int) -> int:
    """A probable prime with its two highest bits set (Fermat to base 2, which is enough for what nobody uses)."""
    while True:
        number = chance.getrandbits(bits) | 3 << (bits - 2) | 1
        if all(number % small for small in _SMALL) and number % _EXPONENT != 1 and pow(2, number - 1, number) == 1:
            return number
