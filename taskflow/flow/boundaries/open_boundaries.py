"""All open boundaries of a flow: the part of the steps of a flow where fluid comes and goes.

Without open boundaries there are no launches. Whoever runs the steps writes what enters into the fields of
`partitions`, and gives the scalars `outflow_speed` of each stage, the mean outward speed at its end on faces with
convective outflow, and `sum_bound`, a power of 2: sums of what leaves are exact for speeds below 16 `sum_bound` times
`taskflow.flow.boundaries.outflow.QUANTA`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from taskflow.flow.boundaries.boundary import (
    AdvectedOutflow,
    Boundaries,
    ConvectiveOutflow,
    Mirror,
    PressureOutflow,
    Value,
    beyond,
    impose,
    mirror,
    sides_of,
    timed,
)
from taskflow.flow.boundaries.inflow import apply_inflow, inflow_ghosts, inflow_partitions
from taskflow.flow.boundaries.outflow import (
    QUANTA,
    Coefficients,
    accelerate_outlet,
    advect_pressure,
    balance,
    convect,
    convective_outlets,
    correct_outlet,
    extrapolate,
    inner_face_pressure,
    opening,
    outlet,
    pressure_outlets,
    push_outlet,
)
from taskflow.flow.grid import Grid, on_face
from taskflow.flow.operators.rates import exact_sum
from taskflow.flow.poisson import Operator
from taskflow.flow.time.schemes import TimeScheme
from taskflow.runtime.regions import Box, Partition
from taskflow.runtime.tasks import Launch, Roles, frame

AS_INSIDE = Mirror(1.0, 0.0)
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
        """The normal velocity before the first projection: on outflows that on the next face inside, balanced."""
        yield from apply_inflow((f.u, f.v, f.w), self.boundaries, self.grid, self.endings[-1])
        velocity = f.u, f.v, f.w
        for face in sides_of(AdvectedOutflow, self.boundaries):
            yield impose(_kept(f, face), over=beyond(face, self.grid, edges=False), value=Value(0.0))
        for face in (*sides_of(ConvectiveOutflow, self.boundaries), *pressure_outlets(self.boundaries)):
            axis, _ = frame(face)
            yield mirror(velocity[axis], over=on_face(face, self.grid), on=face, mirror=AS_INSIDE)
        yield from self._balanced(f, velocity, -1)

    def advance(self, f: Roles, n: int) -> Iterator[Launch]:
        """The normal velocity at the end of stage n, before its projection; needs that inside."""
        new, old, dt = (f.u_new, f.v_new, f.w_new), (f.u, f.v, f.w), self.scheme.names[n]["dt"]
        yield from apply_inflow(new, self.boundaries, self.grid, self.endings[n])
        for face in sides_of(ConvectiveOutflow, self.boundaries):
            axis, _ = frame(face)
            yield self._convected(f, face, new[axis], old[axis], on_face(face, self.grid), n)
        yield from self._balanced(f, new, n)
        for face in pressure_outlets(self.boundaries):
            (axis, _), side, over = frame(face), self.boundaries[face], on_face(face, self.grid)
            if isinstance(side, AdvectedOutflow):
                yield from self.with_pressure(f, face, new[axis], old[axis], n)
            else:
                yield extrapolate(new[axis], old[axis], over=over, on=face)
            if isinstance(side, PressureOutflow) and side.timed:
                pressure = timed(face, "p", dt.removeprefix("dt"))
                yield push_outlet(new[axis], over=over, dt=dt, pressure=pressure, opening=opening(face, self.grid))

    def correct(self, velocity: tuple[str, str, str], p: str, dt: str, b: Coefficients = None) -> Iterator[Launch]:
        """The normal velocity after the projection, whose equation has the coefficients b, 1 without any."""
        for face in pressure_outlets(self.boundaries):
            (axis, _), over, about = frame(face), on_face(face, self.grid), opening(face, self.grid)
            yield correct_outlet(velocity[axis], p, b and b[axis], over=over, on=face, dt=dt, opening=about)

    def begin_ghosts(self, state: State) -> Iterator[Launch]:
        """Ghost values beyond open boundaries at the beginning: nothing has a gradient across an outflow."""
        yield from self._entered(state, -1)
        for face in convective_outlets(self.boundaries):
            axis, _ = frame(face)
            for field in (field for n, field in enumerate(state) if n != axis):
                yield mirror(field, over=beyond(face, self.grid), on=face, mirror=AS_INSIDE)

    def ghosts(self, f: Roles, new: State, old: State, n: int) -> Iterator[Launch]:
        """Ghost values beyond open boundaries at the end of stage n."""
        yield from self._entered(new, n)
        for face in convective_outlets(self.boundaries):
            axis, _ = frame(face)
            for now, before in (pair for number, pair in enumerate(zip(new, old, strict=True)) if number != axis):
                yield self._convected(f, face, now, before, beyond(face, self.grid), n)

    def bounded_ghosts(self, temperature: str, n: int) -> Iterator[Launch]:
        """Ghost values beyond open boundaries of a temperature that keeps its bounds, at the end of stage n: nothing
        has a gradient across an outflow.
        """
        yield from inflow_ghosts({"T": temperature}, self.boundaries, self.grid, self.endings[n])
        for face in convective_outlets(self.boundaries):
            yield mirror(temperature, over=beyond(face, self.grid), on=face, mirror=AS_INSIDE)

    def residual(self, f: Roles, measured: Callable[[Grid], Launch] | None = None) -> Iterator[Launch]:
        """The scalars `norm` and `residual` of a pressure; `measured` makes the launch for the latter, where that is
        not that of the whole grid.
        """
        faces = pressure_outlets(self.boundaries)
        operator = Operator(self.grid, tuple(faces))
        yield operator.measure_rhs(f, centred=operator.singular)
        if measured:
            for face in faces:
                yield mirror(f.p, over=beyond(face, self.grid), on=face, mirror=Mirror(-1.0, 0.0))
            yield measured(self.grid.without(faces))
        else:
            yield operator.measure_residual(f)

    def _entered(self, state: State, n: int) -> Iterator[Launch]:
        fields = dict(zip("uvwT", state, strict=False))  # without T, or with it
        yield from inflow_ghosts(fields, self.boundaries, self.grid, self.endings[n])

    def _convected(self, f: Roles, face: str, new: str, old: str, over: Box, n: int) -> Launch:
        numbers = {"dt": self.scheme.names[n]["dt"], "outflow_speed": self._speed(f, n)}
        return convect(new, old, over=over, on=face, opening=opening(face, self.grid), **numbers)

    def _balanced(self, f: Roles, velocity: tuple[str, str, str], n: int) -> Iterator[Launch]:
        for face in sides_of(ConvectiveOutflow, self.boundaries):
            axis, _ = frame(face)
            q, over, total = velocity[axis], on_face(face, self.grid), f.scalar("outflow")
            where: dict[str, Any] = {"grid": self.grid, "axis": axis, "layer": True}
            yield exact_sum(q, over=over, total=total, bound=f.scalar("sum_bound"), scale=QUANTA, **where)
            about = opening(face, self.grid)
            yield balance(q, over=over, total=total, outflow_speed=self._speed(f, n), opening=about)

    def with_pressure(self, f: Roles, face: str, new: str, old: str, n: int) -> Iterator[Launch]:
        """The normal velocity `new` on a face through which the pressure is carried, at the end of stage n; needs `new`
        inside. `rhs` is used on the way.
        """
        (axis, high), grid = frame(face), self.grid
        kept, layer, last = _kept(f, face), beyond(face, grid, edges=False), Box.of(grid.cells).layer(axis, high, 0, 1)
        side = {"on": face, "dt": self.scheme.names[n]["dt"], "outlet": outlet(face, grid)}
        yield inner_face_pressure(f.p, new, old, f.rhs, over=last, grid=grid, **side)
        yield advect_pressure(kept, f.rhs, over=layer, outflow_speed=self._speed(f, n), **side)
        yield accelerate_outlet(old, kept, new, over=on_face(face, grid), **side)

    def _speed(self, f: Roles, n: int) -> str:
        return f.scalar(f"outflow_speed{self.scheme.endings[n]}")


def _kept(f: Roles, face: str) -> str:
    return (f.h_u, f.h_v, f.h_w)[frame(face)[0]]
