"""Scalars in an outer iteration, each solved separately with a first-order matrix, x = x + M^-1 (r - A_1 x). Passive
scalars follow the new flow, which does not depend on them, so separate solves lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.models.artificial_compressibility.blocks import BLOCKS, MatrixBlocks
from taskflow.flow.models.artificial_compressibility.dual_time import CHANGE
from taskflow.flow.models.artificial_compressibility.equations import Numbers, Passive
from taskflow.flow.models.artificial_compressibility.implicit import scalar
from taskflow.flow.models.artificial_compressibility.implicit.derivative import pseudo_time
from taskflow.flow.models.artificial_compressibility.implicit.vectors import AFTER, BEFORE, Program, fields
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.stage import residual
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import TILE, Launch, Ordering, Repeat, Roles, sweeps

WORK = ("T_r", "T_x", "T_z", "T_pivot")
"""Fields that T and passive scalars use alternately."""
ROUNDS, SWEEPS = 3, 2  # residuals in an outer iteration, and corrections of each


@dataclass(frozen=True, eq=False)
class ImplicitScalars(ArtificialCompressibility):
    """Equations with scalar solves, whose factors use an `ordering` of cells in a `tile`. If `coupled`, T is among the
    unknowns of the blocks, otherwise it has separate factors.
    """

    _: KW_ONLY
    ordering: Ordering = "tiles"
    tile: Triple = TILE
    coupled: bool = False
    look: ClassVar[int] = 2

    @property
    def apart(self) -> tuple[str, ...]:
        """T and scalars with separate factors."""
        return tuple(name for name in self.carried if not (self.coupled and name == "T"))

    @property
    def blocks(self) -> MatrixBlocks:
        """The blocks of the matrix."""
        return BLOCKS[int(self.coupled)]

    def followed(self, f: Roles, one: Passive) -> Program:
        """Compute the next values of a scalar in place, with the flow of `AFTER` and its ghost values."""
        yield impose(f.T_z, over=self.cells, value=Value(1.0))
        yield from self.scalar_ghosts(f, self.still, one, f.T_z)
        velocity = fields(f, AFTER)[1:]
        yield self.paced(velocity, f)
        yield from self.scalar_factors(velocity, f, self.carrying(one))
        yield Repeat(partial(self._round, one), ROUNDS)

    def _round(self, one: Passive, f: Roles) -> Iterator[Launch]:
        """Correct a scalar by its present residual. Overwrites the roles of `BEFORE`."""
        cells, new, metrics = self.cells, f[one.name], self.metrics(f)
        where: dict[str, Any] = {"over": cells, "numbers": self.carrying(one)}
        yield from self.scalar_ghosts(f, self.sides, one, new)
        yield residual(
            (*fields(f, AFTER), f.sides), fields(f, BEFORE), (new, f.T_z), self.past(f, one.name), *self.place(f)[1:],
            self.surface_fields(f), rate=self.change(f), **where,
        )  # fmt: skip
        yield scalar.value_right(f.T_z, f.T_r, metrics, **where)
        yield from self.scalar_solves(f.T_r, f.T_x, f)
        for _ in range(SWEEPS - 1):
            yield scalar.value_left(f.carry, f.T_r, f.T_x, f.p_z, over=cells)
            yield from self.scalar_solves(f.p_z, f.T_z, f)
            yield scalar.value_added(f.T_x, f.T_z, over=cells, by=1.0)
        yield scalar.value_added(new, f.T_x, over=cells, by=1.0)

    def scalar_factors(self, velocity: tuple[str, ...], f: Roles, numbers: Numbers) -> Iterator[Launch]:
        """Compute the matrix of a scalar with this velocity and its factors, with ghost-cell coefficients from T_z."""
        where = {**self._where(f), "numbers": numbers}
        sides, *place, _ = self.place(f)
        yield scalar.scalar_matrix(velocity, f.T_z, f.carry, f.T_pivot, f.pseudo, sides, *place, **where)
        for sweep in sweeps(self.ordering, "up", self.tile):
            yield scalar.scalar_invert(
                velocity, f.carry, f.T_pivot, *place, over=self.cells, sweep=sweep, numbers=numbers
            )  # fmt: skip

    def scalar_solves(self, right: str, z: str, f: Roles) -> Iterator[Launch]:
        """z = M^-1 right, for a scalar."""
        yield from scalar.solves(right, f.carry, f.T_pivot, z, self.cells, self.ordering, self.tile)

    def _where(self, f: Roles) -> dict[str, Any]:
        """Return the arguments shared by the linear operator and its matrix."""
        return {"over": self.cells, "rate": self.change(f), "numbers": self.numbers}

    def change(self, f: Roles) -> str | None:
        """Return the scalar c_0 / dt, owned by the physical time step."""
        return CHANGE if self.real else None

    def paced(self, velocity: tuple[str, ...], f: Roles) -> Launch:
        """pseudo = V / dtau with this velocity."""
        how: dict[str, Any] = {"over": self.cells, "slowness": f.scalar("slowness"), "numbers": self.numbers}
        return pseudo_time(velocity, f.pseudo, *self.place(f)[1:-1], **how)

    @cached_property
    def still(self) -> tuple[Side, ...]:
        """The sides with homogeneous conditions."""
        return tuple(side.still for side in self.sides)
