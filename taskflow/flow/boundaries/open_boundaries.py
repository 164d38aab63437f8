"""All open boundaries of a flow: their part of each step, without launches if no side is open.

The caller of the steps writes inflow values into the fields of `partitions`, and sets these scalars:

- `outflow_speed` of each stage, the mean outward speed at its end on faces with convective outflow
- `sum_bound`, a power of 2: outflow sums are exact for speeds below 16 `sum_bound` times
  `taskflow.flow.boundaries.outflow.QUANTA`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.boundary import Mirror, mirror
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import Boundaries, BoundaryCondition, Velocity
from taskflow.flow.boundaries.inflow import inflow_partitions
from taskflow.flow.boundaries.opening import Coefficients, OpenSide, StageNames, State
from taskflow.flow.boundaries.openings import held_in_bodies, of_both_kinds, parts
from taskflow.flow.boundaries.sides import pressure_sides
from taskflow.flow.grid import Grid
from taskflow.flow.poisson import Operator
from taskflow.flow.time.schemes import TimeScheme
from taskflow.runtime.regions import Box, Partition, difference
from taskflow.runtime.tasks import Launch, Roles


@dataclass(frozen=True)
class OpenBoundaries:
    """The launches at inflows and outflows. `varying`: inflow values change in time, with separate values per stage."""

    boundaries: Boundaries
    grid: Grid
    scheme: TimeScheme
    varying: bool = False

    @property
    def endings(self) -> tuple[str, ...]:
        """Suffixes of the names of inflow values, per stage."""
        return self.scheme.endings if self.varying else ("",) * len(self.scheme.stages)

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the mean outward speeds, per stage."""
        return tuple(f"outflow_speed{ending}" for ending in self.scheme.endings)

    def partitions(self, main: Partition, names: State) -> tuple[Partition, ...]:
        """Return the regions of values prescribed at inflows and walls, on the blocks of `main`."""
        return inflow_partitions(main, self._inflows_first, names, tuple(dict.fromkeys(self.endings)))

    def begin(self, f: Roles) -> Iterator[Launch]:
        """Set the normal velocity before the first projection, on outflows balanced from the next face inside."""
        for side, condition in self._open:
            yield from condition.begin(f, side, self._stage(-1))

    def begin_in_bodies(self, f: Roles) -> Iterator[Launch]:
        """Set the normal velocity in the faces of bodies, which `Obstacles.start` sets to 0."""
        for side, condition in self._open:
            if side.in_body:
                yield from condition.begin(f, side, self._stage(-1))

    @cached_property
    def in_bodies(self) -> tuple[Box, ...]:
        """The cells of bodies next to openings in their faces, which are not part of the flow: disjoint boxes."""
        boxes = list[Box]()
        for side in (side for side, _ in self._open if side.in_body):
            boxes += difference(side.layer, boxes)
        return tuple(boxes)

    def advance(self, f: Roles, n: int) -> Iterator[Launch]:
        """Set the normal velocity at the end of stage n, before its projection, from the new velocity inside."""
        for side, condition in self._open:
            yield from condition.advance(f, side, self._stage(n))

    def resist(self, f: Roles, n: int) -> Iterator[Launch]:
        """Reduce the normal velocity by losses at the end of stage n, after `advance`."""
        for side, condition in self._open:
            yield from condition.resist(f, side, self._stage(n))

    def correct(self, velocity: Velocity, p: str, dt: str, b: Coefficients = None) -> Iterator[Launch]:
        """Correct the normal velocity by the projection, whose equation has the coefficients b, by default 1."""
        for side, condition in self._open:
            yield from condition.correct(velocity, p, side, dt, b)

    def begin_ghosts(self, state: State) -> Iterator[Launch]:
        """Fill ghost values at open boundaries at the start: normal gradients are 0 at outflows."""
        for side, condition in self._open:
            yield from condition.begin_ghosts(state, side, self._stage(-1))

    def ghosts(self, f: Roles, new: State, old: State, n: int) -> Iterator[Launch]:
        """Fill ghost values at open boundaries at the end of stage n."""
        for side, condition in self._open:
            yield from condition.ghosts(f, new, old, side, self._stage(n))

    def bounded_ghosts(self, temperature: str, velocity: Velocity, n: int) -> Iterator[Launch]:
        """Fill ghost values of a bounded temperature at open boundaries, at the end of stage n."""
        for side, condition in self._open:
            yield from condition.bounded_ghosts(temperature, velocity, side, self._stage(n))

    def residual(self, f: Roles, measured: Callable[[Grid], Launch] | None = None) -> Iterator[Launch]:
        """Compute `norm` and `residual` of a pressure. `measured` makes the launch of the residual on a given grid."""
        faces = pressure_sides(self.boundaries)
        if held_in_bodies(self.boundaries, self.grid):
            screened = Operator(self.grid, tuple(faces), variable=True, screened=True)
            yield screened.measure_rhs(f, centred=False)
            yield screened.measure_residual(f)
            return
        operator, mixed = Operator(self.grid, tuple(faces)), of_both_kinds(self.boundaries, self.grid)
        yield operator.measure_rhs(f, centred=operator.singular)
        if measured or mixed:
            inner = self.grid.without(faces)
            for side, condition in parts(self.boundaries, self.grid):
                if side.face in faces and not side.in_body:
                    values = Mirror(-1.0 if condition.fixes_pressure else 1.0, 0.0)
                    yield mirror(f.p, over=side.ghosts, on=side.face, mirror=values)
            yield measured(inner) if measured else Operator(inner).measure_residual(f)
        else:
            yield operator.measure_residual(f)

    @property
    def _open(self) -> list[tuple[BoxSide, OpenSide]]:
        """The open sides from x_min to z_max, prescribed velocities first."""
        return [(side, condition) for side, condition in self._inflows_first if isinstance(condition, OpenSide)]

    @property
    def _inflows_first(self) -> list[tuple[BoxSide, BoundaryCondition]]:
        return sorted(parts(self.boundaries, self.grid), key=lambda part: not part[1].fixes_velocity())

    def _stage(self, n: int) -> StageNames:
        return StageNames(self.scheme.names[n]["dt"], self.speeds[n], self.endings[n])
