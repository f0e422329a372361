"""The templates' language: everything that is shown is escaped unless it is Markdown of our own making."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from bot import words
from bot.escape import Markdown, code, html, text

PUBLISHER = "Argusic"
"""The publisher's name on pages."""
TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> jinja2.Environment:
    """Jinja2 over bot/templates; a name that is not there is an error, a value is text until proven Markdown."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=jinja2.select_autoescape(["html", "html.j2"], default_for_string=False),
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    found.globals |= {"publisher": Markdown(PUBLISHER), "could_not": "could not verify"}
    found.filters |= {
        "code": code,
        "count": words.count,
        "html": html,
        "raw": Markdown,
        "sentence": words.sentence,
        "times": words.times,
        "usd": words.usd,
    }
    return found


def rendered(template: str, **values: Any) -> str:
    """`template` filled with `values`."""
    return environment().get_template(template).render(values)


def _shown(value: Any) -> Any:
    """The last step of every `{{ … }}`. HTML has its own escaping; Markdown has this one."""
    kind = type(value)
    if kind is Markdown or kind is int:
        return value
    if kind is str:
        return text(value)
    if value is None or isinstance(value, float | bool):
        raise TypeError(f"a page has words for {value!r}; give the template those")
    return value if hasattr(value, "__html__") else text(value)
