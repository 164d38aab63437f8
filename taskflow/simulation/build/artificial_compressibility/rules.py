"""Rules on how tables of a case by artificial compressibility fit each other, and on what it cannot be asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from taskflow.analysis.charts.points import reach, thin_along
from taskflow.errors import BadInput, named
from taskflow.geometry.grids import MultiBlockGrid, faces
from taskflow.geometry.grids.outline import planar
from taskflow.hexahedra import centres
from taskflow.simulation.build.artificial_compressibility.checks import numbers_can_be_computed
from taskflow.simulation.build.artificial_compressibility.profiles import largest, walls_of
from taskflow.simulation.build.artificial_compressibility.tables import ChartTime, CompressibilityMethod
from taskflow.simulation.case.charts.machine import ChartMachine
from taskflow.simulation.case.charts.physics import FORMULA, ChartForcing, scalars_have_names, scalars_have_sides
from taskflow.simulation.case.charts.probes import ChartPlanes, groups_differ, planes_have_cells, points_lie_in_cells
from taskflow.simulation.case.charts.sides import ChartSides
from taskflow.simulation.case.control import CheckpointTable, MonitorTable, Output
from taskflow.simulation.case.initial import Function, Given, Initial
from taskflow.simulation.case.magnitudes import REMEDY, Magnitudes
from taskflow.simulation.case.method import keys_are_read
from taskflow.simulation.case.motion import GridMotion, placed
from taskflow.simulation.case.physics import Heat, TurbulenceTable, heat_is_on
from taskflow.simulation.case.pictures import Pictures
from taskflow.simulation.case.probes import Probes
from taskflow.simulation.case.problems import Problem, numbered, wrong
from taskflow.simulation.case.statistics import StatisticsTable
from taskflow.simulation.case.table import Table, written
from taskflow.simulation.timing.schedule import Every

CARTESIAN = "it needs a Cartesian grid; leave it out"
TABLES: Mapping[str, str] = {
    "obstacles": "bodies are sides of body-fitted grids; leave it out",
    "bodies": "bodies are sides of body-fitted grids; leave it out",
    "pressure": "the pressure is marched with the velocity, by no solver of its own; leave it out",
    "surfaces": CARTESIAN, "isosurfaces": CARTESIAN, "spectra": CARTESIAN,
}  # fmt: skip
"""Tables that others have, each with its remedy."""
LEAST = 1e-5  # residual in single precision


def _intervals_are_steps(
    time: ChartTime, output: Output, monitor: MonitorTable, checkpoint: CheckpointTable, pictures: Pictures,
    probes: Probes, planes: ChartPlanes,
) -> Iterator[Problem]:
    if time.steady is None:
        return
    tables = {("output",): output, ("monitor",): monitor, ("checkpoint",): checkpoint}
    recorded = *tables.items(), *numbered(pictures=pictures, probes=probes, planes=planes)
    for key, every in ((key, table.every) for key, table in recorded):
        if isinstance(every, Every) and every.time is not None:
            yield wrong((*key, "every"), every.written(), "a steady run counts steps; give { steps = n }")


def _residual_can_be_reached(time: ChartTime, machine: ChartMachine) -> Iterator[Problem]:
    if machine.precision == "single" and time.steady is not None and time.steady < LEAST:
        remedy = f'single precision gets no further than {LEAST:g}; give that, or machine.precision = "double"'
        yield wrong(("time", "steady"), time.steady, remedy)


def _keys_of_real_time(
    method: CompressibilityMethod, time: ChartTime, boundaries: ChartSides, body: ChartForcing
) -> Iterator[Problem]:
    if time.steady is None:
        if method.stall != "fail":
            yield wrong(("method", "stall"), method.stall, "it is of a steady run; leave it out, or give time.steady")
        return
    if method.inner is not None:
        yield wrong(("method", "inner"), method.inner.written(), "it is of real time; leave it out, or time.steady")
    remedy = "a steady run has no time; leave t out, or time.steady"
    for name, side in boundaries.sides.items():
        if side.changes:
            yield wrong(("boundaries", name, "velocity"), written(side.velocity), remedy)
    if body.changes:
        yield wrong(("body", "force"), written(body.force), remedy)


def _needs_real_time(key: str, table: Table | None, time: ChartTime, why: str) -> Iterator[Problem]:
    if table is not None and time.steady is not None:
        yield wrong(key, table.written(), f"{why}; leave it out, or time.steady")


def _averages_are_of_real_time(time: ChartTime, statistics: StatisticsTable | None) -> Iterator[Problem]:
    yield from _needs_real_time("statistics", statistics, time, "averages are over real time")


def _eddies_are_followed(time: ChartTime, turbulence: TurbulenceTable | None) -> Iterator[Problem]:
    yield from _needs_real_time("turbulence", turbulence, time, "large eddies are followed in real time")
    if turbulence is not None and turbulence.damping == "van-driest":
        remedy = 'not available on charts in this version; give "none", or another model, as "wale"'
        yield wrong(("turbulence", "damping"), turbulence.damping, remedy)


def _motion_is_possible(
    motion: GridMotion | None, time: ChartTime, charts: MultiBlockGrid, boundaries: ChartSides, machine: ChartMachine
) -> Iterator[Problem]:
    yield from _needs_real_time("motion", motion, time, "a grid moves in real time")
    if motion is None:
        return
    if machine.precision == "single":
        remedy = 'moving grids need double precision in this version; give precision = "double", or leave it out'
        yield wrong("motion", motion.written(), remedy)
    yield from _periods_are_kept(motion, charts)
    level = planar(charts)
    for key, value in motion.formulas.items():
        if level and value != 0.0 and key in ("angle.x", "angle.y", "displacement.z"):
            remedy = "a grid in two dimensions stays in its plane; leave it out"
            yield wrong(("motion", *key.split(".")), written(value), remedy)
    for name, side in boundaries.sides.items():
        across = level and all(patch.axis == 2 for patch in charts.sides.get(name, ()))
        if side.type in ("slip", "symmetry") and not across:
            remedy = "on a grid that moves it is not available in this version; give a wall, or leave motion out"
            yield wrong(("boundaries", name), side.written(), remedy)
        if side.type == "wall" and side.velocity != (0.0, 0.0, 0.0):
            remedy = "walls move with the grid; their own motion is not available in this version; leave it out"
            yield wrong(("boundaries", name, "velocity"), written(side.velocity), remedy)


def _periods_are_kept(motion: GridMotion, charts: MultiBlockGrid) -> Iterator[Problem]:
    """A flow repeats itself along a direction that stays: a grid that is periodic turns about that alone."""
    periods = {max(seam.translation, seam.reverse.translation) for seam in charts.seams if any(seam.translation)}
    turned = {axis: period for period in sorted(periods) for axis in motion.turns(np.array(period))}
    for axis, period in sorted(turned.items()):
        along = ", ".join(f"{length:.4g}" for length in period)
        remedy = f"the grid is periodic along ({along}), which may not turn; turn it about that alone, or give sides"
        yield wrong(("motion", "angle", axis), written(getattr(motion.angle, axis)), f"{remedy} in its place")


def _pressure_level_is_free(method: CompressibilityMethod, boundaries: ChartSides) -> Iterator[Problem]:
    if method.pressure_at is None:
        return
    for name, side in boundaries.sides.items():
        if side.type in ("outflow", "far-field"):
            remedy = f"boundaries.{name} says how high the pressure is; leave it out"
            yield wrong(("method", "pressure_at"), method.pressure_at, remedy)
            return


def _pressure_point_is_inside(method: CompressibilityMethod, charts: MultiBlockGrid) -> Iterator[Problem]:
    if method.pressure_at is None:
        return
    low, high = reach(chart.vertices for chart in charts.charts)
    if not all(a <= x <= b for a, x, b in zip(low, method.pressure_at, high, strict=True)):
        remedy = f"beyond the grid, which reaches from {low} to {high}; give a point in it"
        yield wrong(("method", "pressure_at"), method.pressure_at, remedy)


def _speed_is_known(
    method: CompressibilityMethod, charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat | None,
    body: ChartForcing, time: ChartTime, machine: ChartMachine, motion: GridMotion | None,
) -> Iterator[Problem]:  # fmt: skip
    if method.reference_speed != "auto" or (isinstance(method.compressibility, float) and time.steady is not None):
        return
    if any(_starts_by_formulas(initial)) or not charts.sides.keys() <= boundaries.sides.keys():
        return  # who misses a side says it
    try:
        speed = reference_speed(placed(charts, motion), boundaries, initial, heat, body)
    except BadInput:
        return  # whoever evaluates the formula says it
    if speed == 0:
        remedy = "everything is at rest; give a speed that the flow will reach, a number > 0"
        yield wrong(("method", "reference_speed"), "auto", remedy)
    elif lost := Magnitudes((1.0, 1.0, 1.0), 0.0, machine.precision).spacing(speed):
        yield wrong(("method", "reference_speed"), "auto", f"the largest speed is {speed:.3g}; {lost}; {REMEDY}")


@np.errstate(over="ignore")  # of squares: rules say which numbers are too large
def reference_speed(
    charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat | None, body: ChartForcing
) -> float:  # fmt: skip
    """The largest speed that is given on a side, or at some points of the initial state; that of free convection,
    root(expansion gravity dT L), where it is larger; 0 where everything is at rest. Raises BadInput where a formula is
    not finite.
    """
    speeds = [0.0, free_convection(charts, boundaries, initial, heat, body)]
    for name, side in boundaries.sides.items():
        if side.velocity is None or name not in charts.sides:
            continue
        patches, factor = charts.sides[name], 1.0
        with named(f"boundaries.{name}.velocity"):
            if side.profile:
                factor = largest(charts, patches, walls_of(charts, boundaries.sides))
            for patch in patches:
                velocity = np.stack(side.at(*faces(charts, patch)[0]))
                speeds.append(factor * float(np.sqrt((velocity**2).sum(axis=0)).max()))
    begun = _begun(charts, "velocity", [u for u in initial.velocity if not isinstance(u, Given)])
    speeds += [float(np.sqrt(sum(u**2 for u in components)).max()) for components in begun]
    return max(speeds)


def free_convection(
    charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat | None, body: ChartForcing
) -> float:  # fmt: skip
    """root(|expansion| |gravity| dT L), dT the range of given temperatures, L the extent of the grid along gravity."""
    pull = np.array(body.gravity)
    if heat is None or not pull.any():
        return 0.0
    size = math.hypot(*body.gravity)
    along = [np.tensordot(pull / size, _some(chart.vertices), 1) for chart in charts.charts]
    height = max(float(s.max()) for s in along) - min(float(s.min()) for s in along)
    return math.sqrt(abs(heat.expansion) * size * warmth(charts, boundaries, initial, heat) * height)


def warmth(charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat) -> float:
    """The range of the given temperatures, the reference among them. Raises BadInput where a formula is not finite."""
    values = [heat.reference]
    for side in boundaries.sides.values():
        values += [number for number in (side.temperature, side.outside_temperature) if number is not None]
    if initial.temperature is not None and not isinstance(initial.temperature, Given):
        for (begun,) in _begun(charts, "temperature", [initial.temperature]):
            values += [float(begun.min()), float(begun.max())]
    return max(values) - min(values)


def _begun(charts: MultiBlockGrid, name: str, formulas: Sequence[Any]) -> Iterator[list[np.ndarray]]:
    """The values of formulas of [initial] at some vertices of each chart, or where one is not finite there, at the
    centres of all cells. Raises BadInput where one is not finite at a centre, either.
    """
    for number, chart in enumerate(charts.charts, start=1):
        try:
            try:
                values = [np.asarray(formula(*_some(chart.vertices))) for formula in formulas]
            except BadInput:
                values = [np.asarray(formula(*centres(chart.vertices))) for formula in formulas]
            yield values
        except BadInput as error:
            raise BadInput(f"initial.{name}: on chart {number} {error}") from None


def _some(vertices: np.ndarray, most: int = 24) -> np.ndarray:
    """Up to so many of the vertices [xyz, k, j, i] along each direction, the first and the last among them."""
    for axis in (1, 2, 3):
        count = vertices.shape[axis]
        vertices = vertices.take(np.linspace(0, count - 1, min(count, most)).round().astype(int), axis=axis)
    return vertices


def _starts_by_formulas(initial: Initial) -> Iterator[Problem]:
    for name in ("velocity", "temperature"):
        values = getattr(initial, name)
        for value in values if isinstance(values, tuple) else (values,):
            if isinstance(value, Function | Given):
                yield wrong(("initial", name), value.source, FORMULA)


def _pictures_cut_the_grid(
    charts: MultiBlockGrid, pictures: Pictures, motion: GridMotion | None
) -> Iterator[Problem]:  # fmt: skip
    parts = [chart.vertices for chart in (placed(charts, motion) if pictures else charts).charts]
    thin = thin_along(parts)
    normal = None if thin is None else thin[0]
    for key, picture in numbered(pictures=pictures):
        if picture.isosurface is not None:
            if normal is not None:
                remedy = f"a surface needs three dimensions; give {'xyz'[normal]}: where a slice is"
                yield wrong((*key, "isosurface"), picture.isosurface, remedy)
            continue
        axis, at = "xyz"[picture.axis], picture.position
        ends = [(x[picture.axis].min(), x[picture.axis].max()) for x in parts]
        if normal not in (None, picture.axis):
            remedy = f"a grid in two dimensions is drawn in its plane; give {'xyz'[normal]}"
            yield wrong((*key, axis), at, remedy)
        elif not any(low <= at <= high for low, high in ends):
            reach = f"{axis} goes from {min(ends)[0]:g} to {max(high for _, high in ends):g}"
            yield wrong((*key, axis), at, f"beyond the grid, where {reach}; give a place in it")


def _thin_charts_are_flat(charts: MultiBlockGrid) -> Iterator[Problem]:
    """A chart one cell thick that is joined to itself is one of two dimensions: its third one is left out."""
    sides = {(patch.chart, patch.axis) for patches in charts.sides.values() for patch in patches}
    level = planar(charts)
    for number, chart in enumerate(charts.charts):
        for axis, count in enumerate(chart.cells):
            if count == 1 and (number, axis) not in sides and not (level and axis == 2):
                yield Problem(
                    ("grid",),
                    f"chart {number + 1} is one cell thick along {'ijk'[axis]}, and joined to itself there; in two"
                    " dimensions all charts lie in a plane across z and are one cell thick along k: turn it, or give 4"
                    " cells",
                )


CompressibilityMethod.rules = (
    scalars_have_names, scalars_have_sides, _starts_by_formulas, _thin_charts_are_flat,
    keys_are_read, heat_is_on, _intervals_are_steps, _residual_can_be_reached, _keys_of_real_time,
    _averages_are_of_real_time, _eddies_are_followed, _motion_is_possible,
    _pressure_level_is_free, _pressure_point_is_inside, _speed_is_known, _pictures_cut_the_grid,
    points_lie_in_cells, planes_have_cells, groups_differ, numbers_can_be_computed,
)  # fmt: skip
