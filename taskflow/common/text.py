"""Text of others, made harmless before people see it: from files, environments and messages of other programs."""

from __future__ import annotations

import ast
import threading
import unicodedata

LONGEST = 1000  # characters of a line
HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))  # controls, formats, surrogates, private use, separators


_parsing = threading.Lock()


def parsed(text: str, mode: str = "exec") -> ast.AST:
    """The syntax tree of a text, one at a time: threads that ask Python at the same time get a SystemError now and
    then, as it counts the depth of a tree for all of them (CPython issue 106905). Raises as `ast.parse` does.
    """
    with _parsing:
        return ast.parse(text, mode=mode)


def visible(text: object) -> str:
    """Return the text with an escape (`\\x1b`) for all that steers a terminal, turns the direction of writing or cannot
    be seen; the ends of lines stay, and long lines lose their middle.
    """
    return "\n".join(_escaped(_shortened(line)) for line in str(text).split("\n"))


def literal(text: object) -> str:
    """Return the visible text for a picture, where a dollar sign would begin a formula."""
    return visible(text).replace("$", r"\$")


def _shortened(line: str) -> str:
    """Remedies stand at the end."""
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]} ... {line[-half:]}"


def _escaped(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in HIDDEN and c != "\t" else c for c in line)
