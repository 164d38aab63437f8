"""Forces and sources that are expressions of fields, place and time: [[forcing]]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from taskflow.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.flow.forcing.field_force import FACE
from taskflow.flow.operators.formula import COORDINATES
from taskflow.runtime.regions import Box, Location, triple
from taskflow.simulation.case.grid import GridTable
from taskflow.simulation.case.physics import Forcing, Heat
from taskflow.simulation.case.problems import NEEDS, Problem, numbered, present, wrong
from taskflow.simulation.case.scalars import Corners, Scalars
from taskflow.simulation.case.statistics import StatisticsTable
from taskflow.simulation.case.table import Table, Text, entry, reads
from taskflow.simulation.case.timed import changes
from taskflow.simulation.formulas.field_expression import FieldExpression
from taskflow.simulation.formulas.values import text


def formula(value: object) -> str:
    """The text of an expression, whose names are looked at where the fields are known."""
    if not isinstance(value, str):
        raise BadInput('give an expression in quotes, as "-0.5 * (u - 1)"')
    return text(value)


ExpressionText = Annotated[str, reads(formula)]


class ForcingTable(Table):
    """An expression that adds to the equation of a velocity component, the temperature or a scalar."""

    on: Text = entry(
        "what it acts on: `u`, `v`, `w`, `T` or the name of a scalar",
        remedy="give what it acts on: u, v, w, T or the name of a scalar",
    )
    expression: ExpressionText = entry(
        "what is added to its rate of change: an expression of the fields `u`, `v`, `w`, `T` and scalars, of `x`, `y`,"
        " `z` and the time `t`",
        remedy='give an expression, as "-0.5 * (u - 1)"',
    )
    where: ExpressionText | None = entry(
        "an expression of the same names: it acts where that is not 0", None, otherwise="everywhere"
    )
    box: Corners | None = entry(
        "its lowest and its highest corner: it acts on what lies in it", None, otherwise="the whole domain"
    )

    def whole(self, fields: tuple[str, ...]) -> FieldExpression:
        """The expression of these fields, 0 where the condition is. Raises BadInput where it is none."""
        source = self.expression if self.where is None else f"where({self.where}, {self.expression}, 0)"
        return FieldExpression(source, fields)

    def cells(self, grid: StaggeredGrid) -> Box:
        """The cells that have what it acts on in the box."""
        if self.box is None:
            return grid.box
        at: Location = FACE.get(self.on, "c")
        ends = []
        for axis, (low, high) in enumerate(zip(*self.box, strict=True)):
            places = grid.coordinates(at, axis, 0, grid.cells[axis])
            inside = [n for n, place in enumerate(places) if low <= place <= high]
            ends.append((inside[0], inside[-1] + 1) if inside else (0, 0))
        return Box(triple(low for low, _ in ends), triple(high for _, high in ends))


ForcingTables = tuple[ForcingTable, ...]


def forced_fields(heat: Heat | None, scalars: Scalars) -> tuple[str, ...]:
    """The fields that an equation of motion or transport has."""
    return (*FACE, *(("T",) if heat else ()), *(scalar.name for scalar in scalars))


def _expressions_can_be_read(heat: Heat | None, scalars: Scalars, forcing: ForcingTables) -> Iterator[Problem]:
    fields = forced_fields(heat, scalars)
    for key, table in numbered(forcing=forcing):
        if table.on not in fields:
            needs = NEEDS.get(table.on, "") if table.on == "T" else ""
            yield wrong((*key, "on"), table.on, f"it acts on {', '.join(fields)}{needs}; give one of these")
        sound = True
        for name in present(dict(table), "expression", "where"):
            try:
                FieldExpression(getattr(table, name), fields)
            except BadInput as error:
                sound = False
                yield wrong((*key, name), getattr(table, name), str(error))
        try:
            _ = table.whole(fields) if sound else None
        except BadInput as error:
            yield wrong((*key, "where"), table.where, f"with the expression {error}")


def _boxes_hold_something(grid: GridTable, staggered: StaggeredGrid, forcing: ForcingTables) -> Iterator[Problem]:
    for key, table in numbered(forcing=forcing):
        if table.box is None:
            continue
        elif not grid.contains(*table.box):
            yield grid.beyond((*key, "box"), table.box)
        elif not table.cells(staggered):
            faces = {name: f"face across {axis}" for name, axis in zip(FACE, COORDINATES, strict=True)}
            where = faces.get(table.on, "centre of a cell")
            yield wrong((*key, "box"), table.box, f"no {where}, where {table.on} lives, is in it; give a larger one")


def _budgets_know_the_forces(
    statistics: StatisticsTable | None, forcing: ForcingTables, body: Forcing
) -> Iterator[Problem]:
    """A force that is not the same at all times does work on what fluctuates."""
    if statistics is None or not statistics.budget:
        return
    forced = {"forcing of u, v or w": any(table.on in FACE for table in forcing),
              "a body.force that changes in time": changes(*body.force)}  # fmt: skip
    for what in (what for what, acts in forced.items() if acts):
        remedy = f"not available with {what} in this version, whose work it has no term for; leave it out"
        yield wrong(("statistics", "budget"), True, remedy)


ForcingTable.rules = (_expressions_can_be_read, _boxes_hold_something, _budgets_know_the_forces)
