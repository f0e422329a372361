"""Markdown as a reader sees it: what is text, what is a code span, what became something else."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(markdown: str) -> list[Token]:
    """Blocks of a page."""
    return _PARSER.parse(markdown)


def inline(markdown: str) -> Iterator[Token]:
    """What stands inside the blocks, in order."""
    for block in tokens(markdown):
        yield from block.children or []


def seen(markdown: str) -> str:
    """The text of a page without its markup."""
    return "".join(
        "\n" if token.type == "softbreak" else token.content for token in inline(markdown) if token.type in TEXT
    )


TEXT = ("text", "code_inline", "text_special", "softbreak")
"""Kinds of token that show words and do nothing."""


def tables(markdown: str) -> list[list[list[str]]]:
    """Every table as rows of cells, the heads first, each cell as a reader sees it."""
    found: list[list[list[str]]] = []
    for block in tokens(markdown):
        if block.type == "table_open":
            found.append([])
        elif block.type == "tr_open":
            found[-1].append([])
        elif block.type in ("th_open", "td_open"):
            found[-1][-1].append("")
        elif block.type == "inline" and found and block.level > 0 and _in_cell(block):
            found[-1][-1][-1] = "".join(token.content for token in block.children or [] if token.type in TEXT)
    return found


def _in_cell(block: Token) -> bool:
    # A cell is four levels deep (table, body, row, cell); a paragraph of a page is one.
    return block.level >= 4


def links(markdown: str) -> list[str]:
    """Targets of all links."""
    return [str(token.attrs["href"]) for token in inline(markdown) if token.type == "link_open"]
