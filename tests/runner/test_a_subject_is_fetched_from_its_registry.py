"""Real registries, by their own clients, in a machine. Without a network these are skipped and say so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from archive.reasons import Reason
from archive.subject import Subject
from runner.sources import FetchFailed, source
from runner.sources import registry as registry_module

pytestmark = [pytest.mark.sandbox, pytest.mark.network]


def subject(purl: str) -> Subject:
    return Subject(id=purl, source_type="package", tier="standard", licence="MIT", why="a test")


@pytest.fixture(params=["bubblewrap", "docker"])
def sandbox(request, sandboxes):
    return sandboxes(request.param)


@pytest.fixture
def extra_ca() -> Path | None:
    """The authority that whoever runs the tests named for machines."""
    named = os.environ.get("ARGUSIC_EXTRA_CA")
    return Path(named) if named else None


@pytest.fixture
def fetch(sandbox, extra_ca, tmp_path):
    def one(purl: str):
        try:
            return source("package").fetch(subject(purl), sandbox, extra_ca, tmp_path)
        except FetchFailed as error:
            if error.reason is Reason.INFRA_NETWORK:
                pytest.skip(f"no package registry can be reached: {error}")
            raise

    return one


def test_a_wheel_gives_its_readme_size_and_digest(fetch):
    brief = fetch("pkg:pypi/six@1.17.0")
    assert (brief.ecosystem, brief.name, brief.version) == ("pypi", "six", "1.17.0")
    assert b"Python 2 and 3" in brief.readme
    (file,) = brief.fetched
    assert file.name == "six-1.17.0-py2.py3-none-any.whl"
    assert file.digest == "sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274"


def test_an_npm_package_gives_its_readme(fetch):
    brief = fetch("pkg:npm/is-number@7.0.0")
    assert brief.name == "is-number"
    assert b"is-number" in brief.readme
    assert brief.fetched[0].name == "is-number-7.0.0.tgz"


@pytest.mark.parametrize("purl", ["pkg:pypi/six@0.0.999", "pkg:npm/is-number@0.0.999"])
def test_a_version_that_no_registry_serves_is_said_to_be_unavailable(fetch, purl):
    with pytest.raises(FetchFailed) as error:
        fetch(purl)
    assert error.value.reason is Reason.INFRA_SUBJECT_UNAVAILABLE


@pytest.mark.parametrize("purl", ["pkg:pypi/six@1.17.0", "pkg:npm/is-number@7.0.0"])
def test_without_a_network_the_reason_is_the_network(sandbox, monkeypatch, tmp_path, purl):
    real = registry_module.spec
    monkeypatch.setattr(registry_module, "spec", lambda *given: real(*given)._replace(network="none"))
    monkeypatch.setattr(registry_module, "TRIES", 1)
    with pytest.raises(FetchFailed) as error:
        source("package").fetch(subject(purl), sandbox, None, tmp_path)
    assert error.value.reason is Reason.INFRA_NETWORK
    assert not source("package").reachable(subject(purl), sandbox, None)
