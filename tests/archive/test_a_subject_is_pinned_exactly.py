"""A pool names exact, immutable versions, compared in each type's own normal form (MEASUREMENT §3)."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive import purl

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SHA256 = "sha256:" + "a1" * 32
FILE = f"download_url=https://example.org/x-1.0.tar.gz&checksum={SHA256}"


@pytest.mark.parametrize(
    ("text", "kind", "full_name", "version"),
    [
        (f"pkg:github/owner/name@{COMMIT}", "github", "owner/name", COMMIT),
        ("pkg:pypi/example@1.2", "pypi", "example", "1.2"),
        ("pkg:pypi/example@2.0rc1", "pypi", "example", "2.0rc1"),
        ("pkg:npm/example@1.2.3", "npm", "example", "1.2.3"),
        ("pkg:npm/example@1.2.3-beta.1", "npm", "example", "1.2.3-beta.1"),
        ("pkg:npm/%40scope/example@1.2.3", "npm", "@scope/example", "1.2.3"),
        ("pkg:npm/@scope/example@1.2.3", "npm", "@scope/example", "1.2.3"),
        (f"pkg:huggingface/owner/Model@{COMMIT}", "huggingface", "owner/Model", COMMIT),
        (f"pkg:oci/image@{SHA256}?repository_url=example.org/o/image", "oci", "image", SHA256),
        (f"pkg:generic/tool@1.0?{FILE}", "generic", "tool", "1.0"),
    ],
)
def test_an_exact_version_is_a_pin(text: str, kind: str, full_name: str, version: str) -> None:
    pin = purl.parse(text)
    assert (pin.kind, pin.full_name, pin.version) == (kind, full_name, version)


@pytest.mark.parametrize(
    "version",
    ["main", "v1.0", "latest", "HEAD", COMMIT[:7], COMMIT[:39], COMMIT + "0", "refs%2Fheads%2Fmain"],
)
@pytest.mark.parametrize("kind", ["github", "huggingface"])
def test_a_branch_a_tag_or_a_short_hash_is_no_pin(kind: str, version: str) -> None:
    with pytest.raises(ValueError, match="pin the full 40-digit lower-case commit"):
        purl.parse(f"pkg:{kind}/owner/name@{version}")


def test_an_upper_case_commit_never_makes_a_second_version() -> None:
    with pytest.raises(ValueError, match="lower-case commit"):
        purl.parse(f"pkg:github/owner/name@{COMMIT.upper()}")
    assert purl.parse(f"pkg:huggingface/owner/name@{COMMIT.upper()}").version == COMMIT


@pytest.mark.parametrize("version", ["latest", ">=1", "~=1.2", "1.*", "1.2,<2", "main", "1.0+local"])
def test_a_range_or_a_tag_is_no_pypi_version(version: str) -> None:
    with pytest.raises(ValueError, match="version"):
        purl.parse(f"pkg:pypi/example@{version}")


@pytest.mark.parametrize(
    "version", ["latest", "^1.2.3", "~1.2.3", ">=1.2.3", "1.2", "1", "1.x", "v1.2.3", "01.2.3", "*"]
)
def test_a_range_or_a_tag_is_no_npm_version(version: str) -> None:
    with pytest.raises(ValueError, match="no range and no tag"):
        purl.parse(f"pkg:npm/example@{version}")


@pytest.mark.parametrize("version", ["latest", "1.0", "sha256:abc", "sha512:" + "a" * 64])
def test_an_image_needs_its_digest(version: str) -> None:
    with pytest.raises(ValueError, match="pin the image's digest"):
        purl.parse(f"pkg:oci/image@{version}")


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("", "download_url"),
        (f"?checksum={SHA256}", "download_url"),
        (f"?download_url=http://example.org/x&checksum={SHA256}", "download_url"),
        ("?download_url=https://example.org/x", "checksum"),
        ("?download_url=https://example.org/x&checksum=md5:00", "checksum"),
    ],
)
def test_a_file_of_a_vendor_needs_its_address_and_its_digest(query: str, missing: str) -> None:
    with pytest.raises(ValueError, match=f"has no {missing}"):
        purl.parse(f"pkg:generic/tool@1.0{query}")


@pytest.mark.parametrize("version", ["latest", "stable", "main", "nightly", "1.*", ">=1"])
def test_a_moving_word_is_no_version_of_a_vendors_file(version: str) -> None:
    with pytest.raises(ValueError, match="can move"):
        purl.parse(f"pkg:generic/tool@{version}?{FILE}")


@pytest.mark.parametrize("kind", ["pypi", "npm", "github", "oci"])
def test_a_missing_version_is_named(kind: str) -> None:
    with pytest.raises(ValueError, match="has no version"):
        purl.parse(f"pkg:{kind}/owner/name")


@pytest.mark.parametrize("text", ["", "example", "pkg:", "pkg:pypi", "https://example.org/x@1.0", "pkg:gem/x@1.0"])
def test_something_else_is_refused_with_what_would_be_right(text: str) -> None:
    with pytest.raises(ValueError, match=r"pkg:|one of|name@version"):
        purl.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        f"pkg:github/owner/name@{COMMIT}\n",
        "pkg:pypi/exam ple@1.0",
        "pkg:pypi/example@ 1.0",
        "pkg:npm/example@1.2.3\x1b[31m",
        "pkg:pypi/exämple@1.0",
        f"pkg://github/owner/name@{COMMIT}",
    ],
)
def test_a_second_spelling_of_the_same_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="space, a control character or a slash"):
        purl.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "pkg:npm/..@1.2.3",
        "pkg:npm/%2e%2e@1.2.3",
        "pkg:npm/%40scope/..@1.2.3",
        f"pkg:github/owner/..@{COMMIT}",
        f"pkg:github/../name@{COMMIT}",
        f"pkg:github/owner/a/name@{COMMIT}",
        "pkg:pypi/a%2Fb@1.0",
        "pkg:pypi/-@1.0",
        "pkg:pypi/group/example@1.0",
    ],
)
def test_a_name_that_no_registry_can_have_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no npm name|no owner and name|no PyPI name|no namespaces|has no owner"):
        purl.parse(text)


def test_pypi_names_are_compared_as_pep_503_writes_them() -> None:
    spellings = ["My_Project", "my-project", "MY.PROJECT", "my-_.project"]
    assert {purl.parse(f"pkg:pypi/{name}@1.0").project for name in spellings} == {"pypi:my-project"}


def test_equal_pypi_versions_are_one_version() -> None:
    assert {purl.parse(f"pkg:pypi/x@{v}").normal for v in ("1.0", "1.0.0", "1", "v1.0")} == {"pypi:x@1"}
    assert purl.parse("pkg:pypi/x@1.0.1").normal != purl.parse("pkg:pypi/x@1.0").normal


def test_npm_names_differ_by_case() -> None:
    assert purl.parse("pkg:npm/JSONStream@1.3.5").full_name == "JSONStream"
    assert purl.parse("pkg:npm/JSONStream@1.3.5").project != purl.parse("pkg:npm/jsonstream@1.3.5").project


def test_github_compares_without_case_and_hugging_face_with_it() -> None:
    assert (
        purl.parse(f"pkg:github/Owner/Name@{COMMIT}").project == purl.parse(f"pkg:github/owner/name@{COMMIT}").project
    )
    upper, lower = (purl.parse(f"pkg:huggingface/o/{name}@{COMMIT}") for name in ("Model", "model"))
    assert upper.project != lower.project
    assert upper.full_name == "o/Model"


def test_a_project_is_the_same_at_every_version() -> None:
    first, second = purl.parse("pkg:npm/x@1.2.3"), purl.parse("pkg:npm/x@2.0.0")
    assert first.project == second.project
    assert first.normal != second.normal


@given(st.text(max_size=40))
def test_whatever_is_written_the_answer_is_a_pin_or_a_reason(text: str) -> None:
    for candidate in (text, f"pkg:pypi/{text}", f"pkg:npm/{text}@1.0.0", f"pkg:github/o/n@{text}"):
        with contextlib.suppress(ValueError):
            assert purl.parse(candidate).version


VCS = "git+https://git.example.org/group/tool.git"


@pytest.mark.parametrize(
    "query", [f"vcs_url={VCS}@{COMMIT}", f"vcs_url=git%2Bhttps://git.example.org/group/tool.git%40{COMMIT}"]
)
def test_a_repository_may_lie_anywhere(query: str) -> None:
    pin = purl.parse(f"pkg:generic/tool@{COMMIT}?{query}")
    assert (pin.version, pin.clone_url) == (COMMIT, "https://git.example.org/group/tool.git")
    assert pin.project == "generic:git.example.org/group/tool"


def test_a_repository_on_github_is_cloned_from_its_own_address() -> None:
    assert purl.parse(f"pkg:github/Owner/Name@{COMMIT}").clone_url == "https://github.com/Owner/Name"
    assert purl.parse("pkg:pypi/example@1.2").clone_url == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"pkg:generic/t@{COMMIT}?vcs_url={VCS}", "no https address of a git repository with a commit"),
        (f"pkg:generic/t@{COMMIT}?vcs_url={VCS}@main", "can move or is ambiguous"),
        (f"pkg:generic/t@{COMMIT}?vcs_url={VCS}@{COMMIT[:12]}", "can move or is ambiguous"),
        (f"pkg:generic/t@{COMMIT}?vcs_url={VCS}@{COMMIT.upper()}", "can move or is ambiguous"),
        (f"pkg:generic/t@{'f' * 40}?vcs_url={VCS}@{COMMIT}", "name two commits"),
        (f"pkg:generic/t@1.0?vcs_url={VCS}@{COMMIT}", "name two commits"),
        (f"pkg:generic/t@{COMMIT}?vcs_url=git+http://example.org/t@{COMMIT}", "no https address"),
        (f"pkg:generic/t@{COMMIT}?vcs_url=git+ssh://git@example.org/t@{COMMIT}", "no https address"),
        (f"pkg:generic/t@{COMMIT}?vcs_url=https://example.org/t@{COMMIT}", "no https address"),
        (f"pkg:generic/t@{COMMIT}?vcs_url=git+https://me:hidden@example.org/t@{COMMIT}", "a name or password"),
        (f"pkg:generic/t@{COMMIT}?vcs_url=git+https://example.org/../t@{COMMIT}", "no plain host and path"),
        (f"pkg:generic/t@{COMMIT}?vcs_url=git+https://-x/t@{COMMIT}", "no plain host and path"),
        (f"pkg:generic/t@{COMMIT}?vcs_url=git+https://GitHub.com/o/t@{COMMIT}", "write pkg:github/owner/name@commit"),
        (
            f"pkg:generic/t@{COMMIT}?vcs_url={VCS}@{COMMIT}&checksum={SHA256}",
            "has 'checksum', which a pinned repository",
        ),
        (f"pkg:github/owner/name@{COMMIT}?arch=x86", "has 'arch', which a pinned repository does not use"),
        (f"pkg:github/owner/name@{COMMIT}#src/tool", "is tested as a whole"),
    ],
)
def test_an_address_of_a_repository_has_one_spelling(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        purl.parse(text)
    assert "hidden" not in str(caught.value)
