"""How high the pressure is, where nothing but its differences is felt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from taskflow.flow.models.artificial_compressibility import measures
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Roles

if TYPE_CHECKING:
    from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility


def shifted(model: ArtificialCompressibility, f: Roles) -> Iterator[Launch]:
    """Shift the pressure: it is 0 in a cell, or its mean over the volume is, by exact sums."""
    if (cell := model.method.pressure_cell) is not None:
        at = Box(cell, (cell[0] + 1, cell[1] + 1, cell[2] + 1))
        yield measures.value(f.p, over=at, number=f.scalar("level"))
        yield measures.take_off(f.p, over=model.cells, number=f.scalar("level"))
    else:
        most, sums = f.scalar("most"), f.scalar("content")
        metrics = None if model.spacing else f.metrics
        yield measures.largest(f.p, over=model.cells, most=most)
        yield measures.content(f.p, metrics, over=model.cells, sums=sums, most=most, numbers=model.numbers)
        yield measures.take_off_mean(f.p, over=model.cells, sums=sums)
