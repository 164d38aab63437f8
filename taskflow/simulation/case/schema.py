"""The case file as a JSON schema, made from the tables that read it: for editors, which complete keys and mark errors.

It knows keys, types and choices. Ranges and combinations are checked by `taskflow check` alone.
"""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from taskflow.simulation.case.boundaries import Boundary
from taskflow.simulation.case.case import Case
from taskflow.simulation.case.initial import Function
from taskflow.simulation.expression import Expression
from taskflow.simulation.inflow.profile_table import ProfileTable
from taskflow.simulation.schedule import Every

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FORMULA = {"type": ["number", "string"], "description": "a number, or an expression in x, y, z (and t at an inflow)"}
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
    Expression: FORMULA,
    Function: FORMULA,
    Every: INTERVAL,
    ProfileTable: {"type": "string", "description": "a CSV file, beside the case"},
}


class _Schema(GenerateJsonSchema):
    def dataclass_schema(self, schema: Any) -> JsonSchemaValue:
        return WRITTEN.get(schema["cls"]) or super().dataclass_schema(schema)

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        found = super().model_schema(schema)
        if schema["cls"] is not Boundary:
            return found
        return {"anyOf": [{"enum": found["properties"]["type"]["enum"]}, found]}  # a side may be its type alone

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        found = super().default_schema(schema)
        if not isinstance(found.get("default"), str | int | float):  # nothing, or a value of our own
            found.pop("default", None)
        return found


def schema() -> dict[str, Any]:
    """The schema of a case file, as JSON's types."""
    found = Case.model_json_schema(schema_generator=_Schema)
    return {"$schema": DIALECT, **found, "title": "A case of taskflow"}
