"""Integrals over surfaces while a run goes on: measured by tasks where the fields are; only numbers leave it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.isosurface import Isosurface
from taskflow.flow.surface_flux import FaceLayer, SurfaceFlux
from taskflow.output import TimeSeries
from taskflow.regions import Box, triple
from taskflow.simulation.case import Surface
from taskflow.simulation.numbering import SeriesRecording
from taskflow.simulation.recording import Place
from taskflow.simulation.schedule import Every


@dataclass(frozen=True, eq=False)
class Integral:
    """What is measured of the sides of a surface, or of an isosurface, in which group of the store, how often."""

    series: TimeSeries
    measured: tuple[SurfaceFlux | Isosurface, ...]
    every: Every


class IntegralRecording(SeriesRecording):
    """The numbers of all sides, one after the other: each side leaves its own in the same scalars."""

    def __init__(self, place: Place, integral: Integral) -> None:
        super().__init__(place, integral.series)
        self._measured = integral.measured

    def _found(self) -> np.ndarray:
        rows = []
        for each in self._measured:
            self.shard.run(each)
            rows.append(each.numbers(self.shard.scalars))
        return np.array(rows).T.reshape(len(self._series.fields), *self._series.shape)


def sides(surface: Surface, grid: StaggeredGrid) -> tuple[FaceLayer, ...]:
    """The faces nearest to a plane, or to the six sides of a box."""
    if surface.box is None:
        face = grid.nearest_face(surface.axis, surface.position)
        layer = grid.box.layer(surface.axis, 0, face, face + 1)
        return (FaceLayer(_within(layer, surface.axis, grid), surface.axis),)
    low, high = (triple(grid.nearest_face(axis, place[axis]) for axis in range(3)) for place in surface.box)
    inside, found = Box(low, high), []
    for axis in range(3):
        for side, outward in ((0, -1), (1, 1)):
            layer = inside.layer(axis, side, 0, 1).shift(triple(side * (a == axis) for a in range(3)))
            found.append(FaceLayer(_within(layer, axis, grid), axis, outward))
    return tuple(found)


def _within(layer: Box, axis: int, grid: StaggeredGrid) -> Box:
    """The same faces: in a periodic direction the last ones are the first."""
    n = grid.cells[axis]
    return (
        layer.shift(triple(-n * (a == axis) for a in range(3)))
        if grid.periodic[axis] and layer.lo[axis] == n
        else layer
    )


def geometry(found: tuple[FaceLayer, ...], grid: StaggeredGrid) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres [side, axis], outward normals [side, axis], and areas."""
    centres, normals, areas = np.zeros((len(found), 3)), np.zeros((len(found), 3)), np.zeros(len(found))
    for n, side in enumerate(found):
        ends = [(grid.faces(a)[side.cells.lo[a]], grid.faces(a)[side.cells.hi[a] - (a == side.axis)]) for a in range(3)]
        centres[n] = [(low + high) / 2 for low, high in ends]
        normals[n, side.axis] = side.outward
        areas[n] = np.prod([high - low for a, (low, high) in enumerate(ends) if a != side.axis])
    return centres, normals, areas
