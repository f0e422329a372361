"""A README's example as a file to run: prompts taken away, and the values that the README states made visible.

An interactive interpreter shows the value of an expression, a script does not. Where the README states such a value
(a doctest, `f(1)  # => 2`, `f(1) // 2`) the file prints it, so that it can be compared.
"""

import ast
import doctest
import re
from dataclasses import dataclass

from .expected import from_comment, is_result
from .fences import Block

MAX_LINE = 500
EXTENSION = {"python": "py", "javascript": "js", "typescript": "ts"}
_JS_LINE = re.compile(r"^(?P<code>\S.*?)(?P<end>;?)\s+//(?P<comment>.*)$")
_JS_OWN_LINE = re.compile(r"^\s*//(.*)$")
_JS_NAMED = re.compile(r"^(?:const|let|var)\s+(\w+)\s*=[^=>]")
_JS_STATEMENT = re.compile(r"^(?:const|let|var|import|export|return|if|for|while|function|class|async|throw|[})\]/*])")


@dataclass(frozen=True)
class Snippet:
    """Source that can run as a file, and the results that the README states for it, in order."""

    source: str
    results: tuple[str, ...] = ()


def snippet(block: Block) -> Snippet:
    """The block as a runnable file. What its language cannot parse is left as it is, without prompts."""
    if block.language != "python":
        return _javascript(block.text)
    typed = re.findall(r"^[ \t]*(?:>>>|\.\.\.) ?(.*)$", block.text, re.M) if ">>>" in block.text else []
    try:
        return _session(block.text) if typed else _script(block.text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return Snippet("\n".join(typed) or block.text)


def _session(text: str) -> Snippet:
    """A doctest. An example that is meant to raise is left out: it would end the file."""
    calm = [example for example in doctest.DocTestParser().get_examples(text) if not example.exc_msg]
    source = "".join(_visible(example.source) for example in calm)
    wanted = (re.sub(r"^#\s*$", "", example.want, flags=re.M).strip() for example in calm)
    return Snippet(_with_sys(source), tuple(want for want in wanted if want))


def _script(text: str) -> Snippet:
    stated: dict[int, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        code, mark, comment = line.rpartition("#")
        result = from_comment(comment) if mark else None
        if result is not None:
            stated[number if code.strip() else number - 1] = result
    ends = {node.end_lineno for node in ast.parse(text).body if isinstance(node, ast.Expr | ast.Assign)}
    kept = {line: result for line, result in stated.items() if line in ends}
    return Snippet(_with_sys(_visible(text, set(kept))), tuple(kept.values()))


def _visible(source: str, lines: set[int] | None = None) -> str:
    """The source with its top-level expressions shown as the interpreter would show them.

    With `lines`, only what ends on one of them; a named value that ends there is shown too.
    """
    body = ast.parse(source).body
    rows = source.split("\n")
    for node in reversed(body):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        shares_a_line = any(other.lineno - 1 in {first, last} for other in body if other is not node)
        if shares_a_line or (lines is not None and last + 1 not in lines):
            continue
        if isinstance(node, ast.Expr) and not _prints(node):
            rows[first : last + 1] = [f"sys.displayhook({ast.unparse(node)})"]
        elif lines is not None and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            rows.insert(last + 1, f"sys.displayhook({node.targets[0].id})")
    return "\n".join(rows)


def _prints(node: ast.Expr) -> bool:
    call = node.value
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in {"print", "pprint"}


def _with_sys(source: str) -> str:
    if "sys.displayhook(" not in source:
        return source
    future = re.match(r"(?:from __future__ import .*\n)*", source)
    at = future.end() if future else 0
    return f"{source[:at]}import sys\n{source[at:]}"


def _javascript(text: str) -> Snippet:
    rows: list[str] = []
    results: list[str] = []
    lines = _own_line_results_raised(text.split("\n"))
    for line in lines:
        match = _JS_LINE.match(line) if len(line) <= MAX_LINE else None
        result = from_comment(match["comment"]) if match else None
        shown = _shown(match["code"]) if match and result is not None else None
        rows.append(line if shown is None or not match else f"{shown} //{match['comment']}")
        if shown is not None and result is not None:
            results.append(result)
    return Snippet("\n".join(rows), tuple(results))


def _own_line_results_raised(lines: list[str]) -> list[str]:
    """`f(1);` over `//=> 2` -> `f(1); //=> 2`."""
    raised: list[str] = []
    for line in lines:
        own = _JS_OWN_LINE.match(line)
        if own and is_result(own[1]) and raised and raised[-1].strip() and "//" not in raised[-1]:
            raised[-1] = f"{raised[-1]} //{own[1]}"
        else:
            raised.append(line)
    return raised


def _shown(code: str) -> str | None:
    """The statement with its value printed, None when it has none that can be printed."""
    if not _balanced(code):
        return None
    if named := _JS_NAMED.match(code):
        return f"{code}; console.log({named[1]});"
    if _JS_STATEMENT.match(code):
        return None
    return code if code.startswith(("console.", "await console.")) else f"console.log({code});"


def _balanced(code: str) -> bool:
    return all(code.count(opening) == code.count(closing) for opening, closing in ("()", "[]", "{}"))
