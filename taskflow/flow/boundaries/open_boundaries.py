"""All open boundaries of a flow: the part of the steps of a flow where fluid comes and goes.

Without open boundaries there are no launches. Whoever runs the steps writes what enters into the fields of
`partitions`, and gives the scalars `outflow_speed` of each stage, the mean outward speed at its end on faces with
convective outflow, and `sum_bound`, a power of 2: sums of what leaves are exact for speeds below 16 `sum_bound` times
`taskflow.flow.boundaries.outflow.QUANTA`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import Mirror, beyond, mirror
from taskflow.flow.boundaries.condition import Boundaries, BoxSide, Velocity
from taskflow.flow.boundaries.inflow import inflow_partitions
from taskflow.flow.boundaries.opening import OpenSide, StageNames, State
from taskflow.flow.boundaries.outflow import Coefficients
from taskflow.flow.boundaries.sides import pressure_sides
from taskflow.flow.grid import Grid
from taskflow.flow.poisson import Operator
from taskflow.flow.time.schemes import TimeScheme
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import FACES, Launch, Roles


@dataclass(frozen=True)
class OpenBoundaries:
    """The launches at inflows and outflows. `varying`: what enters changes in time, for each stage anew."""

    boundaries: Boundaries
    grid: Grid
    scheme: TimeScheme
    varying: bool = False

    @property
    def endings(self) -> tuple[str, ...]:
        """The ends of the names of the values that enter, for each stage."""
        return self.scheme.endings if self.varying else ("",) * len(self.scheme.stages)

    def partitions(self, main: Partition, names: State) -> tuple[Partition, ...]:
        """The regions of the values that enter, and of those on walls, on the blocks of `main`."""
        return inflow_partitions(main, self.boundaries, names, tuple(dict.fromkeys(self.endings)))

    def begin(self, f: Roles) -> Iterator[Launch]:
        """The normal velocity before the first projection: on outflows that on the next face inside, balanced."""
        for side, condition in self._open:
            yield from condition.begin(f, side, self._stage(-1))

    def advance(self, f: Roles, n: int) -> Iterator[Launch]:
        """The normal velocity at the end of stage n, before its projection; needs that inside."""
        for side, condition in self._open:
            yield from condition.advance(f, side, self._stage(n))

    def correct(self, velocity: Velocity, p: str, dt: str, b: Coefficients = None) -> Iterator[Launch]:
        """The normal velocity after the projection, whose equation has the coefficients b, 1 without any."""
        for side, condition in self._open:
            yield from condition.correct(velocity, p, side, dt, b)

    def begin_ghosts(self, state: State) -> Iterator[Launch]:
        """Ghost values beyond open boundaries at the beginning: nothing has a gradient across an outflow."""
        for side, condition in self._open:
            yield from condition.begin_ghosts(state, side, self._stage(-1))

    def ghosts(self, f: Roles, new: State, old: State, n: int) -> Iterator[Launch]:
        """Ghost values beyond open boundaries at the end of stage n."""
        for side, condition in self._open:
            yield from condition.ghosts(f, new, old, side, self._stage(n))

    def bounded_ghosts(self, temperature: str, n: int) -> Iterator[Launch]:
        """Ghost values beyond open boundaries of a temperature that keeps its bounds, at the end of stage n."""
        for side, condition in self._open:
            yield from condition.bounded_ghosts(temperature, side, self._stage(n))

    def residual(self, f: Roles, measured: Callable[[Grid], Launch] | None = None) -> Iterator[Launch]:
        """The scalars `norm` and `residual` of a pressure; `measured` makes the launch for the latter, where that is
        not that of the whole grid.
        """
        faces = pressure_sides(self.boundaries)
        operator = Operator(self.grid, tuple(faces))
        yield operator.measure_rhs(f, centred=operator.singular)
        if measured:
            for face in faces:
                yield mirror(f.p, over=beyond(face, self.grid), on=face, mirror=Mirror(-1.0, 0.0))
            yield measured(self.grid.without(faces))
        else:
            yield operator.measure_residual(f)

    @property
    def _open(self) -> list[tuple[BoxSide, OpenSide]]:
        """The open sides from x_min to z_max, first those where fluid enters."""
        faces = sorted((face for face in FACES if face in self.boundaries), key=lambda n: not self.boundaries[n].enters)
        sides = ((BoxSide(face, self.grid), self.boundaries[face]) for face in faces)
        return [(side, condition) for side, condition in sides if isinstance(condition, OpenSide)]

    def _stage(self, n: int) -> StageNames:
        return StageNames(self.scheme.names[n]["dt"], f"outflow_speed{self.scheme.endings[n]}", self.endings[n])
