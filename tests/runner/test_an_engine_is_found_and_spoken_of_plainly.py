"""The container engine: where it is looked for, and what is said when it is not there, too old or cannot be used."""

from __future__ import annotations

import hashlib
import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from docker.errors import APIError

from archive.errors import MachineError
from runner.sandbox.bubblewrap import Bubblewrap
from runner.sandbox.choose import Kind, choose
from runner.sandbox.container import Docker
from runner.sandbox.engine import connect, told


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, object]], None]]:
    """Makes DOCKER_HOST a socket on which something answers every question with the same JSON."""
    servers = []

    def answer(said: dict[str, object]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                data = json.dumps(said).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

            def address_string(self) -> str:
                return ""

        server = socketserver.ThreadingUnixStreamServer(str(tmp_path / "engine.sock"), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")

    yield answer
    for server in servers:
        server.shutdown()
        server.server_close()


def test_an_engine_older_than_docker_20_10_is_refused_with_its_version(engine):
    engine({"ApiVersion": "1.40", "Version": "19.03.15"})
    with pytest.raises(MachineError, match=r"too old \(API 1\.40\): Docker 20\.10 or newer"):
        connect()


def test_where_nothing_listens_the_message_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(MachineError, match="no engine listens there: install and start one, or set DOCKER_HOST"):
        connect()


def test_an_exhausted_address_pool_is_named_with_what_to_do():
    """Named after harnesses that counted it as the agent's failure."""
    said = "could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network"
    with pytest.raises(MachineError, match="its address pools are used up: docker network prune"), told("no machine"):
        raise APIError("500 Server Error", explanation=said)


def test_a_host_that_makes_no_sense_is_no_crash(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "nonsense://x")
    with pytest.raises(MachineError, match="no container engine can be reached"):
        connect()


def test_a_context_that_does_not_exist_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONTEXT", "elsewhere")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with pytest.raises(MachineError, match="elsewhere"):
        connect()


def test_a_context_leads_to_its_engine(engine, monkeypatch, tmp_path):
    engine({"ApiVersion": "1.39"})
    place = tmp_path / "contexts/meta" / hashlib.sha256(b"elsewhere").hexdigest()
    place.mkdir(parents=True)
    endpoint = {"docker": {"Host": f"unix://{tmp_path}/engine.sock", "SkipTLSVerify": False}}
    (place / "meta.json").write_text(json.dumps({"Name": "elsewhere", "Metadata": {}, "Endpoints": endpoint}))
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setenv("DOCKER_CONTEXT", "elsewhere")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with pytest.raises(MachineError, match=r"too old \(API 1\.39\)"):
        connect()


def test_auto_takes_bubblewrap_where_no_engine_answers_and_says_why(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    chosen = choose(Kind.AUTO, tmp_path)
    assert isinstance(chosen.sandbox, Bubblewrap)
    assert chosen.why.startswith("bubblewrap: no container engine can be reached")
    with pytest.raises(MachineError, match="no container engine"):
        choose(Kind.DOCKER, tmp_path)
    assert choose(Kind.BUBBLEWRAP, tmp_path).why == "bubblewrap: asked for"


def test_an_image_that_the_engine_does_not_have_is_named_with_what_makes_it(sandboxes, tmp_path):
    sandboxes("docker")
    with pytest.raises(MachineError, match=r"no image argusic/machine:none; build it: argusic image build"):
        Docker(tmp_path, "argusic/machine:none")
    assert choose(Kind.AUTO, tmp_path, "argusic/machine:none").why.startswith("bubblewrap: the engine has no image")


def test_auto_takes_docker_where_an_engine_answers(sandboxes, tmp_path):
    sandboxes("docker")
    chosen = choose(Kind.AUTO, tmp_path)
    assert isinstance(chosen.sandbox, Docker)
    assert chosen.sandbox.image.startswith("sha256:")
    assert chosen.why == "docker: an engine answers and has argusic/machine:slim"
