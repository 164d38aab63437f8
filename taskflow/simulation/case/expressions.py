"""Fields that are computed where they are recorded: [[expressions]]."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from taskflow.errors import BadInput
from taskflow.flow.measures.derived import Q
from taskflow.simulation.case.control import MonitorTable, Output
from taskflow.simulation.case.forcing import ExpressionText
from taskflow.simulation.case.obstacles import Obstacles
from taskflow.simulation.case.probes import Planes, Probes
from taskflow.simulation.case.problems import Key, Problem, numbered, wrong
from taskflow.simulation.case.scalars import scalar_name
from taskflow.simulation.case.statistics import StatisticsTable
from taskflow.simulation.case.table import Table, Text, entry, reads
from taskflow.simulation.formulas.field_expression import FieldExpression

_DEFINITION = re.compile(r"\s*([A-Za-z]\w*)\s*=(?!=)\s*(.*\S)\s*")


class ExpressionTable(Table):
    """A field in cell centres that is computed from others where it is recorded."""

    name: Annotated[str, reads(scalar_name)] = entry(
        "of the field, in `output.fields` and in the store: as that of a scalar, and not `Q`",
        remedy="give the name of the field",
    )
    expression: ExpressionText = entry(
        "of the fields of the case, of `x`, `y`, `z` and the time `t`, in cell centres",
        remedy='give an expression, as "w*T"',
    )
    long_name: Text | None = entry("what it is in words, for the store", None, otherwise="the expression")
    units: Text = entry("its units, for the store", "1")

    def field(self, fields: tuple[str, ...]) -> FieldExpression:
        """The expression of these fields. Raises BadInput where it is none."""
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
    """The names of all that can be recorded of a flow with these fields: these, expressions, and Q."""
    return tuple(dict.fromkeys((*fields, *(table.name for table in expressions), Q)))


def _expressions_can_be_read(fields: tuple[str, ...], expressions: Expressions) -> Iterator[Problem]:
    taken = {*fields, Q}
    for key, table in numbered(expressions=expressions):
        if table.name in taken:
            yield wrong((*key, "name"), table.name, "another field has this name; give another one")
        taken.add(table.name)
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
    known = (*(table.name for table in expressions), *(() if Q in fields else (Q,)))
    for name in monitor.fields or ():
        if name not in known:
            add = f'"{name}_c = {name}"' if name in fields else name
            one = f"give one of {', '.join(known)}, or add {add}" if known else f"add {add}"
            remedy = f"the log has means of [[expressions]]{f' and {Q}' if Q in known else ''}; {one}"
            yield wrong(("monitor", "fields"), name, remedy)


def _no_bodies_are_in_q(
    fields: tuple[str, ...], output: Output, statistics: StatisticsTable | None, probes: Probes, planes: Planes,
    monitor: MonitorTable, obstacles: Obstacles,
) -> Iterator[Problem]:  # fmt: skip
    for key, names in recorded(output, statistics, probes, planes, monitor) if obstacles else ():
        if Q in names and Q not in fields:
            remedy = "not available around obstacles in this version; leave it out: ds.flow.q_criterion() computes it"
            yield wrong(key, Q, remedy)


ExpressionTable.rules = (_expressions_can_be_read, _logged_ones_are_expressions, _no_bodies_are_in_q)
