"""The goals of studies: bounds on their numbers, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
NONE = {"goal": None, "met": None}  # of a row without a goal


@dataclass(frozen=True)
class Goal:
    """A bound on a number of a row, in words; `least`: it is to be at least that."""

    number: str
    bound: float
    words: str
    least: bool = True

    def judged(self, row: Row) -> dict[str, Any]:
        """The goal in words, and whether the row meets it."""
        value = row[self.number]
        return {"goal": self.words, "met": value >= self.bound if self.least else value <= self.bound}


def met(row: Row) -> str:
    """Return whether the goal of a row was met, in words."""
    return "-" if row["goal"] is None else "met" if row["met"] else "missed"
