"""The case file as a JSON schema, made from the tables that read it: for editors, which complete keys and mark errors.

It knows keys, types, choices, ranges and what keys mean. Combinations are checked by `taskflow check` alone.
"""

import re
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from taskflow.cases.case import Case
from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.profile_table import ProfileTable
from taskflow.cases.language.table import OTHERWISE, REMEDY, Table, written
from taskflow.cases.tables.initial import ArrayValues, Function, GivenState
from taskflow.cases.tables.method import SYSTEMS, Kind
from taskflow.cases.tables.timed import TimeFunction, TimeTable
from taskflow.cases.timing.intervals import Every

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FORMULA = {
    "type": ["number", "string"],
    "description": "a number, or an expression in x, y, z, and where it may change in t, or a table of t (.csv)",
}
LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
AMOUNT = {"type": "number", "exclusiveMinimum": 0}
INTERVAL = {
    "description": "a simulation time, { steps = n }, { time = t } or, for checkpoints, { minutes = m }",
    "anyOf": [
        AMOUNT,
        {
            "type": "object",
            "properties": {"steps": {"type": "integer", "minimum": 1}, "time": AMOUNT, "minutes": AMOUNT},
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        },
    ],
}
WRITTEN: dict[type, JsonSchemaValue] = {  # what a file has for values of our own types
    **dict.fromkeys((Expression, Function, ArrayValues, TimeFunction, TimeTable), FORMULA),
    GivenState: {"type": "string"},
    Every: INTERVAL,
    ProfileTable: {"type": "string", "description": "a CSV file in the folder of the case"},
}


class _Schema(GenerateJsonSchema):
    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        return WRITTEN.get(schema["cls"]) or super().dataclass_schema(schema)

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made["title"] = made["title"].removesuffix("Table")
        return dict(schema["cls"].as_schema(made))

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().default_schema(schema)
        default = schema.get("default")
        if default in (None, ()) or isinstance(default, Table | Expression):  # nothing, or what has its own defaults
            made.pop("default", None)
        else:
            made["default"] = written(default)
        return made


def described() -> dict[str, Any]:
    """The schema with all that is said of each key, as Markdown of the reference: its `description`, and `otherwise`,
    what holds without it, where that is no value.
    """
    return Case.model_json_schema(schema_generator=_Schema)


def own_tables(system: Kind) -> dict[str, JsonSchemaValue]:
    """Return the schemas of the tables that this system extends, by their names in the case file."""
    tables = {system.table_name: system.table, **system.tables, **system.lists}
    return {name: table.model_json_schema(schema_generator=_Schema) for name, table in tables.items()}


def schema() -> dict[str, Any]:
    """The schema of a case file, as JSON's types, with the tables of all systems that are installed."""
    made = {"$schema": DIALECT, **_for_editors(described()), "title": "A case of taskflow"}
    made["additionalProperties"] = False
    for system in SYSTEMS.available()[0].values():
        for name, table in own_tables(system).items():
            made["$defs"] |= _for_editors(table.pop("$defs", {}))
            one = _for_editors(table)
            array = {"type": "array", "items": one, "description": one["description"]}
            mine, other = array if name in system.lists else one, made["properties"].get(name)
            either = other and {"anyOf": [other, mine], "description": other.get("description", one["description"])}
            made["properties"][name] = either or mine
        # of other tables it reads a key at most, and needs none
        made["required"] = [name for name in made["required"] if name == "boundaries" or system.supports.has(name)]
    return made


def _for_editors(node: Any) -> Any:
    """Descriptions without links, which lead nowhere there, and with what holds otherwise."""
    if isinstance(node, list):
        return [_for_editors(item) for item in node]
    if not isinstance(node, dict):
        return node
    shown = {name: _for_editors(item) for name, item in node.items() if name not in (OTHERWISE, REMEDY)}
    if isinstance(words := node.get("description"), str):
        default = f". Default: {node[OTHERWISE]}" if isinstance(node.get(OTHERWISE), str) else ""
        shown["description"] = LINK.sub(r"\1", words + default)
    return shown
