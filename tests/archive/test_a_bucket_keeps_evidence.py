"""Evidence in a bucket, on a real server that speaks S3: sent once, read back, damaged, missing, not there."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from archive.errors import ArgusicError, DataError
from archive.packing import Damaged
from archive.s3 import S3Store
from archive.store import file_digest
from archive.web import Unreachable


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while True:
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                break
        assert server.poll() is None
        assert time.monotonic() < until, "the server did not answer within a minute"
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    server.kill()
    server.wait()


@pytest.fixture
def client(endpoint, monkeypatch):
    for name, value in (("ACCESS_KEY_ID", "test"), ("SECRET_ACCESS_KEY", "test"), ("DEFAULT_REGION", "us-east-1")):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return boto3.client("s3", endpoint_url=endpoint)


@pytest.fixture
def store(client, endpoint, request):
    bucket = f"evidence-{abs(hash(request.node.name))}-{os.getpid()}"
    client.create_bucket(Bucket=bucket)
    return S3Store.at(f"s3://{bucket}/kept?endpoint={endpoint}")


def objects(client, store) -> list[str]:
    return [one["Key"] for one in client.list_objects_v2(Bucket=store.bucket).get("Contents", [])]


def written(folder: Path, data: bytes) -> Path:
    (folder / "source").write_bytes(data)
    return folder / "source"


@pytest.mark.parametrize("data", [b"", b"short", b"a line of a log\n" * 40_000, os.urandom(200_000)])
def test_what_was_put_comes_back_the_same(store, tmp_path, data):
    source = written(tmp_path, data)
    digest = store.put(source)
    assert digest == file_digest(source)
    assert store.has(digest)
    assert store.fetch(digest, tmp_path / "back", len(data))
    assert (tmp_path / "back").read_bytes() == data


def test_a_large_file_is_sent_in_parts_and_comes_back_the_same(store, client, tmp_path):
    data = os.urandom(20 << 20)
    digest = store.put(written(tmp_path, data))
    (name,) = objects(client, store)
    parts = client.head_object(Bucket=store.bucket, Key=name)["ETag"].strip('"').rpartition("-")[2]
    assert int(parts) > 1
    assert store.fetch(digest, tmp_path / "back", len(data))
    assert (tmp_path / "back").read_bytes() == data


def test_a_second_time_nothing_is_sent(store, client, tmp_path):
    source = written(tmp_path, b"a line of a log\n" * 1000)
    digest = store.put(source)
    (name,) = objects(client, store)
    before = client.head_object(Bucket=store.bucket, Key=name)["LastModified"]
    time.sleep(1.1)
    assert store.put(source) == digest
    assert objects(client, store) == [name]
    assert client.head_object(Bucket=store.bucket, Key=name)["LastModified"] == before


def test_what_is_not_there_is_said_to_be_missing(store, tmp_path):
    digest = "sha256:" + "0" * 64
    assert not store.has(digest)
    assert not store.fetch(digest, tmp_path / "back", 100)
    assert not (tmp_path / "back").exists()


def test_what_was_exchanged_in_the_bucket_is_refused_and_nothing_is_left(store, client, tmp_path):
    digest = store.put(written(tmp_path, b"short"))
    (name,) = objects(client, store)
    client.put_object(Bucket=store.bucket, Key=name, Body=b"other")
    with pytest.raises(Damaged):
        store.fetch(digest, tmp_path / "back", 100)
    assert not (tmp_path / "back").exists()


def test_a_bucket_or_a_server_that_is_not_there_is_one_message(client, endpoint, tmp_path):
    with pytest.raises(ArgusicError, match="nowhere"):
        S3Store.at(f"s3://nowhere/kept?endpoint={endpoint}").put(written(tmp_path, b"short"))
    with pytest.raises(Unreachable):
        S3Store.at("s3://nowhere/kept?endpoint=http://127.0.0.1:9").has("sha256:" + "0" * 64)


@pytest.mark.parametrize("text", ["s3://", "s3://A_B/x", "s3://bucket/x?other=1", "s3://bucket/x?endpoint=file:///etc"])
def test_what_is_no_address_of_a_bucket_says_what_would_be(text):
    with pytest.raises(DataError, match="write s3://bucket/prefix"):
        S3Store.at(text)
