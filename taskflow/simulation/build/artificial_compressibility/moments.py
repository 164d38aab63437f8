"""Velocities of sides and forces that change in time, tried at some moments of a run before it begins."""

from __future__ import annotations

import numpy as np

from taskflow.errors import BadInput
from taskflow.geometry.grids import MultiBlockGrid, faces
from taskflow.hexahedra import centres
from taskflow.simulation.build.artificial_compressibility.boundaries import velocities
from taskflow.simulation.build.artificial_compressibility.domain import ChartDomain
from taskflow.simulation.build.artificial_compressibility.moving import Moment
from taskflow.simulation.case import Case
from taskflow.simulation.case.charts.sides import BALANCED, IN_PLANE, ChartSide, fluxes
from taskflow.simulation.conditions.inflow import moments


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
