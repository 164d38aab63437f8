"""Checks of a case on charts before a run:

- magnitudes that the equations cannot handle
- formulas of initial fields, sides and forces, at some moments
- warnings of nearly coincident sides and of unstable pseudo-time steps
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from taskflow.cases import Case
from taskflow.cases.formulas.expression import Expression
from taskflow.cases.language.problems import Problem
from taskflow.cases.tables.charts.sides import out_of_plane, unbalanced
from taskflow.cases.tables.machine import Machine
from taskflow.cases.tables.magnitudes import CHECKED, REMEDY, Checks, Magnitudes, largest_diffusivity, lost_numbers
from taskflow.common.errors import BadInput, named
from taskflow.common.hexahedra import Part, centres, in_parts
from taskflow.common.point_location import thin_along
from taskflow.flow.model import VELOCITY
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.stability import longest
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.geometry.grids.multiblock.plane import normal
from taskflow.systems.artificial_compressibility.boundaries import velocities
from taskflow.systems.artificial_compressibility.domain import ChartDomain, unit_of
from taskflow.systems.artificial_compressibility.moment import TimeLevels
from taskflow.systems.artificial_compressibility.tables import CompressibilityMethod
from taskflow.systems.initial.side_profiles import times_of

ON_CHARTS: Checks = {
    **CHECKED,
    CompressibilityMethod: {"reference_speed": Magnitudes.spacing, "compressibility": Magnitudes.divisor},
}
"""How the numbers of each table are checked, by key; speeds and lengths of reference divide by their squares."""


def numbers_on(charts: MultiBlockGrid, tables: Mapping[str, Any], machine: Machine) -> Magnitudes:
    """Return the magnitude checks for the thinnest cells, in the unit of kernels, for the tables of a case."""
    thinnest = min(chart.sizes.thickness[3 if normal(charts) is None else 2][0] for chart in charts.charts)
    unit = unit_of(charts)
    return Magnitudes((thinnest / unit,) * 3, largest_diffusivity(tables) / unit, machine.precision)


def numbers_can_be_computed(charts: MultiBlockGrid, tables: Mapping[str, Any], machine: Machine) -> Iterator[Problem]:
    """Yield a problem for cell volumes, and for each number, whose powers or products overflow or underflow."""
    numbers = numbers_on(charts, tables, machine)
    least = min(chart.sizes.least for chart in charts.charts)
    largest = max(chart.sizes.largest for chart in charts.charts)
    for volume in (least, largest):
        if lost := numbers.divisor(volume / unit_of(charts) ** 3):
            yield Problem(("grid",), f"a cell has the volume {volume:.3g}; {lost}; {REMEDY}")
            return
    yield from lost_numbers(numbers, tables, ON_CHARTS)


def initial_fields_fit(initial: Mapping[str, Any], grid: MultiBlockGrid, numbers: Magnitudes) -> None:
    """Raise BadInput if a formula of an initial field is not finite on a chart, or too large for the equations."""
    uniform = all(isinstance(profile, Expression) and profile.uniform for profile in initial.values())
    for number, chart in enumerate(grid.charts, start=1):

        def try_formulas(corners: np.ndarray, _: Part, number: int = number) -> None:
            places = centres(corners)
            for name, profile in initial.items():
                check = numbers.velocity if name in VELOCITY else numbers.carried
                try:
                    _fits(profile(*places), check)
                except BadInput as error:
                    key = {"T": "initial.temperature"}.get(name, "initial.velocity" if name in VELOCITY else name)
                    raise BadInput(f"{key}: on chart {number} {error}") from None

        in_parts(chart.vertices[:, :2, :2, :2] if uniform else chart.vertices, try_formulas)


def _fits(values: np.ndarray, check: Callable[[float], str | None]) -> None:
    """Raise BadInput if the largest value of a formula is too large."""
    largest = float(np.abs(values).max())
    if lost := check(largest):
        raise BadInput(f"there are values of {largest:g}; {lost}; give smaller ones")


def sides_fit(case: Case, domain: ChartDomain, numbers: Magnitudes) -> None:
    """Raise BadInput if a velocity or the force is not finite or too large, if a wall moves out of its plane, or if
    inflow exceeds outflow through closed sides. Rules of the case have checked the sides at time 0.
    """
    boundaries, body, grid = case.table("boundaries"), case.table("body"), domain.grid
    if domain.motion is not None:
        domain.motion.check(max(times_of(case)))
    changing = body.changes or any(side.changes for side in boundaries.sides.values())
    for time in times_of(case) if changing else [0.0]:
        for chart in grid.charts if body.varies else ():
            body.at(*centres(domain.moved(chart.vertices, time)), time)
        for name, side in boundaries.sides.items():
            if side.velocity is not None:
                for _, velocity in velocities(name, boundaries, domain, TimeLevels(time)):
                    with named(f"{boundaries.place(name)}.velocity: at t = {time:g}"):
                        _fits(velocity, numbers.velocity)
            if time and side.kind.solid and side.changes and (words := out_of_plane(grid, name, side, time)):
                raise BadInput(f"{boundaries.place(name)}.velocity: at t = {time:g} {words}")
        if time and (words := unbalanced(grid, boundaries, domain.motion, time)):
            raise BadInput(f"boundaries: at t = {time:g} {words}; give an outflow")


def march_warnings(case: Case, model: ArtificialCompressibility, thickness: tuple[float, float]) -> Iterator[str]:
    """Yield warnings. `thickness`: of the thinnest and thickest cells."""
    table = case.table("grid")
    if table.file and "scale" not in table.model_fields_set and (units := table.grid().units):
        yield f"grid.file: {units}, grid.scale = 1 says that they are meant so"
    for gap in table.gaps():
        yield f"grid.file: {gap}"
    if not model.planar and (thin := thin_along([chart.vertices for chart in table.grid().charts])):
        across = "xyz"[thin[0]]
        yield (
            f"grid: one cell thick along {across}, but not between two planes {across} = constant, so that the flow is"
            " computed in three dimensions, and the thickness bounds the steps; move the vertices into two planes"
        )
    if case.own.march != "implicit" and case.turbulence is None:
        yield from _too_long(model, *thickness)


def _too_long(model: ArtificialCompressibility, thinnest: float, thickest: float) -> Iterator[str]:
    """Warn if waves grow in a fluid at rest: in the thinnest cells, or in the thickest with local steps."""
    method, dims = model.method, 2 if model.planar else 3
    sound = math.sqrt(method.least_compressibility(model.speed))
    bounds = {}
    for size in {thinnest, thinnest if method.global_steps else thickest}:
        friction, spread = (q / (sound * size) for q in (model.fluid.viscosity, model.spread))
        bounds[longest(method, dims, friction, spread)] = size
    least = min(bounds)
    if least < method.courant:
        usual = replace(method, cfl=None).courant
        other = f"omit it, which is {usual:g}" if usual < least else "another method.march"
        yield (
            f"method.cfl = {method.courant:g}{'' if method.cfl else ' by default'}: it is stable up to {least:.3g} in"
            f" cells {bounds[least]:.3g} thick, even where the fluid is at rest; give less, or {other}"
        )
