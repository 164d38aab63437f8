"""Rules on combinations of tables with artificial compressibility, and on unsupported features."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from taskflow.cases.language.capabilities import together
from taskflow.cases.language.problems import Problem, missing, no_such_side, numbered, wrong
from taskflow.cases.language.table import Rule, Table, written
from taskflow.cases.tables.charts.probes import groups_differ, points_lie_in_cells
from taskflow.cases.tables.charts.sides import ChartSides
from taskflow.cases.tables.control import CheckpointTable, MonitorTable, Output
from taskflow.cases.tables.initial import ArrayValues, Function, Initial
from taskflow.cases.tables.machine import Machine
from taskflow.cases.tables.magnitudes import REMEDY, Magnitudes
from taskflow.cases.tables.motion import GridMotion, placed
from taskflow.cases.tables.obstacles import BodyTreatment, Obstacles
from taskflow.cases.tables.physics import Forcing, Heat, heat_is_on
from taskflow.cases.tables.pictures import Pictures
from taskflow.cases.tables.planes import Planes
from taskflow.cases.tables.probes import Probes
from taskflow.cases.tables.scalars import Scalars
from taskflow.cases.tables.statistics import StatisticsTable
from taskflow.cases.tables.turbulence import TurbulenceTable
from taskflow.cases.timing.intervals import Every
from taskflow.common.errors import BadInput
from taskflow.common.point_location import reach, thin_along
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.geometry.grids.multiblock.plane import normal
from taskflow.systems.artificial_compressibility.checks import numbers_can_be_computed
from taskflow.systems.artificial_compressibility.given import reference_speed
from taskflow.systems.artificial_compressibility.tables import CompressibilityMethod, MarchTime

LEAST = 1e-5  # residual in single precision
_OWN = re.compile(
    r"b|(?:d|old|past)_\w+|\w+_(?:mid|single)|[uvw]_s|f_[xyz]|[uvwpT]_(?:[rxz]|rest)|T_pivot|later"
    "|sides|metrics|swept|filter_square|own|vectors|warm|carry|coupling_low|coupling_high|pivot|inverse|pseudo"
    "|continuity|momentum(?:_[xyz])?|heat"
)  # other fields of the model, and its equations


def _intervals_are_steps(
    time: MarchTime, output: Output, monitor: MonitorTable, checkpoint: CheckpointTable, pictures: Pictures,
    probes: Probes, planes: Planes,
) -> Iterator[Problem]:
    if time.steady is None:
        return
    tables = {("output",): output, ("monitor",): monitor, ("checkpoint",): checkpoint}
    recorded = *tables.items(), *numbered(pictures=pictures, probes=probes, planes=planes)
    for key, every in ((key, table.every) for key, table in recorded):
        if isinstance(every, Every) and every.time is not None:
            yield wrong((*key, "every"), every.written(), "a steady run counts steps; give { steps = n }")


def _residual_can_be_reached(time: MarchTime, machine: Machine) -> Iterator[Problem]:
    if machine.precision == "single" and time.steady is not None and time.steady < LEAST:
        remedy = f'single precision gets no further than {LEAST:g}; give that, or machine.precision = "double"'
        yield wrong(("time", "steady"), time.steady, remedy)


def _keys_of_real_time(
    method: CompressibilityMethod, time: MarchTime, boundaries: ChartSides, body: Forcing
) -> Iterator[Problem]:
    if time.steady is None:
        if method.stall != "fail":
            yield wrong(("method", "stall"), method.stall, "it is for steady runs; omit it, or give time.steady")
        return
    if method.inner is not None:
        yield wrong(("method", "inner"), method.inner.written(), "it is for unsteady runs; omit it, or time.steady")
    if method.linear is not None and method.linear.lag is not None:
        remedy = "the CFL number triples between the iterations of a steady march; omit it, or time.steady"
        yield wrong(("method", "linear", "lag"), method.linear.lag, remedy)
    remedy = "a steady run has no time; omit t, or time.steady"
    for name, side in boundaries.sides.items():
        if side.changes:
            yield wrong((*boundaries.key(name), "velocity"), written(side.velocity), remedy)
    if body.changes:
        yield wrong(("body", "force"), written(body.force), remedy)


def _needs_real_time(key: str, table: Table | None, time: MarchTime, why: str) -> Iterator[Problem]:
    if table is not None and time.steady is not None:
        yield wrong(key, table.written(), f"{why}; omit it, or time.steady")


def _averages_are_of_real_time(time: MarchTime, statistics: StatisticsTable | None) -> Iterator[Problem]:
    yield from _needs_real_time("statistics", statistics, time, "averages are over real time")


def _eddies_are_followed(time: MarchTime, turbulence: TurbulenceTable | None) -> Iterator[Problem]:
    yield from _needs_real_time("turbulence", turbulence, time, "large eddies are followed in real time")


def _motion_is_possible(
    motion: GridMotion | None, time: MarchTime, charts: MultiBlockGrid, boundaries: ChartSides, machine: Machine
) -> Iterator[Problem]:
    yield from _needs_real_time("motion", motion, time, "a grid moves in real time")
    if motion is None:
        return
    if machine.precision == "single":
        remedy = 'moving grids need double precision in this version; give precision = "double", or omit it'
        yield wrong("motion", motion.written(), remedy)
    yield from _periods_are_kept(motion, charts)
    across = normal(charts)
    for key, value in motion.formulas.items():
        kind, _, axis = key.partition(".")
        leaves = across is not None and (axis == "xyz"[across]) == (kind == "displacement")
        if leaves and value != 0.0:
            remedy = "a grid in two dimensions stays in its plane; omit it"
            yield wrong(("motion", *key.split(".")), written(value), remedy)
    for name, side in boundaries.sides.items():
        in_plane = across is not None and all(patch.axis == 2 for patch in charts.sides.get(name, ()))
        if side.kind.symmetric and not in_plane:
            yield wrong(boundaries.key(name), side.written(), together("motion", "give a wall, or omit motion"))


def _periods_are_kept(motion: GridMotion, charts: MultiBlockGrid) -> Iterator[Problem]:
    """A periodic direction must stay fixed: a periodic grid may only turn about it."""
    periods = {max(seam.translation, seam.reverse.translation) for seam in charts.seams if any(seam.translation)}
    turned = {axis: period for period in sorted(periods) for axis in motion.turns(np.array(period))}
    for axis, period in sorted(turned.items()):
        along = ", ".join(f"{length:.4g}" for length in period)
        remedy = f"the grid is periodic along ({along}), which may not turn; turn it about that alone, or give sides"
        yield wrong(("motion", "angle", axis), written(getattr(motion.angle, axis)), f"{remedy} instead")


def _bodies_are_immersed(obstacles: Obstacles, bodies: BodyTreatment) -> Iterator[Problem]:
    if obstacles and bodies.treatment != "immersed":
        yield wrong(("bodies", "treatment"), bodies.treatment, 'charts have no stair steps; give "immersed"')


def _bodies_move_in_real_time(obstacles: Obstacles, time: MarchTime) -> Iterator[Problem]:
    for key, obstacle in numbered(obstacles=obstacles):
        if obstacle.motion is not None and time.steady is not None:
            yield wrong((*key, "motion"), obstacle.motion.written(), "bodies move in real time; omit it or time.steady")


def _bodies_stay_in_their_plane(obstacles: Obstacles, charts: MultiBlockGrid) -> Iterator[Problem]:
    if (across := normal(charts)) is None:
        return
    axis = "xyz"[across]
    for key, obstacle in numbered(obstacles=obstacles):
        if (motion := obstacle.motion) is None:
            continue
        if motion.displacement and motion.displacement[across].source not in (0, "0"):
            remedy = f"a body in two dimensions stays in its plane; give 0 along {axis}"
            yield wrong((*key, "motion", "displacement"), motion.written()["displacement"], remedy)
        for about, angle in motion.angle or ():
            if angle is not None and about != axis:
                remedy = f"a body in two dimensions turns about {axis} alone; give angle.{axis}, or omit it"
                yield wrong((*key, "motion", "angle", about), angle.source, remedy)


def _bodies_have_names_of_their_own(obstacles: Obstacles, charts: MultiBlockGrid) -> Iterator[Problem]:
    """Forces on sides and bodies are logged by name."""
    for key, obstacle in numbered(obstacles=obstacles):
        if obstacle.name in charts.sides:
            yield wrong((*key, "name"), obstacle.name, "a side of the grid has this name; give another")


def _bodies_have_their_method(method: CompressibilityMethod, obstacles: Obstacles) -> Iterator[Problem]:
    if obstacles and method.flux != "upwind":
        yield wrong(("method", "flux"), method.flux, 'central fluxes are not available at bodies; give "upwind"')
    if obstacles and method.march != "implicit":
        yield wrong(("method", "march"), method.march, 'bodies need implicit marching; give "implicit"')


def _coupled_scalars_are_there(
    method: CompressibilityMethod, heat: Heat | None, scalars: Scalars, obstacles: Obstacles
) -> Iterator[Problem]:  # fmt: skip
    coupled = (method.linear.coupled if method.linear else None) or ()
    key, listed, known = ("method", "linear", "coupled"), list(coupled), [scalar.name for scalar in scalars]
    for name in coupled:
        if name == "T" and heat is None:
            yield wrong(key, listed, "there is no heat; give [heat], or omit it")
        elif name in known:
            yield wrong(key, listed, f"the flow does not depend on {name}, which follows it; give T alone, or omit it")
        elif name != "T":
            yield wrong(key, listed, f"the case has no scalar {name}; give T alone, or omit it")
    if coupled and obstacles:
        yield wrong(key, listed, "not available with bodies inside charts in this version; omit it")


def _pressure_level_is_free(method: CompressibilityMethod, boundaries: ChartSides) -> Iterator[Problem]:
    if method.pressure_at is None:
        return
    for name, side in boundaries.sides.items():
        if side.kind.fixes_pressure:
            remedy = f"{boundaries.place(name)} prescribes the pressure; omit it"
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
    body: Forcing, time: MarchTime, machine: Machine, motion: GridMotion | None,
) -> Iterator[Problem]:  # fmt: skip
    if method.reference_speed != "auto" or (isinstance(method.compressibility, float) and time.steady is not None):
        return
    if not _starts_by_formulas(initial) or not charts.sides.keys() <= boundaries.sides.keys():
        return  # missing sides are reported by other rules
    try:
        speed = reference_speed(placed(charts, motion), boundaries, initial, heat, body)
    except BadInput:
        return  # reported when the formula is evaluated
    if speed == 0:
        remedy = "everything is at rest; give a speed that the flow will reach, a number > 0"
        yield wrong(("method", "reference_speed"), "auto", remedy)
    elif lost := Magnitudes((1.0, 1.0, 1.0), 0.0, machine.precision).spacing(speed):
        yield wrong(("method", "reference_speed"), "auto", f"the largest speed is {speed:.3g}; {lost}; {REMEDY}")


def _starts_by_formulas(initial: Initial) -> bool:
    return not any(isinstance(value, Function | ArrayValues) for value in (*initial.velocity, initial.temperature))


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
    """A chart one cell thick that is joined to itself is two-dimensional: its third direction is omitted."""
    sides = {(patch.chart, patch.axis) for patches in charts.sides.values() for patch in patches}
    if normal(charts) is not None:
        return
    for number, chart in enumerate(charts.charts):
        for axis, count in enumerate(chart.cells):
            if count == 1 and (number, axis) not in sides:
                yield Problem(
                    ("grid",),
                    f"chart {number + 1} is one cell thick along {'ijk'[axis]}, and joined to itself there; in two"
                    " dimensions all charts lie between the same two planes across x, y or z: move it there, or give"
                    " 4 cells",
                )


def _scalars_have_names(scalars: Scalars) -> Iterator[Problem]:
    """Scalars must not have the name of another field or of an equation, because residuals are reported by name."""
    for key, scalar in numbered(scalars=scalars):
        if _OWN.fullmatch(scalar.name):
            remedy = "the model on charts has a field or an equation of this name; give another"
            yield wrong((*key, "name"), scalar.name, remedy)


def _scalars_have_sides(charts: MultiBlockGrid, boundaries: ChartSides, scalars: Scalars) -> Iterator[Problem]:
    for key, scalar in numbered(scalars=scalars):
        for name, side in scalar.boundaries.sides.items():
            where, kind = (*key, "boundaries", name), boundaries.sides.get(name)
            if name not in charts.sides:
                yield wrong(where, side.written(), no_such_side(name, charts.sides))
            elif boundaries.place(name).startswith("openings"):
                remedy = f"it is an opening; give {boundaries.place(name)}.scalars = {{ {scalar.name} = value }}"
                yield wrong(where, side.written(), remedy)
            elif kind is not None and not (kind.kind.solid or kind.kind.enters):
                yield wrong(where, side.written(), f"a side of type {kind.type} takes no scalar; omit it")
            elif kind is not None and side.flux is not None and not kind.kind.solid:
                remedy = "a flux is given on walls; give the value that enters"
                yield wrong((*where, "flux"), written(side.flux), remedy)
            elif side.value is None and side.flux is None:
                yield missing("value", "give a value, or a flux").within(where)
            elif side.flux and scalar.diffusivity == 0:
                yield wrong((*where, "flux"), written(side.flux), "nothing diffuses without diffusivity; give one")


RULES: tuple[Rule, ...] = (
    _scalars_have_names, _scalars_have_sides, _thin_charts_are_flat, heat_is_on,
    _intervals_are_steps, _residual_can_be_reached, _keys_of_real_time,
    _averages_are_of_real_time, _eddies_are_followed, _motion_is_possible, _bodies_are_immersed,
    _bodies_move_in_real_time, _bodies_stay_in_their_plane, _bodies_have_names_of_their_own,
    _bodies_have_their_method, _coupled_scalars_are_there,
    _pressure_level_is_free, _pressure_point_is_inside, _speed_is_known, _pictures_cut_the_grid,
    points_lie_in_cells, groups_differ, numbers_can_be_computed,
)  # fmt: skip
