"""Package URLs as pins: exact and immutable, compared in each type's own normal form."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote

from packageurl import PackageURL
from packaging.utils import InvalidName, canonicalize_name, canonicalize_version
from packaging.version import InvalidVersion, Version

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
_NPM_NAME = re.compile(r"(?!\.)[A-Za-z0-9._~-]+")
_VCS_URL = re.compile(r"git\+https://([^/@]*@)?([^/@?#]+)/([^?#]*)@([^/@]*)")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?")
_PATH = re.compile(r"(?!\.\.?(/|$))[A-Za-z0-9._~-]+(/(?!\.\.?(/|$))[A-Za-z0-9._~-]+)*")
_OWNED = re.compile(r"(?!\.\.?/)[A-Za-z0-9._-]+/(?!\.\.?$)[A-Za-z0-9._-]+")


class Pin(NamedTuple):
    """An exact thing: `kind` is the purl type, `project` the normal form without version, `normal` with it."""

    kind: str
    namespace: str
    name: str
    version: str
    qualifiers: dict[str, str]
    project: str
    normal: str
    clone_url: str = ""
    """Where a repository is cloned from; empty where the pin names none."""

    @property
    def full_name(self) -> str:
        """The name as its registry writes it, such as "@scope/name"."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def parse(text: str) -> Pin:
    """`text` as a pin. Raises ValueError that says why it is none and what would be right."""
    if re.search(r"[^!-~]", text) or text.startswith("pkg:/"):
        raise ValueError("has a space, a control character or a slash where none belongs; write pkg:type/name@version")
    try:
        url = PackageURL.from_string(text)
    except ValueError as error:
        raise ValueError(f"is no package URL ({error}); write for example pkg:pypi/name@1.2.3") from None
    if url.type not in _RULES:
        raise ValueError(f"package URL type {url.type!r} is not known; one of {', '.join(sorted(_RULES))}")
    if not url.version:
        raise ValueError("has no version; pin an exact, immutable one (name@version)")
    qualifiers = url.qualifiers if isinstance(url.qualifiers, dict) else {}
    return _RULES[url.type](url, text, {str(key): str(value) for key, value in qualifiers.items()})


def _pin(url: PackageURL, qualifiers: dict[str, str], name: str, namespace: str, project: str, version: str) -> Pin:
    return Pin(
        url.type, namespace, name, version, qualifiers, f"{url.type}:{project}", f"{url.type}:{project}@{version}"
    )


def _pypi(url: PackageURL, text: str, qualifiers: dict[str, str]) -> Pin:
    written = url.version or ""
    try:
        version = Version(written)
    except InvalidVersion:
        raise ValueError(f"version {written!r} is not one exact version (PEP 440); write for example 1.2.3") from None
    if version.local:
        raise ValueError(f"version {written!r} is a local build that no registry serves; pin a published version")
    try:
        name = canonicalize_name(url.name, validate=True)
    except InvalidName:
        raise ValueError(f"{url.name!r} is no PyPI name; write pkg:pypi/name@1.2.3") from None
    if url.namespace:
        raise ValueError("PyPI has no namespaces; write pkg:pypi/name@1.2.3")
    # An equal version can be spelt in several ways (1.0, 1.0.0): compare by what it means.
    meaning = canonicalize_version(version)
    return _pin(url, qualifiers, name, "", name, written)._replace(normal=f"pypi:{name}@{meaning}")


def _npm(url: PackageURL, text: str, qualifiers: dict[str, str]) -> Pin:
    # npm names are compared with their case, which the package URL parser folds: read them from the text.
    path = unquote(text.split("pkg:npm/", 1)[-1].split("?", 1)[0]) if text.startswith("pkg:npm/") else ""
    namespace, _, name = path.rpartition("@")[0].rpartition("/")
    if not _NPM_NAME.fullmatch(name) or (namespace and not re.fullmatch(r"@[A-Za-z0-9._~-]+", namespace)):
        raise ValueError("is no npm name; write pkg:npm/name@1.2.3 or pkg:npm/%40scope/name@1.2.3")
    version = url.version or ""
    if not _SEMVER.fullmatch(version):
        raise ValueError(f"version {version!r} is not one exact version; write for example 1.2.3, no range and no tag")
    return _pin(url, qualifiers, name, namespace, f"{namespace}/{name}" if namespace else name, version)


def _at_commit(url: PackageURL, text: str, qualifiers: dict[str, str], *, fold: bool) -> Pin:
    version = url.version or ""
    if not _COMMIT.fullmatch(version):
        raise ValueError(
            f"version {version!r} can move or is ambiguous; pin the full 40-digit lower-case commit, "
            "no branch, no tag, no short hash"
        )
    if not url.namespace:
        raise ValueError(f"has no owner; write pkg:{url.type}/owner/name@commit")
    # The parser may fold case; where case matters the text decides.
    path = unquote(text.split("/", 1)[-1].split("?", 1)[0]).rsplit("@", 1)[0]
    if not _OWNED.fullmatch(path):
        raise ValueError(f"{path!r} is no owner and name; write pkg:{url.type}/owner/name@commit")
    namespace, _, name = path.rpartition("/")
    project = path.lower() if fold else path
    pin = _pin(url, qualifiers, name, namespace, project, version)
    if url.type != "github":
        return pin
    _nothing_but(url, qualifiers, "")
    return pin._replace(clone_url=f"https://github.com/{path}")


def _nothing_but(url: PackageURL, qualifiers: dict[str, str], known: str) -> None:
    """A part of the address that nothing reads would let two spellings name one thing."""
    unused = sorted(set(qualifiers) - {known})
    if unused:
        raise ValueError(f"has {unused[0]!r}, which a pinned repository does not use; leave it out")
    if url.subpath:
        raise ValueError(f"has a path in the repository (#{url.subpath}); a repository is tested as a whole")


def _repository(url: PackageURL, qualifiers: dict[str, str]) -> Pin:
    """A repository that lies anywhere: `pkg:generic/name@commit?vcs_url=git+https://host/path@commit`."""
    right = "write ?vcs_url=git+https://host/path@commit"
    parts = _VCS_URL.fullmatch(qualifiers["vcs_url"])
    if parts is None:
        raise ValueError(f"its vcs_url is no https address of a git repository with a commit; {right}")
    login, host, path, commit = parts.groups()
    if login:
        raise ValueError("its vcs_url holds a name or password; a subject is public, leave them out")
    if not _COMMIT.fullmatch(commit):
        raise ValueError("its vcs_url ends in no full 40-digit lower-case commit, but in what can move or is ambiguous")
    if not _HOST.fullmatch(host) or not _PATH.fullmatch(path):
        raise ValueError(f"its vcs_url names no plain host and path; {right}")
    if host.lower() in ("github.com", "www.github.com"):
        raise ValueError("lies on GitHub; write pkg:github/owner/name@commit")
    if url.version != commit:
        raise ValueError("its version and its vcs_url name two commits; write the same commit in both places")
    _nothing_but(url, qualifiers, "vcs_url")
    project = f"{host.lower()}/{path.removesuffix('.git')}"
    pin = _pin(url, qualifiers, url.name, url.namespace or "", project, commit)
    return pin._replace(clone_url=f"https://{host}/{path}")


def _oci(url: PackageURL, text: str, qualifiers: dict[str, str]) -> Pin:
    version = url.version or ""
    if not _SHA256.fullmatch(version):
        raise ValueError(f"version {version!r} can move; pin the image's digest (sha256: and 64 digits), no tag")
    repository = qualifiers.get("repository_url", url.name)
    return _pin(url, qualifiers, url.name, "", repository, version)


def _generic(url: PackageURL, text: str, qualifiers: dict[str, str]) -> Pin:
    if "vcs_url" in qualifiers:
        return _repository(url, qualifiers)
    version = url.version or ""
    if not qualifiers.get("download_url", "").startswith("https://"):
        raise ValueError("has no download_url; add ?download_url=https://… of the exact file")
    if not _SHA256.fullmatch(qualifiers.get("checksum", "")):
        raise ValueError("has no checksum; add &checksum=sha256:… of the exact file")
    if version.lower() in {"latest", "stable", "main", "master", "nightly"} or re.search(r"[*^~<>=\s]", version):
        raise ValueError(f"version {version!r} can move; write the exact version that the file has")
    path = f"{url.namespace}/{url.name}" if url.namespace else url.name
    return _pin(url, qualifiers, url.name, url.namespace or "", path, version)


_RULES: dict[str, Callable[[PackageURL, str, dict[str, str]], Pin]] = {
    "generic": _generic,
    "github": partial(_at_commit, fold=True),
    "huggingface": partial(_at_commit, fold=False),
    "npm": _npm,
    "oci": _oci,
    "pypi": _pypi,
}
