"""Rows of reports: made by the room that has the numbers, printed by the command line, read by programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple


class Row(NamedTuple):
    """Line of a report. Without a label it continues the previous row. `auto` marks a choice made for "auto".

    A `detail` is printed only if details are asked for.
    """

    label: str
    text: str
    kind: Literal["fact", "detail", "warning"] = "fact"
    auto: bool = False

    def __str__(self) -> str:
        return self.text + auto(self.auto)


def auto(chosen: bool) -> str:
    """Return the mark of a choice made for "auto"."""
    return " (auto)" if chosen else ""


def details(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield rows as details."""
    return (row._replace(kind="detail") for row in rows)


def labelled(label: str, texts: Iterable[str]) -> Iterator[Row]:
    """Yield rows under one label."""
    for text in texts:
        yield Row(label, text)
        label = ""


def warning_rows(texts: Iterable[str]) -> Iterator[Row]:
    """Yield a row for each warning."""
    return (Row("warning", text, "warning") for text in texts)
