"""When a closed ledger existed at the latest, by somebody else's word: time stamps of its last line (RFC 3161).

What is stamped is the head of the ledger, so `openssl ts -verify -digest <its 64 digits> -in <n>.tsr -CAfile …` checks
the same without us. The authority's certificate is kept beside the answer; who doubts it brings another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from archive import atomic
from archive.canonical import canonical, digest
from archive.errors import ArgusicError, DataError
from archive.model import Digest, Instant, Model, Slug
from archive.pools import read_json
from archive.web import request, shown

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

MOST_BYTES = 256 << 10
"""Of an answer, and of a list of certificates."""
SHA256 = "2.16.840.1.101.3.4.2.1"


class Unproven(ArgusicError):
    """A time stamp that does not prove what it should; the message says why."""


class Stamp(Model):
    """results/stamps/<cycle>/<n>.json, beside the answer as it came, <n>.tsr. Written once."""

    schema_version: Literal[1]
    cycle: Slug
    head: Digest
    """Of the closed ledger: the digest of its last line."""
    at: Instant
    """The time that the authority states."""
    by: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    """Who signed, after RFC 4514."""
    tsa: Annotated[str, StringConstraints(pattern=r"^https?://", max_length=2000)]
    """Where it was asked for."""
    response: Digest
    """Of the answer."""
    authority: Annotated[str, StringConstraints(max_length=MOST_BYTES)]
    """Certificates in PEM under which the signature holds."""
    fingerprints: Annotated[tuple[Digest, ...], Field(min_length=1)]
    """SHA-256 of each of them, to compare with what the authority publishes."""


def folder(root: Path, cycle: str) -> Path:
    """Where the stamps of a cycle lie."""
    return root / "results/stamps" / cycle


def ask(url: str, line: bytes, authority: str) -> bytes:
    """The answer of the authority at `url` about `line`, checked under the certificates of `authority` (PEM).

    Raises Unreachable where it gives none, Unproven where that does not hold, DataError for certificates that are none.
    """
    from rfc3161_client import TimestampRequestBuilder
    from rfc3161_client.base import HashAlgorithm

    certificates(authority)
    asked = TimestampRequestBuilder().data(line).hash_algorithm(HashAlgorithm.SHA256).build()
    kinds = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}
    with request(url, method="POST", headers=kinds, body=asked.as_bytes(), most=MOST_BYTES) as answer:
        data = answer.read()
    try:
        check(data, digest(line), authority, asked.nonce)
    except Unproven as error:
        raise Unproven(f"{shown(url)}: the time stamp {error}") from None
    return data


def check(data: bytes, head: str, authority: str, nonce: int | None = None) -> tuple[str, str]:
    """Time and signer of the answer `data`, which stamps `head` under one of the certificates of `authority`.

    Raises Unproven, whose message goes on after "the time stamp", and DataError for certificates that are none.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.x509 import ExtensionNotFound, InvalidVersion
    from rfc3161_client import VerificationError, VerifierBuilder, decode_timestamp_response

    roots = certificates(authority)
    try:
        found = decode_timestamp_response(data)
        if found.status != 0:
            raise Unproven(f"was refused (status {found.status})")
        imprint = found.tst_info.message_imprint
        if imprint.hash_algorithm.dotted_string != SHA256 or imprint.message != bytes.fromhex(head[7:]):
            raise Unproven(f"is of other bytes than {head}")
        VerifierBuilder(roots=roots, nonce=nonce).build().verify(found, imprint.message)
        at = found.tst_info.gen_time.astimezone(UTC)
        return at.strftime("%Y-%m-%dT%H:%M:%SZ"), _signer(decode_timestamp_response(data))
    except VerificationError as error:
        raise Unproven(f"does not hold: {' '.join(str(error).split())[:300]}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm, ExtensionNotFound, InvalidVersion):
        raise Unproven("is not one: it cannot be read") from None


def keep(root: Path, cycle: str, line: bytes, url: str, authority: str, data: bytes) -> Path:
    """Writes an answer and what is said of it; where it lies. Raises as `check`."""
    head = digest(line)
    at, by = check(data, head, authority)
    stamp = Stamp(
        schema_version=1, cycle=cycle, head=head, at=at, by=by, tsa=shown(url), response=digest(data),
        authority=authority, fingerprints=fingerprints(authority),
    )  # fmt: skip
    number = 1
    while (path := folder(root, cycle) / f"{number}.json").exists():
        number += 1
    atomic.write(path.with_suffix(".tsr"), data)
    atomic.write(path, canonical(stamp))
    return path.with_suffix(".tsr")


def each(root: Path, cycle: str) -> Iterator[tuple[Path, Stamp]]:
    """The stamps of a cycle as they lie, unchecked, in order. Raises DataErrors where one cannot be read."""
    there = [path for path in folder(root, cycle).glob("*.json") if path.stem.isdecimal()]
    for path in sorted(there, key=lambda path: int(path.stem)):
        yield path, read_json(Stamp, path)


def certificates(authority: str) -> list[Certificate]:
    """The certificates of a PEM text. Raises DataError."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(authority.encode())
    except ValueError:
        raise DataError("authority", "", "holds no certificates; give a PEM file of the authority's own") from None


def fingerprints(authority: str) -> tuple[str, ...]:
    """SHA-256 of each certificate. Raises DataError."""
    from cryptography.hazmat.primitives.serialization import Encoding

    return tuple(digest(one.public_bytes(Encoding.DER)) for one in certificates(authority))


def _signer(found: Any) -> str:
    from cryptography import x509

    (info,) = found.signed_data.signer_infos
    for data in found.signed_data.certificates:
        one = x509.load_der_x509_certificate(data)
        if (one.issuer, one.serial_number) == (info.issuer, info.serial_number):
            return one.subject.rfc4514_string() or "a certificate without a name"
    raise Unproven("does not say who signed it")
