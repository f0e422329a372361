"""A store in a bucket of any S3: the layout of a folder store below a prefix."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from archive.errors import DataError
from archive.packing import PACKED, WORTH_BYTES, Damaged, object_name, pack, unpack, whole
from archive.store import file_digest
from archive.web import Unreachable

ABSENT = ("404", "NoSuchKey", "NotFound")
FORM = "is no bucket; write s3://bucket/prefix or s3://bucket/prefix?endpoint=https://…"


class S3Store:
    """<prefix>/sha256/<xx>/<64 digits>[.zst]."""

    def __init__(self, bucket: str, prefix: str, endpoint: str | None) -> None:
        """`endpoint` is the address of the service; None is the usual one. Keys come from where the library looks."""
        self.bucket, self.prefix, self.endpoint = bucket, prefix.strip("/"), endpoint
        self.where = f"s3://{bucket}" + (f"/{self.prefix}" if self.prefix else "")
        self._client: Any = None

    @classmethod
    def at(cls, text: str) -> S3Store:
        """The store of an address such as s3://bucket/prefix?endpoint=https://host. Raises DataError."""
        parts = urlsplit(text)
        query = parse_qs(parts.query, keep_blank_values=True)
        endpoint = query.pop("endpoint", [None])[0]
        good = re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", parts.netloc) and not query and not parts.fragment
        if not good or (endpoint is not None and not re.match(r"https?://[^/?#]+", endpoint)):
            raise DataError(text, "", FORM)
        return cls(parts.netloc, unquote(parts.path), endpoint)

    def put(self, source: Path) -> str:
        """As `Store.put`; what was sent is read back, and removed again where it came back otherwise."""
        digest, size = file_digest(source), source.stat().st_size
        if self.has(digest):
            return digest
        with tempfile.TemporaryDirectory(prefix="argusic-") as folder, self._failing():
            packed = Path(folder) / "packed"
            ending = PACKED if pack(source, packed) else ""
            key = self._key(digest) + ending
            self._made().upload_file(str(packed if ending else source), self.bucket, key)
            try:
                self._read(key, None, digest, size)
            except Damaged as error:
                self._made().delete_object(Bucket=self.bucket, Key=key)
                raise Damaged(f"{self.where}: {digest} came back otherwise than it was sent: {error}") from None
        return digest

    def has(self, digest: str) -> bool:
        """As `Store.has`."""
        return any(self._there(self._key(digest) + ending) for ending in (PACKED, ""))

    def fetch(self, digest: str, target: Path, most: int) -> bool:
        """As `Store.fetch`."""
        for ending in ("", PACKED) if most < WORTH_BYTES else (PACKED, ""):
            if self._read(self._key(digest) + ending, target, digest, most):
                return True
        return False

    def _read(self, key: str, target: Path | None, digest: str, most: int) -> bool:
        with self._failing():
            try:
                body = self._made().get_object(Bucket=self.bucket, Key=key)["Body"]
            except self._made().exceptions.ClientError as error:
                if _code(error) in ABSENT:
                    return False
                raise
            with contextlib.closing(body), whole(target) if target else contextlib.nullcontext() as write:
                unpack(body, write, digest, most, packed=key.endswith(PACKED))
            return True

    def _there(self, key: str) -> bool:
        with self._failing():
            try:
                self._made().head_object(Bucket=self.bucket, Key=key)
            except self._made().exceptions.ClientError as error:
                if _code(error) in ABSENT:
                    return False
                raise
            return True

    def _key(self, digest: str) -> str:
        return f"{self.prefix}/{object_name(digest)}".lstrip("/")

    def _made(self) -> Any:
        """The client: with the keys that the library finds, without any where it finds none (a public bucket)."""
        if self._client is None:
            import boto3
            from botocore import UNSIGNED
            from botocore.config import Config

            session = boto3.session.Session()
            signed: dict[str, Any] = {} if session.get_credentials() else {"signature_version": UNSIGNED}
            config = Config(
                connect_timeout=20, read_timeout=60, retries={"max_attempts": 4, "mode": "standard"},
                s3={"addressing_style": "path"} if self.endpoint else None, **signed,
            )  # fmt: skip
            region = session.region_name or "us-east-1"
            self._client = session.client("s3", endpoint_url=self.endpoint, config=config, region_name=region)
        return self._client

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Turns the library's errors into one message."""
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

        try:
            yield
        except (BotoCoreError, Boto3Error, ClientError, HTTPClientError) as error:
            raise Unreachable(f"{self.where}: {' '.join(str(error).split())[:300]}") from None


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
