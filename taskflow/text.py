"""Text of others, made harmless before people see it: out of files, environments and messages of other programs."""

from __future__ import annotations

import unicodedata

LONGEST = 1000  # characters of a line
HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))  # controls, formats, surrogates, private use, separators


def visible(text: object) -> str:
    """The text with all that steers a terminal, turns the direction of writing or cannot be seen as an escape, `\\x1b`;
    the ends of lines stay, and long lines lose their middle.
    """
    return "\n".join(_escaped(_shortened(line)) for line in str(text).split("\n"))


def literal(text: object) -> str:
    """The same for a picture, where a dollar sign would begin a formula."""
    return visible(text).replace("$", r"\$")


def _shortened(line: str) -> str:
    """Remedies stand at the end."""
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]} ... {line[-half:]}"


def _escaped(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    return "".join(repr(each)[1:-1] if unicodedata.category(each) in HIDDEN and each != "\t" else each for each in line)
