"""The forces of a case that are expressions: as a model has them, what they are at the start, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from taskflow.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.flow.forcing.field_force import FACE, FieldForce
from taskflow.flow.time.schemes import TimeScheme
from taskflow.runtime.regions import Location
from taskflow.simulation.case import Case
from taskflow.simulation.case.expressions import ForcingTable, forced_fields
from taskflow.simulation.conditions.inflow import moments
from taskflow.simulation.conditions.initial import few, initial_profiles
from taskflow.simulation.formulas.expression import Expression
from taskflow.simulation.formulas.field_expression import FieldExpression

SHARE = 1e-6  # of the size of what relaxes: the differences from which its rate is found
SHORTEST = 4.0  # eigenvalue over diffusion number of the shortest waves, for which `TimeScheme.diffusion` is the limit


def forces(case: Case, grid: StaggeredGrid) -> tuple[FieldForce, ...]:
    """The forces as a model has them."""
    fields = forced_fields(case.heat, case.scalars)
    return tuple(FieldForce(t.on, t.whole(fields).formula, t.cells(grid), grid.origin) for t in case.forcing)


@dataclass(frozen=True, eq=False)
class InitialForce:
    """A force at the start of a case, at some of the places where it acts, as far as the initial fields tell it: they
    have to be expressions.
    """

    case: Case
    grid: StaggeredGrid
    table: ForcingTable
    number: int

    @property
    def key(self) -> str:
        """The key in the case file of its expression, and that itself."""
        return f'forcing[{self.number}].expression = "{self.table.expression}"'

    @cached_property
    def _expression(self) -> FieldExpression:
        return self.table.whole(forced_fields(self.case.heat, self.case.scalars))

    @cached_property
    def _at(self) -> tuple[Any, Any, Any]:
        at: Location = FACE.get(self.table.on, "c")
        cells = self.table.cells(self.grid)
        for axis, name in enumerate(FACE):
            if name == self.table.on and not self.grid.periodic[axis]:  # faces on walls have no force
                cells &= self.grid.box.layer(axis, 0, 1, self.grid.cells[axis])
        x, y, z = (few(places) for places in self.grid.points(at, cells)) if cells else (np.zeros(0),) * 3
        return x, y, z

    @cached_property
    def _fields(self) -> dict[str, np.ndarray] | None:
        """The initial values of what is in it and of what it acts on; None where one is no expression, as it is of
        another run, say.
        """
        if self.case.initial.source is not None:
            return None
        profiles = initial_profiles(self.case)
        names = {self.table.on, *self._expression.formula.fields}
        if not all(isinstance(profiles.get(name), Expression) for name in names):
            return None
        return {name: profiles[name](*self._at) for name in names}

    def check(self) -> None:
        """Raises BadInput where it is not finite at the start, or as time goes on."""
        for time in moments(self.case) if self._fields is not None else ():
            self._at_time(time, self._fields or {})

    def _at_time(self, time: float, fields: Mapping[str, np.ndarray]) -> np.ndarray:
        try:
            return self._expression(*self._at, time, fields)
        except BadInput as error:
            raise BadInput(f"{self.key}: at time {time:g} {error}") from None

    @property
    def relaxation(self) -> float:
        """The largest rate at which what it acts on relaxes: -dF/dq at the start, 0 where none is known."""
        if self._fields is None:
            return 0.0
        q = self._fields[self.table.on]
        if not q.size:
            return 0.0
        change = SHARE * max(1.0, float(np.abs(q).max()))
        low, high = ({**self._fields, self.table.on: q + sign * change} for sign in (-1, 1))
        try:
            rates = (self._at_time(time, low) - self._at_time(time, high) for time in moments(self.case))
            return max(0.0, *(float(rate.max()) for rate in rates)) / (2 * change)
        except BadInput:
            return 0.0  # beside the initial values it is no number

    def caution(self, dt: float, scheme: TimeScheme) -> str | None:
        """A warning where it relaxes what it acts on faster than steps of this length can follow."""
        most = SHORTEST * scheme.diffusion / dt
        if self.relaxation <= most:
            return None
        return (
            f"{self.key}: at the start it relaxes {self.table.on} at a rate of {self.relaxation:.3g}, and steps of"
            f" {dt:.3g} are stable up to {most:.3g}; give a smaller time.step or time.cfl, or a slower rate"
        )


def initial_forces(case: Case, grid: StaggeredGrid) -> Iterator[InitialForce]:
    for number, table in enumerate(case.forcing, start=1):
        yield InitialForce(case, grid, table, number)
