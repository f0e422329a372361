"""What the checker says of evidence that it proved clean: which bytes, looked at how, by what (MEASUREMENT §10)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from archive.model import Digest, Model, Slug

Whole = Annotated[int, Field(ge=0)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class View(Model):
    """One way of looking at one file, to its end."""

    name: Slug
    looked_at: Whole
    """How many bytes or characters this view was."""


class Served(Model):
    """One file that was proven clean."""

    name: Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,255}$")]
    """As it lay in quarantine."""
    bytes: Whole
    digest: Digest
    form: Literal["asciicast", "text", "binary"]
    views: tuple[View, ...]
    undecodable: Whole
    """Runs that look encoded and decode to nothing: pictures and archives mostly."""


class Scanner(Model):
    """The independent scanner."""

    name: Words
    version: Words


class Certificate(Model):
    """certificate.json: everything in one folder was looked at in every view, and nothing was found."""

    schema_version: Literal[1]
    checker: Digest
    """Of the checker's own files."""
    scanner: Scanner
    known: Whole
    """How many values were searched for; what they are is nowhere in here."""
    files: tuple[Served, ...]
    unresolved: Literal[0]
