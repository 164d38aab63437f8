"""Forces given as formulas on the fluid stored in bodies, which are not forces of the flow on the bodies.

They act on closed faces, too, and the bodies take that momentum. The share of the fluid that a body displaces is its
true volume times the mean force over its closed faces (see `taskflow.systems.bodies.inertia`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from taskflow.flow.bodies import Obstacles
from taskflow.flow.forcing.field_force import FACE, FieldForce
from taskflow.flow.grid import FACES, Grid, Vector
from taskflow.flow.operators.formula import Formula, evaluating
from taskflow.flow.time.schemes import TimeScheme
from taskflow.runtime.regions import triple
from taskflow.runtime.tasks import Derive, Launch, Read, ReadByte, Reduce, Roles, Scalar, Task, reduced

TEXT = """
TASK {name}(Range range, In, InByte solid, InByte owner{fields}{time}, PartialOf<2> drive, Grid grid,
            ForcedBody body) {{
  STRIDES(range){now}
  const auto wide = [&](int axis, int n) {{ return axis == {axis} ? distance(grid, axis, n) : width(grid, axis, n); }};
  const auto within = [&](int axis, int n) {{ return (n >= body.low[axis]) & (n < body.high[axis]); }};
  sum_cells(range, drive.of, CELL(c) {{
{values}
    const double F = {text};
    const bool stored = (owner[c] == body.number) & closed(solid[c], 2 * {axis});
    const double volume = stored ? double(wide(0, c.i)) * wide(1, c.j) * wide(2, c.k) : 0.0;
    const bool acts = stored & within(0, c.i) & within(1, c.j) & within(2, c.k) & (F - F == 0);
    return Sums<2>{{{{acts ? volume * F : 0.0, volume}}}};
  }});
}}
"""


@dataclass(frozen=True)
class ForcedBody:
    """Body by its number, and the cells, from `low` to below `high`, in which a force acts."""

    number: int
    low: Vector
    high: Vector


@lru_cache(maxsize=256)
def stored_force(formula: Formula, on: str, origin: Vector) -> Task:
    """Return the task that sums volume times F, and volume, over the closed faces of a body."""
    axis = FACES.index(FACE[on])
    fields = {"velocity": Read, "solid": ReadByte, "owner": ReadByte}  # the first one has the precision of numbers
    numbers = {"drive": Reduce["sum", 2], "grid": Grid, "body": ForcedBody}
    about: dict[str, Any] = {"fields": fields, "velocity": FACE, "axis": axis}
    about["numbers"] = {"time": Scalar, **numbers} if formula.timed else numbers
    return evaluating(f"stored_force_{on}", TEXT, formula, FACE[on], origin, **about)


@dataclass(frozen=True)
class StoredForces:
    """Means of `forces` over the closed faces of each of the `obstacles`, as applied in the last step of a scheme."""

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
                within = ForcedBody(number, triple(map(float, force.box.lo)), triple(map(float, force.box.hi)))
                for n in range(len(self.scheme.stages) + 1 if force.formula.timed else 1):
                    about: dict[str, Any] = {"time": f.scalar(_time(n))} if force.formula.timed else {}
                    drive = f.scalar(_drive(number, which, n))
                    yield task(*fields, over=body.around, drive=drive, grid=grid, body=within, **about)

    def means(self, scalars: Mapping[str, float]) -> dict[str, list[float]]:
        """Return the mean force along x, y and z by body name, 0 along directions without closed faces."""
        weights, found = self._weights(scalars), dict[str, list[float]]()
        for number, body in enumerate(self.obstacles.bodies, start=1):
            mean = [0.0, 0.0, 0.0]
            for which, force in enumerate(self._forces):
                for n, weight in enumerate(weights if force.formula.timed else (1.0,)):
                    drive, volume = reduced(scalars, _drive(number, which, n))
                    mean["uvw".index(force.on)] += weight * drive / volume if volume else 0.0
            found[body.name] = mean
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


def _time(n: int) -> str:
    return f"stored_time_{n}"


def _drive(number: int, which: int, n: int) -> str:
    return f"drive_{number}_{which}_{n}"
