"""Forces given as formulas on the fluid stored in bodies, which are not forces of the flow on the bodies.

They act on closed faces, too, and the bodies take that momentum. The share of the fluid that a body displaces is its
true volume times the force at its centre (see `taskflow.systems.bodies.inertia`). A linear regression over its closed
faces gives it: their own centre is up to half a spacing away, so that the mean force on them is of first order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from taskflow.flow.bodies import Obstacles
from taskflow.flow.forcing.field_force import FACE, FieldForce
from taskflow.flow.grid import FACES, Grid, Vector
from taskflow.flow.operators.formula import Formula, evaluating
from taskflow.flow.time.schemes import TimeScheme
from taskflow.runtime.regions import triple
from taskflow.runtime.tasks import Derive, Launch, Read, ReadByte, Reduce, Roles, Scalar, Task, reduced

TEXT = """
TASK {name}(Range range, In, InByte solid, InByte owner{fields}{time}, PartialOf<14> drive, Grid grid,
            ForcedBody body) {{
  STRIDES(range){now}
  const auto wide = [&](int axis, int n) {{ return axis == {axis} ? distance(grid, axis, n) : width(grid, axis, n); }};
  const auto within = [&](int axis, int n) {{ return (n >= body.low[axis]) & (n < body.high[axis]); }};
  const auto away = [&](int axis, int n) {{
    const double from = (axis == {axis} ? face(grid, axis, n) : centre(grid, axis, n)) - body.middle[axis];
    const double length = body.period[axis];  // 0 for one that crosses no side
    return from > 0.5 * length ? from - length : from < -0.5 * length ? from + length : from;
  }};
  sum_cells(range, drive.of, CELL(c) {{
{values}
    const double F = {text};
    const bool stored = (owner[c] == body.number) & closed(solid[c], 2 * {axis});
    const double a = wide(0, c.i), b = wide(1, c.j), h = wide(2, c.k), V = stored ? a * b * h : 0.0;
    const double x = away(0, c.i), y = away(1, c.j), z = away(2, c.k);
    const double xx = x * x + a * a / 12, yy = y * y + b * b / 12, zz = z * z + h * h / 12;
    const bool acts = stored & within(0, c.i) & within(1, c.j) & within(2, c.k) & (F - F == 0);
    const double VF = acts ? V * F : 0.0;
    return Sums<14>{{{{V, V * x, V * y, V * z, V * xx, V * x * y, V * x * z, V * yy, V * y * z, V * zz,
                     VF, VF * x, VF * y, VF * z}}}};
  }});
}}
"""


@dataclass(frozen=True)
class ForcedBody:
    """Body by its number, and the cells, from `low` to below `high`, in which a force acts. For `middle` and `period`
    see `taskflow.flow.bodies.forces.ForceTarget`.
    """

    number: int
    low: Vector
    high: Vector
    middle: Vector
    period: Vector


@lru_cache(maxsize=256)
def stored_force(formula: Formula, on: str, origin: Vector) -> Task:
    """Return the task that sums volume and volume times F over the closed faces of a body, with their moments about
    its `middle`: first and second of the cells around the faces, first of F.
    """
    axis = FACES.index(FACE[on])
    fields = {"velocity": Read, "solid": ReadByte, "owner": ReadByte}  # the first one has the precision of numbers
    numbers = {"drive": Reduce["sum", 14], "grid": Grid, "body": ForcedBody}
    about: dict[str, Any] = {"fields": fields, "velocity": FACE, "axis": axis}
    about["numbers"] = {"time": Scalar, **numbers} if formula.timed else numbers
    return evaluating(f"stored_force_{on}", TEXT, formula, FACE[on], origin, **about)


@dataclass(frozen=True)
class StoredForces:
    """The `forces` at the centres of `obstacles`, as applied to their closed faces in the last step of a scheme."""

    forces: tuple[FieldForce, ...]
    obstacles: Obstacles
    scheme: TimeScheme

    def __call__(self, f: Roles, grid: Grid) -> Iterator[Launch | Derive]:
        """Yield the launches that measure a state after a step. Its fields stand for those at the starts of stages."""
        if self.obstacles.bodies and any(force.formula.timed for force in self._forces):
            yield Derive(self._times, tuple(_time(n) for n in range(len(self.scheme.stages) + 1)))
        for number, body in enumerate(self.obstacles.bodies, start=1):
            for which, force in enumerate(self._forces):
                task, axis = stored_force(force.formula, force.on, force.origin), "xyz"["uvw".index(force.on)]
                fields = f[force.on], f.solid, f[f"owner_{axis}"], *(f[name] for name in force.formula.fields)
                ends = triple(map(float, force.box.lo)), triple(map(float, force.box.hi))
                within = ForcedBody(number, *ends, body.middle, body.period)
                for n in range(len(self.scheme.stages) + 1 if force.formula.timed else 1):
                    about: dict[str, Any] = {"time": f.scalar(_time(n))} if force.formula.timed else {}
                    drive = f.scalar(_drive(number, which, n))
                    yield task(*fields, over=body.around, drive=drive, grid=grid, body=within, **about)

    def at(self, places: Mapping[str, np.ndarray | None], scalars: Mapping[str, float]) -> dict[str, np.ndarray]:
        """Return the force along x, y and z by body name, 0 along directions without closed faces.

        Without a place it is the mean over the closed faces.
        """
        weights, found = self._weights(scalars), dict[str, np.ndarray]()
        for number, body in enumerate(self.obstacles.bodies, start=1):
            place, total = places.get(body.name), np.zeros(3)
            for which, force in enumerate(self._forces):
                about = None if place is None else place - force.origin - body.middle
                for n, weight in enumerate(weights if force.formula.timed else (1.0,)):
                    sums = np.array(reduced(scalars, _drive(number, which, n)))
                    total["uvw".index(force.on)] += weight * _fitted(sums, about)
            found[body.name] = total
        return found

    @property
    def _forces(self) -> tuple[FieldForce, ...]:
        return tuple(force for force in self.forces if force.on in FACE)

    def _times(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the start of the last step but one, and the starts of the last step's stages."""
        starts = [scalars.get(f"begins{ending}", 0.0) for ending in self.scheme.endings]
        names, ratio = self.scheme.names[0], self._ratios(scalars)[0]
        before = starts[0] - scalars[names["dt"]] / ratio if ratio else starts[0]
        return {_time(n): time for n, time in enumerate((before, *starts))}

    def _ratios(self, scalars: Mapping[str, float]) -> list[float]:
        return [scalars.get(names["ratio"], 0.0) for names in self.scheme.names]

    def _weights(self, scalars: Mapping[str, float]) -> list[float]:
        """Return the weights of the times of `_times` in a step."""
        weights = [0.0] * (len(self.scheme.stages) + 1)
        for n, (stage, ratio) in enumerate(zip(self.scheme.stages, self._ratios(scalars), strict=True)):
            weights[n] -= stage.share * ratio / 2
            weights[n + 1] += stage.share * (1 + ratio / 2)
        return weights


def _fitted(sums: np.ndarray, place: np.ndarray | None) -> float:
    """Return a force at a place, or its mean, by linear regression with the sums of `stored_force`."""
    volume, force = sums[0], sums[10]
    if not volume:
        return 0.0
    if place is None:
        return float(force / volume)
    centre, second = sums[1:4] / volume, np.zeros((3, 3))
    second[np.triu_indices(3)] = sums[4:10] / volume
    second += np.triu(second, 1).T
    slope = np.linalg.solve(second - np.outer(centre, centre), (sums[11:] - force * centre) / volume)
    return float(force / volume + slope @ (place - centre))


def _time(n: int) -> str:
    return f"stored_time_{n}"


def _drive(number: int, which: int, n: int) -> str:
    return f"drive_{number}_{which}_{n}"
