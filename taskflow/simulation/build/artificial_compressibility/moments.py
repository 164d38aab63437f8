"""Formulas of a case, tried before a run begins: initial fields; velocities of sides and forces at some moments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from taskflow.errors import BadInput
from taskflow.flow.model import VELOCITY
from taskflow.geometry.grids import MultiBlockGrid, faces
from taskflow.hexahedra import Part, centres, in_parts
from taskflow.simulation.build.artificial_compressibility.boundaries import velocities
from taskflow.simulation.build.artificial_compressibility.domain import ChartDomain
from taskflow.simulation.build.artificial_compressibility.moving import Moment
from taskflow.simulation.case import Case
from taskflow.simulation.case.charts.sides import BALANCED, IN_PLANE, ChartSide, fluxes
from taskflow.simulation.conditions.inflow import moments
from taskflow.simulation.formulas.expression import Expression


def initial_fields_fit(initial: Mapping[str, Any], grid: MultiBlockGrid) -> None:
    """Raises BadInput where a formula of an initial field is not finite on some chart."""
    uniform = all(isinstance(profile, Expression) and profile.uniform for profile in initial.values())
    for number, chart in enumerate(grid.charts, start=1):
        vertices = chart.vertices[:, :2, :2, :2] if uniform else chart.vertices
        in_parts(vertices, partial(_try_formulas, initial, number))


def _try_formulas(initial: Mapping[str, Any], chart: int, corners: list[np.ndarray], _: Part) -> None:
    places = centres(corners)
    for name, profile in initial.items():
        try:
            profile(*places)
        except BadInput as error:
            key = {"T": "initial.temperature"}.get(name, "initial.velocity" if name in VELOCITY else name)
            raise BadInput(f"{key}: on chart {chart} {error}") from None


def sides_fit(case: Case, domain: ChartDomain) -> None:
    """Raises BadInput where a velocity or the force is not finite, a wall moves out of its plane, or more enters
    through closed sides than leaves; rules of the case have tried the sides at time 0.
    """
    boundaries, body, grid = case.table("boundaries"), case.table("body"), domain.grid
    if domain.motion is not None:
        domain.motion.check(max(moments(case)))
    changing = body.changes or any(side.changes for side in boundaries.sides.values())
    for time in moments(case) if changing else [0.0]:
        for chart in grid.charts if body.varies else ():
            body.at(*centres(domain.moved(chart.vertices, time)), time)
        for name, side in boundaries.sides.items():
            if side.velocity is not None:
                list(velocities(name, side, domain, Moment(time)))
            if time and side.type == "wall" and side.changes:
                _in_plane(name, side, grid, time)
        if time and all(side.type not in ("outflow", "far-field") for side in boundaries.sides.values()):
            through = fluxes(grid, boundaries, time)
            net, most = sum(through.values()), sum(map(abs, through.values()))
            if abs(net) > BALANCED * most:
                what = f"{abs(net):.4g} per time {'leaves' if net > 0 else 'enters'} through {', '.join(through)}"
                raise BadInput(f"boundaries: at t = {time:g} {what}, and all other sides are closed; give an outflow")


def _in_plane(name: str, side: ChartSide, grid: MultiBlockGrid, time: float) -> None:
    fastest, outwards = 0.0, 0.0
    for patch in grid.sides[name]:
        (x, y, z), areas = faces(grid, patch)
        velocity = np.stack(side.at(x, y, z, time))
        normal = (velocity * areas).sum(axis=0) / np.sqrt((areas**2).sum(axis=0))
        fastest = max(fastest, float(np.abs(velocity).max()))
        outwards = max(outwards, float(np.abs(normal).max()))
    if outwards > IN_PLANE * fastest:
        raise BadInput(
            f"boundaries.{name}.velocity: at t = {time:g} a wall moves in its own plane only, and this points out of it"
            f" by {outwards:.3g}; give an inflow"
        )
