"""All open boundaries of a flow: what the steps of `taskflow.flow.navier_stokes` do where fluid comes and goes.

Without open boundaries there are no launches. What enters is written by whoever runs the steps into the fields of
`partitions`; he also gives the scalars `throughflow` of each stage, the mean outward speed at the end of it where what
leaves is carried out, and `quantum`, to which what leaves is summed up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import MIRROR, Boundaries, Mirror, beyond, place
from taskflow.flow.boundaries.inflow import entering, inflow_ghosts, inflow_partitions, temperature_enters
from taskflow.flow.boundaries.outflow import (
    Stage,
    begin_leaving,
    carrying,
    leaving,
    outflow_ghosts,
    pressure_ghosts,
    release,
    released,
)
from taskflow.flow.grid import Grid
from taskflow.flow.poisson import measure_residual, measure_rhs
from taskflow.flow.schemes import Scheme
from taskflow.regions import Partition
from taskflow.tasks import Launch, Roles

State = tuple[str, ...]  # the fields that are u, v, w and, with heat, T


@dataclass(frozen=True)
class Openings:
    """`varying`: what enters changes in time, so that each stage has values of its own."""

    boundaries: Boundaries
    grid: Grid
    scheme: Scheme
    varying: bool = False

    @property
    def endings(self) -> tuple[str, ...]:
        """What the names of the values that enter end with, for each stage."""
        return self.scheme.endings if self.varying else ("",) * len(self.scheme.stages)

    def partitions(self, main: Partition, names: State) -> tuple[Partition, ...]:
        """The regions of the values that enter, on the blocks of `main`."""
        return inflow_partitions(main, self.boundaries, names, tuple(dict.fromkeys(self.endings)))

    def begin(self, f: Roles) -> Iterator[Launch]:
        """The normal velocity before the first projection."""
        yield from entering((f.u, f.v, f.w), self.boundaries, self.grid, self.endings[-1])
        yield from begin_leaving(f, self.boundaries, self.grid, self._stage(-1).throughflow)

    def advance(self, f: Roles, n: int) -> Iterator[Launch]:
        """The normal velocity at the end of stage n, before its projection."""
        yield from entering((f.u_new, f.v_new, f.w_new), self.boundaries, self.grid, self.endings[n])
        yield from leaving(f, self.boundaries, self.grid, self._stage(n))

    def correct(self, velocity: tuple[str, str, str], p: str, dt: str) -> Iterator[Launch]:
        """The normal velocity after the projection."""
        yield from release(velocity, p, self.boundaries, self.grid, dt)

    def begin_ghosts(self, state: State) -> Iterator[Launch]:
        """Ghost values beyond open boundaries at the beginning: nothing has a gradient across an outflow."""
        yield from self._entered(state, -1)
        for face in carrying(self.boundaries):
            axis, _ = place(face)
            for field in (field for n, field in enumerate(state) if n != axis):
                yield MIRROR[face](field, over=beyond(face, self.grid), mirror=Mirror(1.0, 0.0))

    def ghosts(self, new: State, old: State, n: int) -> Iterator[Launch]:
        """Ghost values beyond open boundaries at the end of stage n."""
        yield from self._entered(new, n)
        yield from outflow_ghosts(new, old, self.boundaries, self.grid, self._stage(n))

    def bounded_ghosts(self, temperature: str, n: int) -> Iterator[Launch]:
        """Ghost values beyond open boundaries of a temperature that keeps its bounds, at the end of stage n: nothing
        has a gradient across an outflow.
        """
        yield from temperature_enters(temperature, self.boundaries, self.grid, self.endings[n])
        for face in carrying(self.boundaries):
            yield MIRROR[face](temperature, over=beyond(face, self.grid), mirror=Mirror(1.0, 0.0))

    def residual(self, f: Roles, measured: Callable[[Grid], Launch] | None = None) -> Iterator[Launch]:
        """The scalars `norm` and `residual` of a pressure; `measured` makes the launch for the latter, where that is
        not that of the whole grid.
        """
        faces = released(self.boundaries)
        yield measure_rhs(f, self.grid, singular=not faces)
        if measured:
            yield from pressure_ghosts(f.p, self.boundaries, self.grid)
            yield measured(self.grid.without(faces))
        else:
            yield measure_residual(f, self.grid, faces)

    def _entered(self, state: State, n: int) -> Iterator[Launch]:
        temperature = state[3] if len(state) > 3 else None
        yield from inflow_ghosts(_velocity(state), temperature, self.boundaries, self.grid, self.endings[n])

    def _stage(self, n: int) -> Stage:
        return Stage(self.scheme.names[n]["dt"], f"throughflow{self.scheme.endings[n]}")


def _velocity(state: State) -> tuple[str, str, str]:
    return state[0], state[1], state[2]
