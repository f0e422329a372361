"""Hostile text stays text, wherever a page puts it."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot import escape
from bot.escape import Markdown, clean, code, html, link, text
from tests.support.markdown import TEXT, inline, links, seen, tables, tokens

MEAN = "`*_[]()<>{}#+-.!|~&:\"'$=^@/\\ \n\r\t\x00\x1b\u202e\u200b\u2028\ud800aA1"
FRAGMENTS = (
    *(
        [
            "<script>alert(1)</script>",
            "[x](javascript:a)",
            "![x](http://a/b)",
            "@everyone",
            "#12",
            "https://a.b",
            "```",
            "---",
            "===",
            "&lt;",
            "<!--",
        ]
    ),
    *(
        [
            "-->",
            "www.a.b",
            "a@b.c",
            "GH-1",
            ":tada:",
            "deadbeef",
            "\\",
            "$x$",
            "[^1]",
            "~~~",
            "**",
            "__",
            "`",
            "x",
            "|",
            "|---|",
            "\u202e",
            "\x1b[31m",
        ]
    ),
    *("| a | b |", "- ", "1. ", "> ", "    ", "\n\n", "[x]: y", " "),
)
hostile = st.one_of(
    st.text(alphabet=MEAN, max_size=60),
    st.text(max_size=60),
    st.lists(
        st.sampled_from(FRAGMENTS),
        max_size=8,
    ).map("".join),
)


def unmarked(value: str) -> str:
    """What a reader must see: all of it, but for the backticks of an author's own code spans."""
    found, words = [], clean(value)
    while mark := re.search(r"(?:^|(?<= ))[(\"']*`([^`]+)`[)\"'.,:;!?]*(?= |$)", words):
        span = mark[0] if not mark[1].strip() else mark[0].replace("`", "").replace(mark[1], mark[1].strip())
        found.append(words[: mark.start()] + span)
        words = words[mark.end() :]
    return "".join([*found, words])


def spaced(value: str) -> str:
    """Space beside a pipe is of no account: a pipe stands between two spans."""
    return re.sub(r" *\| *", "|", value)


@given(hostile)
@example("a|b")
@example("``` js\n@x\n```")
@example("---\ntitle: x\n---")
@example("run `a b` now")
@example("`a` `b`, (`c d`)! `` ` `")
@example("@x`y` `y`@x `a|b` ` ` `c")
@example("`<b>` `# x` `[a](b)` `&lt;` `\\`")
def test_text_renders_as_the_same_words_and_nothing_else(value: str) -> None:
    shown = text(value)
    assert [
        token.type for token in tokens(shown) if token.type not in ("paragraph_open", "inline", "paragraph_close")
    ] == []
    assert {token.type for token in inline(shown)} <= set(TEXT)
    assert spaced(seen(shown)) == spaced(unmarked(value))


@given(hostile)
def test_code_renders_as_code_spans_and_pipes(value: str) -> None:
    shown = code(value)
    assert {token.type for token in inline(shown)} <= set(TEXT)
    assert re.sub(r" *\| *", "|", seen(shown)) == re.sub(r" *\| *", "|", clean(value))
    assert all(set(token.content) <= {"|"} for token in inline(shown) if token.type != "code_inline")


@given(hostile, hostile)
def test_a_table_keeps_its_cells(first: str, second: str) -> None:
    page = f"| a | b | c |\n| --- | --- | --- |\n| {text(first)} | {code(second)} | end |\n"
    (table,) = tables(page)
    assert len(table) == 2
    assert len(table[1]) == 3
    assert spaced(table[1][0]) == spaced(unmarked(first))
    assert table[1][2] == "end"
    assert {token.type for token in inline(page)} <= set(TEXT)


@given(hostile)
def test_text_inside_a_sentence_a_list_and_a_heading_changes_nothing_around_it(value: str) -> None:
    page = f"# Before {text(value)}\n\n* item {text(value)}\n* {text(value)}\n\nafter {text(value)} end\n"
    kinds = [token.type for token in tokens(page) if token.type.endswith("_open")]
    item = ["list_item_open", "paragraph_open"] if clean(value) else ["list_item_open"]
    assert kinds == ["heading_open", "bullet_list_open", "list_item_open", "paragraph_open", *item, "paragraph_open"]
    assert {token.type for token in inline(page)} <= set(TEXT)


@given(hostile)
def test_a_link_leads_where_we_say_and_nowhere_else(value: str) -> None:
    assert links(link(value, "verdicts.md#p-1") if clean(value) else "[x](verdicts.md#p-1)") == ["verdicts.md#p-1"]


@given(hostile)
def test_nothing_outside_a_code_span_is_an_address_a_mention_or_a_reference(value: str) -> None:
    """A forge looks for these in the text of the finished page, where an escaping backslash is long gone."""
    plain = "\0".join(token.content for token in inline(text(value)) if token.type != "code_inline")
    assert not re.search(r"[@#<>*_`\[\]$~^{}\\=]", plain)
    assert not re.search(r"(?i:://|www\.|\bgh-\d|:[a-z]+:)|(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])", plain)


@given(hostile)
def test_no_character_hides_or_turns_anything(value: str) -> None:
    forbidden = re.compile(f"[{escape.BIDI}{escape.INVISIBLE}\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
    for shown in (text(value), code(value), str(html(value))):
        assert not forbidden.search(shown)
        shown.encode()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("It ran, 12 tests passed (3.5 s).", "It ran, 12 tests passed (3.5 s)."),
        ("see https://a.b/c, then stop", "see `https://a.b/c`, then stop"),
        ("thanks @everyone, closes #12", "thanks `@everyone`, closes `#12`"),
        ("snake_case & <b>", "`snake_case` \\& `<b>`"),
        ("a | b", "a \\| b"),
        ("1.5 is a number", "1.5 is a number"),
        ("1. is a list", "1\\. is a list"),
        ("- is a list", "\\- is a list"),
        ("at 0:12:34", "at 0:12:34"),
        ("commit deadbeef", "commit `deadbeef`"),
        ("red \x1b[31m\u202etxt\u200b", "red `\ufffd[31m\ufffdtxt`"),
        ("two\n\nlines", "two lines"),
        ("ran `npm test -- x`, then `a|b`", "ran `npm test -- x`, then `a`\\|`b`"),
        ("one ` alone and ``two``", "one `` ` `` alone and ``` ``two`` ```"),
        ("half`a b`half", "``half`a`` ``b`half``"),
    ],
)
def test_ordinary_sentences_stay_readable(value: str, shown: str) -> None:
    assert text(value) == shown


def test_markdown_of_our_own_is_not_escaped_twice() -> None:
    assert text(Markdown("**runs**")) == "**runs**"
    assert text(text("a_b")) == "`a_b`"
    assert text("**a**") == "`**a**`"


def test_html_is_escaped_for_text_and_attributes() -> None:
    assert html("<a title=\"x\" b='y'>&") == "&lt;a title=&#34;x&#34; b=&#39;y&#39;&gt;&amp;"
