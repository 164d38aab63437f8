"""Writes taskflow/cases/keys.py, the tables of a case as types for editors and type checkers, from the models that read
a case.

A table is a `TypedDict` of its keys, and a value has the type that Python code may give.
`tests/cases/test_case_keys.py` compares the file with the models.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from taskflow.cases.schema import FORMULA, INTERVAL, schema

PAGE = Path(__file__).parents[1] / "taskflow" / "cases" / "keys.py"
HEAD = '''"""The tables of a case as types: editors complete keys, and type checkers refuse unknown ones.

Written by `python -m docs.case_keys` from the models that read a case. Tables of other packages are given as
`Case(**tables)` with a `dict[str, Any]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

import numpy as np

Formula = float | str | Callable[..., Any] | np.ndarray  # a number, an expression or file of a table, or values of it
Interval = float | Mapping[str, float]
'''
PLAIN = {"number": "float", "integer": "int", "string": "str", "boolean": "bool", "null": "None"}
OWN = {"GivenState": "Any", "ProfileTable": "str", "Every": "Interval"}
OWN |= dict.fromkeys(("Expression", "Function", "ArrayValues", "TimeFunction", "TimeTable"), "Formula")
WIDTH, NEXT = 120, "\n        "
BASES = {  # of the keys that these tables have in common
    "BodyShape": ("Obstacle", "PhaseShape"),
    "ExtrudedGrid": ("AnnulusGrid", "SectorGrid", "OGrid", "CGrid", "PipeGrid", "StepGrid", "WavyChannelGrid",
                     "BifurcationGrid"),
    "Boundary": ("Boundary", "Opening"),
    "ChartSide": ("ChartSide", "ChartOpening"),
}  # fmt: skip


class Types:
    """The classes made of a schema, by name, and the types of its nodes."""

    def __init__(self, made: Mapping[str, Any]) -> None:
        self.classes: dict[str, dict[str, str]] = {}
        short = {name: name.removesuffix("Table") for name in made["$defs"]}
        self._named = {name: name if short[name] in made["$defs"] else short[name] for name in made["$defs"]}
        self._aliases: dict[str, str] = {}
        for name, node in made["$defs"].items():
            if name not in OWN:
                self._aliases[name] = self.of(node, self._named[name])
        keys = {name: {**node, "items": node.get("items")} for name, node in made["properties"].items()}
        self._table("Case", keys, made["required"])

    def of(self, node: Mapping[str, Any], name: str) -> str:
        """Return the type of a node, which is called `name` if it is a table."""
        if "anyOf" in node:
            return _union(self.of(part, self._form(part, name)) for part in node["anyOf"])
        if "$ref" in node:
            own = node["$ref"].rpartition("/")[2]
            return OWN.get(own) or f"<{own}>"
        if "enum" in node or "const" in node:
            words = node.get("enum", [node.get("const")])
            chosen = f"Literal[{', '.join(map(repr, words))}]".replace("'", '"')
            return f"{chosen} | str" if "wall" in words else chosen  # packages add types of sides
        if node in (FORMULA, INTERVAL):
            return "Formula" if node == FORMULA else "Interval"
        if node.get("type") == "array":
            items = node.get("prefixItems") or [node.get("items") or {}]
            one = _union(self.of(item, name) for item in items)
            return f"Sequence[{one}] | np.ndarray" if one == "float" else f"Sequence[{one}]"
        if node.get("properties"):
            name = name if name in self._named.values() else node.get("title", name)
            return self._table(name, node["properties"], node.get("required", ()), node.get("additionalProperties"))
        if isinstance(inner := node.get("additionalProperties"), Mapping):
            return f"Mapping[str, {self.of(inner, f'{name}Item')}]"
        kind = node.get("type")
        return " | ".join(PLAIN[one] for one in ([kind] if isinstance(kind, str) else kind or ())) or "Any"

    def _form(self, node: Mapping[str, Any], name: str) -> str:
        """Return the name of one of several forms of a table: its title, or the shape of a grid."""
        forms = node.get("properties", {}).get("shape", {}).get("anyOf", [{}])[0]
        if (shape := forms.get("const")) is not None:
            return f"{''.join(part.title() for part in re.split('[-_ ]', shape)).removesuffix('Grid')}Grid"
        return str(node.get("title") or ("FileGrid" if "file" in node.get("properties", {}) else name))

    def _table(self, name: str, keys: Mapping[str, Any], required: Any, others: Any = False) -> str:
        kinds = {key: self.of(node, f"{name}{key.title().replace('_', '')}") for key, node in keys.items()}
        self.classes[name] = {key: f"Required[{kind}]" if key in required else kind for key, kind in kinds.items()}
        return f"{name}Keys" + (f" | Mapping[str, {self.of(others, name)}]" if isinstance(others, Mapping) else "")

    def text(self) -> str:
        """Return the classes, with the types of the tables in place of their names."""

        def known(match: re.Match[str]) -> str:
            return re.sub(r"<(\w+)>", known, self._aliases[match[1]])

        parents = {name: base for base, heirs in BASES.items() for name in heirs if name != base}
        shared = {base: self._shared(heirs) for base, heirs in BASES.items()}
        texts = []
        for name, keys in {**shared, **self.classes}.items():
            if name in shared and keys != shared[name]:
                raise ValueError(f"{name} has keys that {', '.join(BASES[name])} do not share; change BASES")
            parent = parents.get(name)
            own = [f"    {key}: {kind}" for key, kind in keys.items() if not parent or key not in shared[parent]]
            of = f"{parent}Keys" if parent else "TypedDict"
            texts.append("\n".join([f"class {name}Keys({of}, total=False):", *own]))
        whole = re.sub(r"<(\w+)>", known, "\n\n\n".join(texts))
        return "\n".join(map(_wrapped, whole.split("\n")))

    def _shared(self, names: Sequence[str]) -> dict[str, str]:
        """Return the keys that all these tables have, with one type."""
        first, *others = (self.classes[name].items() for name in names)
        return {key: kind for key, kind in first if all((key, kind) in items for items in others)}


def _union(kinds: Iterable[str]) -> str:
    """Return a union without repeated members, and without those that `Formula` has."""
    parts = sorted(dict.fromkeys(" | ".join(kinds).split(" | ")), key="None".__eq__)
    tables = [part for part in parts if re.fullmatch(r"Sequence\[(<\w+>|\w+Keys)\]", part)]
    if len(tables) > 1:  # which one an item is, a type checker asks of each item
        parts = [f"Sequence[{' | '.join(part[9:-1] for part in tables)}]", *(p for p in parts if p not in tables)]
    return " | ".join(part for part in parts if "Formula" not in parts or part not in ("float", "str"))


def _wrapped(line: str) -> str:
    """Return a line of at most `WIDTH` characters, else one for each member of its union."""
    key, _, kind = line.partition(": ")
    return line if len(line) <= WIDTH else f"{key}: (\n        {kind.replace(' | ', f'{NEXT}| ')}\n    )"


def updated() -> str:
    """Return the file as it has to be."""
    return f"{HEAD}\n\n{Types(schema()).text()}\n"


if __name__ == "__main__":
    PAGE.write_text(updated(), encoding="utf-8")
