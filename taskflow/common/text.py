"""Text from files, environments and other programs, made safe to display."""

from __future__ import annotations

import ast
import threading
import unicodedata

LONGEST = 1000  # characters of a line
HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))  # controls, formats, surrogates, private use, separators


_parsing = threading.Lock()


def parsed(text: str, mode: str = "exec") -> ast.AST:
    """Return the syntax tree of a text, parsed by one thread at a time.

    Concurrent parsing occasionally raises SystemError, because Python counts the depth of a tree for all threads
    (CPython issue 106905). Raises as `ast.parse` does.
    """
    with _parsing:
        return ast.parse(text, mode=mode)


def visible(text: object) -> str:
    r"""Return the text with escapes (`\x1b`) for terminal controls, changes of text direction and invisible characters.

    Line ends are kept, and long lines lose their middle.
    """
    return "\n".join(_escaped(_shortened(line)) for line in str(text).split("\n"))


def literal(text: object) -> str:
    """Return the visible text for a picture, with dollar signs escaped, which would start a formula."""
    return visible(text).replace("$", r"\$")


def _shortened(line: str) -> str:
    """Return a line without its middle if it is long, because remedies are at the end."""
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]} ... {line[-half:]}"


def _escaped(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in HIDDEN and c != "\t" else c for c in line)
