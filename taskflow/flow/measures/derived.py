"""Recorded fields in cell centres, computed from others: formulas of a case, and what follows from the gradient of its
velocity.

A formula reads velocities as the mean of a cell's two faces, and other fields in the cell itself (see
`operators.formula`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from taskflow.common.derived_names import COMPONENTS, LAMBDA2, VORTICITY, Q
from taskflow.flow.grid import Grid, StaggeredGrid, Vector
from taskflow.flow.grid.stencils import GRADIENT_VELOCITY
from taskflow.flow.kernels import KERNELS
from taskflow.flow.model import VELOCITY
from taskflow.flow.operators.formula import Formula, evaluating
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, ReadByte, Roles, Scalar, Task, Write, task

NOW = "now"  # scalar with the time
TEXT = """
TASK {name}(Range range, Out value{fields}{time}, Grid grid) {{
  STRIDES(range){now}
  for_cells(range, CELL(c) {{
{values}
    value[c] = real({text});
  }});
}}
"""


GRADIENT = KERNELS / "velocity_gradient.cu"  # whose tasks need ghost values, and treat bodies as closures do


@dataclass(frozen=True)
class Direction:
    """Direction of a component of a vector."""

    x: float
    y: float
    z: float


@task(kernel=GRADIENT)
def q_criterion(velocity: GRADIENT_VELOCITY, solid: ReadByte | None, Q: Write, *, grid: Grid) -> None:
    """Q = -(du_i/dx_j) (du_j/dx_i) / 2 in cells (J. C. R. Hunt, A. A. Wray, P. Moin 1988, CTR-S88, 193)."""


@task(kernel=GRADIENT)
def vorticity(
    velocity: GRADIENT_VELOCITY, solid: ReadByte | None, value: Write, *, grid: Grid, way: Direction | None
) -> None:
    """Curl of the velocity in cells: its component along a direction, or its magnitude."""


@task(kernel=GRADIENT)
def lambda2(velocity: GRADIENT_VELOCITY, solid: ReadByte | None, value: Write, *, grid: Grid) -> None:
    """Second eigenvalue of S^2 + W^2 in cells, S and W being the symmetric and antisymmetric parts of the gradient.

    Negative in vortices (J. Jeong, F. Hussain 1995, J. Fluid Mech. 285, 69).
    """


OF_GRADIENT: dict[str, Callable[..., Launch]] = {
    Q: q_criterion,
    LAMBDA2: lambda2,
    VORTICITY: partial(vorticity, way=None),
    **{name: partial(vorticity, way=Direction(*np.eye(3)[n].tolist())) for n, name in enumerate(COMPONENTS)},
}


@lru_cache(maxsize=256)
def derive(name: str, formula: Formula, origin: Vector) -> Task:
    """Return the task that computes a formula in cells. The same formula gives the same task."""
    numbers = {**({"time": Scalar} if formula.timed else {}), "grid": Grid}
    about: dict[str, Any] = {"fields": {"value": Write}, "numbers": numbers, "velocity": VELOCITY}
    return evaluating(f"derive_{name}", TEXT, formula, "c", origin, **about)


@dataclass(frozen=True, eq=False)
class Derived:
    """Program that computes the fields `formulas` by name. Fields of `OF_GRADIENT` have no formula.

    `bodies`: the flow has bodies.

    It reads the scalar `NOW` if a formula depends on time.
    """

    formulas: Mapping[str, Formula | None]
    grid: StaggeredGrid
    bodies: bool = False
    __name__: ClassVar[str] = "derived"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.formulas)

    @property
    def fields(self) -> dict[str, Location]:
        """Fields by role, with their location."""
        return dict.fromkeys(self.formulas, "c")

    def scalars(self, time: float) -> dict[str, float]:
        """Return the scalars that the program reads at a time."""
        return {NOW: time} if any(formula and formula.timed for formula in self.formulas.values()) else {}

    def some(self, names: tuple[str, ...]) -> Derived | None:
        """Return the program for some of the fields, or None if the selection is empty."""
        formulas = {name: formula for name, formula in self.formulas.items() if name in names}
        return Derived(formulas, self.grid, self.bodies) if formulas else None

    def __call__(self, f: Roles) -> Iterator[Launch]:
        over, grid = self.grid.box, self.grid.constants
        for name, formula in self.formulas.items():
            if formula is None:
                solid = f.solid if self.bodies else None
                yield OF_GRADIENT[name]((f.u, f.v, f.w), solid, f[name], over=over, grid=grid)
            else:
                fields, now = (f[field] for field in formula.fields), {"time": NOW} if formula.timed else {}
                yield derive(name, formula, self.grid.origin)(f[name], *fields, over=over, grid=grid, **now)
