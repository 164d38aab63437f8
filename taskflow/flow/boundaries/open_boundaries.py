"""All open boundaries of a flow: the part of the steps of a flow where fluid comes and goes.

Without open boundaries there are no launches. Whoever runs the steps writes what enters into the fields of
`partitions`, and gives the scalars `outflow_speed` of each stage, the mean outward speed at its end on faces with
convective outflow, and `sum_bound`, a power of 2: sums of what leaves are exact for speeds below 16 `sum_bound` times
`taskflow.flow.boundaries.outflow.QUANTA`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import Boundaries, Mirror, beyond, mirror
from taskflow.flow.boundaries.inflow import apply_inflow, inflow_ghosts, inflow_partitions
from taskflow.flow.boundaries.outflow import (
    Coefficients,
    OutflowStage,
    advance_outflow,
    convective_outlets,
    correct_outlets,
    init_outflow,
    outflow_ghosts,
    pressure_ghosts,
    pressure_outlets,
)
from taskflow.flow.grid import Grid
from taskflow.flow.poisson import Operator
from taskflow.flow.time.schemes import TimeScheme
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Launch, Roles, frame

State = tuple[str, ...]  # the fields that are u, v, w and, with heat, T


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
        """The normal velocity before the first projection."""
        yield from apply_inflow((f.u, f.v, f.w), self.boundaries, self.grid, self.endings[-1])
        yield from init_outflow(f, self.boundaries, self.grid, self._stage(f, -1).outflow_speed)

    def advance(self, f: Roles, n: int) -> Iterator[Launch]:
        """The normal velocity at the end of stage n, before its projection."""
        yield from apply_inflow((f.u_new, f.v_new, f.w_new), self.boundaries, self.grid, self.endings[n])
        yield from advance_outflow(f, self.boundaries, self.grid, self._stage(f, n))

    def correct(self, velocity: tuple[str, str, str], p: str, dt: str, b: Coefficients = None) -> Iterator[Launch]:
        """The normal velocity after the projection, whose equation has the coefficients b, 1 without any."""
        yield from correct_outlets(velocity, p, self.boundaries, self.grid, dt, b)

    def begin_ghosts(self, state: State) -> Iterator[Launch]:
        """Ghost values beyond open boundaries at the beginning: nothing has a gradient across an outflow."""
        yield from self._entered(state, -1)
        for face in convective_outlets(self.boundaries):
            axis, _ = frame(face)
            for field in (field for n, field in enumerate(state) if n != axis):
                yield mirror(field, over=beyond(face, self.grid), on=face, mirror=Mirror(1.0, 0.0))

    def ghosts(self, f: Roles, new: State, old: State, n: int) -> Iterator[Launch]:
        """Ghost values beyond open boundaries at the end of stage n."""
        yield from self._entered(new, n)
        yield from outflow_ghosts(new, old, self.boundaries, self.grid, self._stage(f, n))

    def bounded_ghosts(self, temperature: str, n: int) -> Iterator[Launch]:
        """Ghost values beyond open boundaries of a temperature that keeps its bounds, at the end of stage n: nothing
        has a gradient across an outflow.
        """
        yield from inflow_ghosts({"T": temperature}, self.boundaries, self.grid, self.endings[n])
        for face in convective_outlets(self.boundaries):
            yield mirror(temperature, over=beyond(face, self.grid), on=face, mirror=Mirror(1.0, 0.0))

    def residual(self, f: Roles, measured: Callable[[Grid], Launch] | None = None) -> Iterator[Launch]:
        """The scalars `norm` and `residual` of a pressure; `measured` makes the launch for the latter, where that is
        not that of the whole grid.
        """
        faces = pressure_outlets(self.boundaries)
        operator = Operator(self.grid, tuple(faces))
        yield operator.measure_rhs(f, centred=operator.singular)
        if measured:
            yield from pressure_ghosts(f.p, self.boundaries, self.grid)
            yield measured(self.grid.without(faces))
        else:
            yield operator.measure_residual(f)

    def _entered(self, state: State, n: int) -> Iterator[Launch]:
        fields = dict(zip("uvwT", state, strict=False))  # without T, or with it
        yield from inflow_ghosts(fields, self.boundaries, self.grid, self.endings[n])

    def _stage(self, f: Roles, n: int) -> OutflowStage:
        return OutflowStage(self.scheme.names[n]["dt"], f.scalar(f"outflow_speed{self.scheme.endings[n]}"))
