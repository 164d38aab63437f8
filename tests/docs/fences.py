"""The code blocks of a page, and what the comments before them tell who executes them."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

COMMENT = "<!-- test: "
WORDS = ("file", "append", "given", "set", "exit", "terminals", "prints", "gpu", "skip")
ALONE = ("terminals", "gpu")


@dataclass(frozen=True)
class Fence:
    place: str  # page and line
    line: int
    language: str
    text: str
    told: tuple[tuple[str, str], ...]  # words with what follows them

    def words(self, word: str) -> list[str]:
        """What follows a word, each time that it is there."""
        return [rest for said, rest in self.told if said == word]

    def word(self, word: str) -> str:
        return next(iter(self.words(word)), "")

    def has(self, word: str) -> bool:
        return bool(self.words(word))


def fences(page: Path) -> list[Fence]:
    """All blocks of a page in their order; ValueError where one is told what nobody understands."""
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    result: list[Fence] = []
    told: list[tuple[str, str]] = []
    for number, line in lines:
        mark = line.strip()
        if mark.startswith("```"):
            inside = takewhile(lambda numbered: numbered[1].strip() != "```", lines)
            text = textwrap.dedent("".join(f"{row}\n" for _, row in inside))
            result.append(Fence(f"{page.name}:{number}", number, mark.strip("`"), text, tuple(told)))
            told = []
        elif mark.startswith(COMMENT):
            told.append(_told(mark, f"{page.name}:{number}"))
        elif told:
            raise ValueError(f"{page.name}:{number}: a comment for tests stands directly before a block")
    return result


def _told(comment: str, place: str) -> tuple[str, str]:
    word, _, rest = comment.removeprefix(COMMENT).removesuffix("-->").strip().partition(" ")
    if word not in WORDS or bool(rest) == (word in ALONE):
        raise ValueError(f"{place}: {comment}: one of {', '.join(WORDS)}, with what is meant")
    return word, rest
