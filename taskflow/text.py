"""Text of others, made harmless before people see it: from files, environments and messages of other programs."""

from __future__ import annotations

import unicodedata

LONGEST = 1000  # characters of a line
HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))  # controls, formats, surrogates, private use, separators


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
