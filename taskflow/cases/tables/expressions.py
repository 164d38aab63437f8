"""Expressions of fields, place and time: forces and sources, [[forcing]]; fields that are recorded, [[expressions]]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from taskflow.cases.formulas.field_expression import FieldExpression
from taskflow.cases.formulas.values import text
from taskflow.cases.language.problems import NEEDS, Key, Problem, names_differ, numbered, present, wrong
from taskflow.cases.language.table import Table, Text, entry, optional, reads
from taskflow.cases.tables.control import MonitorTable, Output
from taskflow.cases.tables.grid import GridTable
from taskflow.cases.tables.physics import Heat
from taskflow.cases.tables.planes import Planes
from taskflow.cases.tables.probes import Probes
from taskflow.cases.tables.scalars import Corners, Scalars, scalar_name
from taskflow.cases.tables.statistics import StatisticsTable
from taskflow.common.derived_names import WORDS, Q
from taskflow.common.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.flow.forcing.field_force import FACE
from taskflow.flow.operators.formula import COORDINATES
from taskflow.runtime.regions import Box, Location, triple

LOGGED = ("dt", "cfl", "divergence", "residual", "iterations", "kinetic_energy", "wall", "bodies", "nusselt")  # anyway
_DEFINITION = re.compile(r"\s*([A-Za-z]\w*)\s*=(?!=)\s*(.*\S)\s*")


def formula(value: object) -> str:
    """The text of an expression. Its names are checked once the fields are known."""
    if not isinstance(value, str):
        raise BadInput('give an expression in quotes, as "-0.5 * (u - 1)"')
    return text(value)


ExpressionText = Annotated[str, reads(formula)]


class ForcingTable(Table):
    """An expression that adds to the equation of a velocity component, the temperature or a scalar."""

    on: Text = entry(
        "the quantity it acts on: `u`, `v`, `w`, `T` or the name of a scalar",
        remedy="give the quantity it acts on: u, v, w, T or the name of a scalar",
    )
    expression: ExpressionText = entry(
        "term added to the rate of change: an expression of `u`, `v`, `w`, `T`, scalars, `x`, `y`, `z` and `t`",
        remedy='give an expression, as "-0.5 * (u - 1)"',
    )
    where: ExpressionText | None = optional(
        "an expression of the same names: the forcing acts where it is not 0", otherwise="everywhere"
    )
    box: Corners | None = optional(
        "lowest and highest corner of the region in which it acts", otherwise="the whole domain"
    )

    def whole(self, fields: tuple[str, ...]) -> FieldExpression:
        """Return the expression of these fields, 0 where the condition is. Raises BadInput if it is invalid."""
        source = self.expression if self.where is None else f"where({self.where}, {self.expression}, 0)"
        return FieldExpression(source, fields)

    @property
    def described(self) -> str:
        """Return a line on its effect and place."""
        inside = f" in the box {[list(corner) for corner in self.box]}" if self.box else ""
        return f"{self.on}: {self.expression}{inside}{f' where {self.where}' if self.where else ''}"

    def cells(self, grid: StaggeredGrid) -> Box:
        """Return the cells with the affected quantity in the box."""
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


def _forces_can_be_read(heat: Heat | None, scalars: Scalars, forcing: ForcingTables) -> Iterator[Problem]:
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
            yield wrong((*key, "box"), table.box, f"no {where}, where {table.on} is stored, is in it; enlarge it")


ForcingTable.rules = (_forces_can_be_read, _boxes_hold_something)


class ExpressionTable(Table):
    """A field in cell centres that is computed from others where it is recorded."""

    name: Annotated[str, reads(scalar_name)] = entry(
        "of the field: as for scalars, and not `Q`",
        remedy="give the name of the field",
    )
    expression: ExpressionText = entry(
        "of the fields of the case, of `x`, `y`, `z` and the time `t`, in cell centres",
        remedy='give an expression, as "w*T"',
    )
    long_name: Text | None = optional("description for the store", otherwise="the expression")
    units: Text = entry("its units, for the store", "1")

    def field(self, fields: tuple[str, ...]) -> FieldExpression:
        """Return the expression of these fields. Raises BadInput if it is invalid."""
        return FieldExpression(self.expression, fields)


Expressions = tuple[ExpressionTable, ...]


def inlined(values: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a case as they were given, with a table in [[expressions]] for each "name = expression" among the
    fields that others name, and that name in its place. One of the same name and expression may be there already.
    """
    others = values.get("expressions", ())
    if not isinstance(others, list | tuple):
        return dict(values)
    present = [dict(table) for table in others if isinstance(table, Mapping | Table)]
    texts = [(table.get("name"), table.get("expression")) for table in present]
    more: dict[tuple[str, str], None] = {}

    def named(table: Any) -> Any:
        fields = table.get("fields") if isinstance(table, Mapping) else None
        if not isinstance(fields, list | tuple):
            return table
        names = []
        for field in fields:
            definition = _DEFINITION.fullmatch(field) if isinstance(field, str) else None
            if definition is not None and definition.groups() not in texts:
                more[definition[1], definition[2]] = None
            names.append(field if definition is None else definition[1])
        return {**table, "fields": names}

    tables = {key: named(values[key]) for key in ("output", "statistics", "monitor") if key in values}
    for key in ("probes", "planes"):
        if isinstance(listed := values.get(key), list | tuple):
            tables[key] = [named(table) for table in listed]
    short = [{"name": name, "expression": expression} for name, expression in more]
    return {**values, **tables, "expressions": [*others, *short]} if short else {**values, **tables}


def recordable(fields: tuple[str, ...], expressions: Expressions) -> tuple[str, ...]:
    """The names of all that can be recorded of a flow with these fields: these, expressions, and derived fields."""
    return tuple(dict.fromkeys((*fields, *(table.name for table in expressions), *WORDS)))


def _expressions_can_be_read(fields: tuple[str, ...], expressions: Expressions) -> Iterator[Problem]:
    remedy = "another field has this name; give another name"
    yield from names_differ({*fields, Q}, numbered(expressions=expressions), remedy)
    for key, table in numbered(expressions=expressions):
        try:
            table.field(fields)
        except BadInput as error:
            yield wrong((*key, "expression"), table.expression, str(error))


def recorded(
    output: Output, statistics: StatisticsTable | None, probes: Probes, planes: Planes, monitor: MonitorTable
) -> Iterator[tuple[Key, tuple[str, ...]]]:
    """The names of fields that are recorded somewhere, where some are named, with the keys that name them."""
    tables = {("output",): output, ("monitor",): monitor, **({("statistics",): statistics} if statistics else {})}
    for key, table in (*tables.items(), *numbered(probes=probes, planes=planes)):
        if table.fields:
            yield (*key, "fields"), table.fields


def _logged_ones_are_expressions(
    fields: tuple[str, ...], expressions: Expressions, monitor: MonitorTable
) -> Iterator[Problem]:
    known = dict.fromkeys([*(table.name for table in expressions), *(name for name in WORDS if name not in fields)])
    for name in monitor.fields or ():
        if name not in known and name not in LOGGED:
            add = f'"{name}_c = {name}"' if name in fields else name
            one = f"give one of {', '.join(known)}, or add {add}"
            remedy = f"the log has means of [[expressions]] and derived fields; {one}"
            yield wrong(("monitor", "fields"), name, remedy)


ExpressionTable.rules = (_expressions_can_be_read, _logged_ones_are_expressions)
