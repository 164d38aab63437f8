"""Passive scalars in an outer iteration: each follows the flow that was found, by corrections with its own matrix of
first order, x = x + M^-1 (r - A_1 x). The flow does not know of them, so that nothing is lost by solving them apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.models.artificial_compressibility.equations import Passive
from taskflow.flow.models.artificial_compressibility.ghosts import ghosts_of_scalar
from taskflow.flow.models.artificial_compressibility.implicit import scalar
from taskflow.flow.models.artificial_compressibility.implicit.gmres import AFTER, BEFORE, Program, fields
from taskflow.flow.models.artificial_compressibility.stage import residual
from taskflow.runtime.tasks import Launch, Repeat, Roles

if TYPE_CHECKING:
    from taskflow.flow.models.artificial_compressibility.implicit.model import ImplicitCompressibility

WORK = ("T_r", "T_x", "T_z", "T_pivot")
"""Fields that T and passive scalars take turns with."""
ROUNDS, SWEEPS = 3, 2  # residuals in an outer iteration, and corrections of each


def followed(f: Roles, model: ImplicitCompressibility, one: Passive) -> Program:
    """The next values of a scalar, in its place; the flow is that of `AFTER`, with its ghost values."""
    yield impose(f.T_z, over=model.cells, value=Value(1.0))
    yield from ghosts_of_scalar(model, f, model.still, one, f.T_z)
    yield from model.scalar_factors(fields(f, AFTER)[1:], f, one.diffusivity)
    yield Repeat(partial(_round, model, one), ROUNDS)


def _round(model: ImplicitCompressibility, one: Passive, f: Roles) -> Iterator[Launch]:
    """Corrections of what the residual is now; the roles of `BEFORE` are written."""
    cells, new, metrics = model.cells, f[one.name], None if model.spacing else f.metrics
    where: dict[str, Any] = {"over": cells, "numbers": replace(model.numbers, diffusivity=one.diffusivity)}
    yield from ghosts_of_scalar(model, f, model.sides, one, new)
    yield residual(
        fields(f, AFTER), fields(f, BEFORE), (new, f.T_z), model.past(f, one.name), *model.place(f),
        rate=model.change(f), **where,
    )  # fmt: skip
    yield scalar.value_right(f.T_z, f.T_r, metrics, **where)
    yield from model.scalar_solves(f.T_r, f.T_x, f)
    for _ in range(SWEEPS - 1):
        yield scalar.value_left(f.carry, f.T_r, f.T_x, f.p_z, over=cells)
        yield from model.scalar_solves(f.p_z, f.T_z, f)
        yield scalar.value_added(f.T_x, f.T_z, over=cells, by=1.0)
    yield scalar.value_added(new, f.T_x, over=cells, by=1.0)
