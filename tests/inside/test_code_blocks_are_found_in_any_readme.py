"""A README is Markdown or reStructuredText, written by anyone: its code blocks are found as data, in bounded time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from runner.inside.control_readme.fences import MAX_BLOCKS, blocks
from runner.inside.control_readme.task import README_BYTES, plain, read_readme

MARKDOWN = """\
# Quick start

Install it:

```bash
pip install x
```

~~~ {.python}
import x
~~~

Output:

```
3
```
"""
RST = """\
Usage
=====

.. code-block:: python
    :caption: first

    import x

    x.run()

Then it prints::

    3

>>> x.one()
1
"""


def found(readme: str) -> list[tuple[str, str]]:
    return [(block.language, block.text) for block in blocks(readme)]


def test_markdown_fences_are_found_with_their_language() -> None:
    assert found(MARKDOWN) == [("shell", "pip install x"), ("python", "import x"), ("", "3")]


def test_a_block_knows_its_heading_and_the_line_before_it() -> None:
    first, _, last = blocks(MARKDOWN)
    assert (first.heading, first.before, last.before) == ("Quick start", "Install it:", "Output:")


def test_restructuredtext_directives_literal_blocks_and_bare_doctests_are_found() -> None:
    assert found(RST) == [("python", "import x\n\nx.run()"), ("", "3"), ("python", ">>> x.one()\n1")]
    assert {block.heading for block in blocks(RST)} == {"Usage"}


def test_a_longer_fence_holds_a_shorter_one_as_text() -> None:
    assert found("````markdown\n```sh\nrm -rf /\n```\n````\n") == [("other", "```sh\nrm -rf /\n```")]


def test_a_fence_in_a_list_or_a_quotation_loses_its_margin() -> None:
    assert found("1. do\n\n   ```js\n   a()\n     b()\n   ```\n> ```sh\n> ls\n> ```\n") == [
        ("javascript", "a()\n  b()"),
        ("shell", "ls"),
    ]


def test_a_fence_that_is_never_closed_ends_with_the_file() -> None:
    assert found("```python\nimport x\n") == [("python", "import x")]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (">>> 1 + 1\n2", "python"),
        ("$ x --help", "shell"),
        ("npm install x", "shell"),
        ('{"command": "x"}', "json"),
        ("const x = require('x')", "javascript"),
        ("import x from 'x'", "javascript"),
        ("from x import y", "python"),
        ("just words", ""),
    ],
)
def test_an_unnamed_language_is_told_by_its_marks(text: str, language: str) -> None:
    assert found(f"```\n{text}\n```") == [(language, text)]


def test_an_install_command_labelled_as_python_is_a_command() -> None:
    assert found("```python\npip install x\n```") == [("shell", "pip install x")]


def test_terminal_control_and_direction_characters_are_taken_out() -> None:
    assert plain("a\x1b[31mred\x9b1m\u202eb\x00\r\nc\td") == "a[31mred1mb\nc\td"


def test_odd_bytes_and_a_missing_file_are_no_error(tmp_path: Path) -> None:
    odd = tmp_path / "README.md"
    odd.write_bytes(b"\xef\xbb\xbf# \xff\xfe\n```\n\xc3(\n```\n")
    assert found(read_readme(odd)) == [("", "\ufffd(")]
    assert read_readme(tmp_path / "none") == ""


def test_only_the_start_of_a_huge_readme_is_read(tmp_path: Path) -> None:
    huge = tmp_path / "README.md"
    huge.write_bytes(b"a" * (README_BYTES + 10))
    assert len(read_readme(huge)) == README_BYTES


@pytest.mark.parametrize(
    "hostile", ["```\na\n", "`" * 8, "> ", "a::\n\n b\n\n", " " * 50, ">>> x\n\n", "# a\n", "=" * 70 + "\n"]
)
def test_no_readme_takes_long_or_gives_more_than_two_hundred_blocks(hostile: str) -> None:
    readme = (hostile * (README_BYTES // len(hostile)))[:README_BYTES]
    began = time.monotonic()
    assert len(blocks(readme)) <= MAX_BLOCKS
    assert time.monotonic() - began < 5
