"""The scales of steps of real time: the length and the rates of a grid at its reference speed."""

from __future__ import annotations

import numpy as np

from taskflow.flow.models.artificial_compressibility.dual_time import DualTime
from taskflow.hexahedra import Part, cell_volumes, face_areas, in_parts
from taskflow.simulation.build.artificial_compressibility.domain import ChartDomain
from taskflow.simulation.build.artificial_compressibility.time import Inner
from taskflow.simulation.case import Case

ITERATIONS = {False: 1000, True: 50}  # by whether marching is implicit
ROUNDING = {"double": 1e-12, "single": 1e-5}  # of the largest terms of a balance


def dual_time(case: Case, domain: ChartDomain, speed: float) -> DualTime:
    """The steps of real time of a case with a reference speed."""
    planar = domain.planar
    inner = case.own.inner or Inner()
    return DualTime(
        inner.tolerance, inner.iterations or ITERATIONS[case.own.march == "implicit"],
        length=reference_length(domain, planar=planar),
        rounding=ROUNDING[case.machine.precision], rest=speed * steepest(domain, planar=planar),
    )  # fmt: skip


def reference_length(domain: ChartDomain, *, planar: bool) -> float:
    """The largest extent of the smallest side: of a body, an inlet or a step; without sides that of the grid."""
    axes = slice(0, 2 if planar else 3)
    sizes = [float(np.subtract(*reversed(domain.around(name)))[axes].max()) for name in domain.grid.sides]
    if not (sizes := [size for size in sizes if size > 0]):
        corners = np.concatenate([chart.vertices.reshape(3, -1) for chart in domain.grid.charts], axis=1)
        sizes = [float(np.ptp(corners, axis=1)[axes].max())]
    return min(sizes)


def steepest(domain: ChartDomain, *, planar: bool) -> float:
    """The largest sum over directions of |S| / V, S the mean of both faces."""

    def largest(corners: list[np.ndarray], _: Part) -> float:
        total = 0.0
        for axis in range(2 if planar else 3):
            size = np.sqrt((face_areas(corners, axis) ** 2).sum(axis=0))
            low, high = (np.delete(size, end, axis=2 - axis) for end in (-1, 0))
            total = total + (low + high) / 2
        return float((total / cell_volumes(corners)).max())

    return max(max(in_parts(chart.vertices, largest)) for chart in domain.grid.charts)
