"""Rules on what implicit diffusion along a direction needs of a case, and on what it does not go together with."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.simulation.case.boundaries import Boundaries
from taskflow.simulation.case.control import Time
from taskflow.simulation.case.grid import GridTable
from taskflow.simulation.case.method import Method
from taskflow.simulation.case.obstacles import Obstacles
from taskflow.simulation.case.physics import Forcing, TurbulenceTable
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.case.table import Rule

KEY = ("time", "implicit")


def _lines_end_at_walls(
    method: Method | None, boundaries: Boundaries, grid: GridTable, time: Time
) -> Iterator[Problem]:
    for axis in time.implicit or () if method is None else ():
        sides = [boundaries.sides.get(f"{axis}_{end}") for end in ("min", "max")]
        kinds = {"periodic" if side is None else side.type for side in sides}
        if others := kinds - {"wall", "slip"}:
            sort = f"{axis} has sides of type {' and '.join(sorted(others))}"
            yield wrong(KEY, [axis], f"{sort}; give a direction between walls or slip boundaries, or leave it out")
        elif grid.cells["xyz".index(axis)] < 2:
            yield wrong(KEY, [axis], "there is one cell along it; give grid.cells 2 or more there, or leave it out")


def _implicit_flows_are_without(
    method: Method | None, turbulence: TurbulenceTable | None, body: Forcing, obstacles: Obstacles, time: Time
) -> Iterator[Problem]:
    """Yield a problem for what implicit diffusion does not know yet."""
    unknown = {
        "turbulence": turbulence is not None,
        "obstacles": bool(obstacles),
        "body.bulk_velocity": body.bulk_velocity is not None,
    }
    if time.implicit and method is None:
        for key in (key for key, present in unknown.items() if present):
            remedy = f"not available with {key} in this version; leave it out, or {key}"
            yield wrong(KEY, list(time.implicit), remedy)


RULES: tuple[Rule, ...] = (_lines_end_at_walls, _implicit_flows_are_without)
