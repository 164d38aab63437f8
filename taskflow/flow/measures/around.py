"""Valid ghost cells for readers outside the programs of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Read, Reduce, Roles, box, task


@task
def read_around(q: Read[box(1)], *, seen: Reduce[max]) -> None:
    """seen = one of the values of q; reading it fetches all ghost cells from other blocks"""
    values: Any = q
    folded: Any = seen
    folded.fold(values[...][:1, :1, :1])


@dataclass(frozen=True)
class FetchGhosts:
    """Program that fetches one layer of ghost cells of some fields from their owners, over all cells of some boxes."""

    fields: tuple[str, ...]
    cells: tuple[Box, ...]

    def __call__(self, f: Roles) -> Iterator[Launch]:
        for name in self.fields:
            yield read_around(f[name], over=self.cells, seen=f"seen_{name}")
