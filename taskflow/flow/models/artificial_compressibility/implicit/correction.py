"""Corrections with the first-order matrix alone (L. Luo et al. 2014): x = x + M^-1 (r - A_1 x)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from taskflow.flow.models.artificial_compressibility.blocks import MatrixBlocks
from taskflow.flow.models.artificial_compressibility.implicit.derivative import TEXTS
from taskflow.flow.models.artificial_compressibility.implicit.least_squares import Scalars, length
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLED, COUPLING, PIVOT
from taskflow.flow.models.artificial_compressibility.implicit.vectors import (
    AFTER,
    BEFORE,
    RIGHT,
    UPDATE,
    LinearSystem,
    Program,
    fields,
    measured,
    plus,
    same,
)
from taskflow.runtime.tasks import Components, Read, Repeat, Roles, Write, derive, task


@task(kernel=TEXTS / "approximate.cu")
def left(
    coupling: COUPLED, own: Read.private * PIVOT,
    right: Components(p_r=Read, u_r=Read, v_r=Read, w_r=Read), T_r: Read | None, scalar_r: Read | None,
    update: Components(p_x=Read[1], u_x=Read[1], v_x=Read[1], w_x=Read[1]), T_x: Read[1] | None,
    scalar_x: Read[1] | None, new: Components(p=Write, u=Write, v=Write, w=Write), T: Write | None,
    scalar: Write | None, *, blocks: MatrixBlocks,
) -> None:  # fmt: skip
    """new = right - A_1 update, including neighbours in other charts."""


@dataclass(frozen=True)
class Correction:
    """A fixed number of `sweeps`, the first from x = 0, without a convergence test. `taken`: their number."""

    sweeps: int = 4
    approximates: ClassVar[bool] = True  # it needs the matrix itself, not the factors alone
    vectors: ClassVar[int] = 0
    deep: ClassVar[bool] = False

    @property
    def description(self) -> str:
        """The solver, as text."""
        return f"{self.sweeps} corrections"

    def solve(self, f: Roles, system: LinearSystem) -> Program:
        """Solve A x = r approximately."""
        yield from measured(f, system, RIGHT)
        yield derive(self._begin, ("begun", "taken"))
        yield from same(f, system, AFTER, RIGHT)
        yield from system.precondition(f)
        yield from same(f, system, UPDATE, BEFORE)
        if self.sweeps > 1:
            yield Repeat(partial(self._again, system), self.sweeps - 1)

    def _again(self, system: LinearSystem, f: Roles) -> Program:
        vectors = RIGHT, UPDATE, AFTER
        of = (value for vector in vectors for value in (fields(f, vector), system.coupled_field(f, vector), None))
        yield left(fields(f, COUPLING), f.own, *of, over=system.cells, blocks=system.blocks)
        yield from system.left_of_heat(f)
        yield from system.precondition(f)
        yield from plus(f, system, UPDATE, BEFORE)

    def solved(self, scalars: Scalars) -> bool:
        """Return False: the residual is not measured."""
        return False

    def left(self, scalars: Scalars) -> float:
        """Return 1: the residual is not measured."""
        return 1.0

    def _begin(self, scalars: Scalars) -> dict[str, float]:
        return {"begun": length(scalars), "taken": float(self.sweeps)}
