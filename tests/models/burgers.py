"""A system of equations of another package: viscous Burgers in a periodic box, with its own table of the case file.

    dq/dt + (d/dx + d/dy + d/dz)(q^2 / 2) = viscosity Laplacian(q)

Central differences in space and Heun's method in time, both of second order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import taskflow as tf
from taskflow.extend import (
    Launch,
    Location,
    Measures,
    Model,
    Positive,
    Profile,
    Roles,
    StaggeredGrid,
    StepLimit,
    System,
    Table,
    Tick,
    entry,
    log_line,
    profile,
    reads,
)


@dataclass(frozen=True)
class Rates:
    """1 / (2 dx) and viscosity / dx^2, and so along y and z."""

    across: tuple[float, float, float]
    along: tuple[float, float, float]


KERNELS = """
FN real slope(In q, Index c, Index d, real across, real along) {
  const real low = q[c - d], high = q[c + d];
  return along * (high - 2 * q[c] + low) - across * (high * high - low * low) / 2;
}
FN real tendency(In q, Index c, Index X, Index Y, Index Z, Rates r) {
  return slope(q, c, X, r.across[0], r.along[0]) + slope(q, c, Y, r.across[1], r.along[1])
       + slope(q, c, Z, r.across[2], r.along[2]);
}
TASK predict(Range range, In q, Out q_new, In64 dt, Rates r) {
  STRIDES(range)
  for_cells(range, CELL(c) { q_new[c] = q[c] + real(*dt) * tendency(q, c, X, Y, Z, r); });
}
TASK improve(Range range, InOut q, In q_new, In64 dt, Rates r) {
  STRIDES(range)
  for_cells(range, CELL(c) { q[c] = (q[c] + q_new[c] + real(*dt) * tendency(q_new, c, X, Y, Z, r)) / 2; });
}
TASK largest(Range range, In q, Partial peak) { reduce_cells(range, peak, MAX, CELL(c) { return magnitude(q[c]); }); }
TASK speed(Range range, In q, Partial rate, real closeness) {
  reduce_cells(range, rate, MAX, CELL(c) { return magnitude(q[c]) * closeness; });
}
"""


@tf.task(kernel=KERNELS)
def predict(q: tf.Read[1], q_new: tf.Write, *, dt: tf.Scalar, r: Rates) -> None:
    """q_new = q + dt dq/dt(q)"""


@tf.task(kernel=KERNELS)
def improve(q: tf.ReadWrite, q_new: tf.Read[1], *, dt: tf.Scalar, r: Rates) -> None:
    """q = (q + q_new + dt dq/dt(q_new)) / 2"""


@tf.task(kernel=KERNELS)
def largest(q: tf.Read, *, peak: tf.Reduce[max]) -> None:
    """peak = max |q|"""


@tf.task(kernel=KERNELS)
def speed(q: tf.Read, *, rate: tf.Reduce[max], closeness: float) -> None:
    """rate = max |q| (1/dx + 1/dy + 1/dz)"""


@dataclass(frozen=True, eq=False)
class Burgers(Model):
    """The equation on a uniform grid. A step needs no ghost cells but those of q and q_new."""

    grid: StaggeredGrid
    viscosity: float

    @property
    def fields(self) -> dict[str, Location]:
        return {"q": "c", "q_new": "c"}

    @property
    def prognostic(self) -> dict[str, float]:
        return {"q": self.viscosity}

    def start(self, f: Roles) -> Iterator[Launch]:
        closeness = sum(1 / d for d in self.grid.spacing)
        yield speed(f.q, over=self.grid.box, rate="rate", closeness=closeness)

    def step(self, f: Roles) -> Iterator[Launch]:
        d = self.grid.spacing
        r = Rates(tuple(0.5 / h for h in d), tuple(self.viscosity / h**2 for h in d))
        yield predict(f.q, f.q_new, over=self.grid.box, dt="dt", r=r)
        yield improve(f.q, f.q_new, over=self.grid.box, dt="dt", r=r)
        yield from self.start(f)

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        return StepLimit(fixed, cfl, diffusion, self.viscosity * self.grid.constants.inverse_spacing_squared)


@dataclass(frozen=True, eq=False)
class BurgersMeasures(Measures):
    """The largest |q|, beside what every line of the log has."""

    model: Burgers
    finite = ("peak",)

    def monitor(self, f: Roles) -> Iterator[Launch]:
        yield largest(f.q, over=self.model.grid.box, peak="peak")

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        return {**log_line(scalars, tick, wall), "peak": scalars["peak"]}


class BurgersTable(Table):
    """The table [burgers] of a case file."""

    viscosity: Positive = entry("the diffusivity of q", remedy="give the diffusivity of q, a number > 0")
    initial: Annotated[Profile, reads(profile)] = entry("q at time 0: a number or an expression in x, y, z", 0.0)


class BurgersSystem(System):
    """From a case with a table [burgers] to the equation: what the entry point names."""

    table_name, table = "burgers", BurgersTable

    @classmethod
    def fields(cls, tables: Mapping[str, Any]) -> tuple[str, ...]:
        return ("q",)

    @cached_property
    def model(self) -> Burgers:
        return Burgers(self.sim.grid, self.sim.case.own.viscosity)

    @cached_property
    def measures(self) -> BurgersMeasures:
        return BurgersMeasures(self.model)

    @property
    def initial(self) -> dict[str, Profile]:
        return {"q": self.sim.case.own.initial}
