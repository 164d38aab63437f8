"""Rules on what bodies that move, and implicit diffusion, need of a case, and on what they do not go together with."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.cases.language.problems import Problem, numbered, wrong
from taskflow.cases.language.table import Rule
from taskflow.cases.tables.boundaries import Boundaries
from taskflow.cases.tables.control import Time
from taskflow.cases.tables.grid import GridTable
from taskflow.cases.tables.method import Method
from taskflow.cases.tables.obstacles import BodyMotion, BodyTreatment, Obstacles
from taskflow.cases.tables.physics import Forcing, TurbulenceTable
from taskflow.cases.tables.pressure import PressureTable
from taskflow.cases.tables.statistics import StatisticsTable

KEY = ("time", "implicit")


def _motions_are_of_immersed_bodies(
    method: Method | None, bodies: BodyTreatment, obstacles: Obstacles
) -> Iterator[Problem]:
    motions: dict[str | None, BodyMotion] = {}
    for key, obstacle in numbered(obstacles=obstacles):
        if obstacle.motion is None:
            continue
        at, written = (*key, "motion"), obstacle.motion.written()
        if method is not None:
            yield wrong(at, written, f'not available with the model "{method.type}" in this version; leave it out')
        elif bodies.treatment != "immersed":
            remedy = 'stair steps that move make the pressure jump; give bodies.treatment = "immersed"'
            yield wrong(at, written, remedy)
        if motions.setdefault(obstacle.name, obstacle.motion) != obstacle.motion:
            remedy = f'another part of "{obstacle.name}" moves otherwise; give the parts of one name one motion'
            yield wrong(at, written, remedy)


def _motions_have_what_they_need(pressure: PressureTable, time: Time, obstacles: Obstacles) -> Iterator[Problem]:
    if any(obstacle.motion for obstacle in obstacles):
        if pressure.solver == "fft":
            remedy = 'it does not know the faces of bodies that move; give "multigrid"'
            yield wrong(("pressure", "solver"), pressure.solver, remedy)
        if time.scheme != "ab2":
            remedy = 'not available with bodies that move in this version; give "ab2"'
            yield wrong(("time", "scheme"), time.scheme, remedy)


def _motions_are_of_flows_without(
    body: Forcing, statistics: StatisticsTable | None, obstacles: Obstacles
) -> Iterator[Problem]:
    """Yield a problem for each table that bodies that move do not know yet."""
    moving, budget = any(obstacle.motion for obstacle in obstacles), statistics and statistics.budget
    unknown = {("body", "bulk_velocity"): body.bulk_velocity, ("statistics", "budget"): budget}
    for key in (key for key, value in unknown.items() if moving and value):
        yield Problem(key, "not available with bodies that move in this version; leave it out, or obstacles.motion")


def _lines_end_at_walls(
    method: Method | None, boundaries: Boundaries, grid: GridTable, time: Time
) -> Iterator[Problem]:
    for axis in time.implicit or () if method is None else ():
        sides = [boundaries.sides.get(f"{axis}_{end}") for end in ("min", "max")]
        if others := {"periodic" if side is None else side.type for side in sides if not side or side.kind.permeable}:
            sort = f"{axis} has sides of type {' and '.join(sorted(others))}"
            yield wrong(KEY, [axis], f"{sort}; give a direction between walls or slip boundaries, or leave it out")
        elif grid.cells["xyz".index(axis)] < 2:
            yield wrong(KEY, [axis], "there is one cell along it; give grid.cells 2 or more there, or leave it out")


def _implicit_flows_are_without(
    method: Method | None, turbulence: TurbulenceTable | None, body: Forcing, obstacles: Obstacles, time: Time
) -> Iterator[Problem]:
    """Yield a problem for what implicit diffusion does not know yet."""
    unknown = {"turbulence": turbulence, "obstacles": obstacles, "body.bulk_velocity": body.bulk_velocity}
    for key in (key for key, value in unknown.items() if value and method is None):
        if time.implicit:
            yield wrong(KEY, list(time.implicit), f"not available with {key} in this version; leave it out, or {key}")


RULES: tuple[Rule, ...] = (
    _motions_are_of_immersed_bodies, _motions_have_what_they_need, _motions_are_of_flows_without,
    _lines_end_at_walls, _implicit_flows_are_without,
)  # fmt: skip
