"""Values of the kind that a key of a case file takes, drawn from the schema: every key gets some, extreme ones too."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from taskflow.cases.schema import described

NUMBERS = (0, 1, -1, 0.5, 2, 0.3, 1e-3, 100, 1e-300, 5e-324, 1e300, 1.7e308, 1e16, -1e30, 1e-9, 7, 3, 64)
WHOLE = (1, 2, 3, 5, 8, 16, 0, 64, 1000, 100000, 2**31 - 1)
WORDS = (
    "T", "u", "v", "w", "p", "a", "b", "x", "y", "z", "x*y", "sin(x)+t", "1/x", "1e200*z", "f.txt", "t.csv", "s.stl",
    "s.obj", "h.npy", "h.nc", "h.tif", "flow", "auto",
)  # fmt: skip


@cache
def _schema() -> dict[str, Any]:
    return described()


def fitted(tables: dict[str, Any], chance: random.Random) -> None:
    """Puts a value that fits by itself at a key of some table: at one that the schema draws, however deep."""
    node, inside = _schema(), tables
    while True:
        keys = node["properties"]
        [key] = chance.choices([*keys], [_leaves(one) for one in keys.values()])
        result = _resolved(keys[key], chance)
        deeper = "properties" in result and isinstance(inside.get(key), dict) and chance.random() < 0.8
        if not deeper and result.get("type") == "array" and isinstance(inside.get(key), list) and inside[key]:
            item, last = _resolved(result.get("items", {}), chance), inside[key][-1]
            if "properties" in item and isinstance(last, dict) and chance.random() < 0.5:
                node, inside = item, last
                continue
        if not deeper:
            inside[key] = _value(keys[key], chance)
            return
        node, inside = result, inside[key]


def _leaves(node: dict[str, Any]) -> int:
    """How many keys there are at and below one."""
    if "$ref" in node:
        return _below(node["$ref"].rpartition("/")[2])
    inner = (*node.get("anyOf", ()), *node.get("properties", {}).values(), node.get("items", {}))
    return max(1, sum(map(_leaves, filter(None, inner))))


@cache
def _below(name: str) -> int:
    return _leaves(_schema()["$defs"][name])


def _resolved(node: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The kind of a key: one of several that it may have, but for none at all."""
    while True:
        if "$ref" in node:
            node = _schema()["$defs"][node["$ref"].rpartition("/")[2]]
        elif "anyOf" in node:
            node = chance.choice([item for item in node["anyOf"] if item.get("type") != "null"])
        else:
            return node


def _value(node: dict[str, Any], chance: random.Random) -> Any:
    result = _resolved(node, chance)
    if "properties" in result:
        needed = result.get("required", ())
        some = chance.choice([0.1, 0.3])
        return {
            key: _value(item, chance) for key, item in result["properties"].items() if key in needed or
            chance.random() < some
        }  # fmt: skip
    if "const" in result or "enum" in result:
        return chance.choice(result.get("enum", [result.get("const")]))
    kind = result.get("type", "string")
    kind = chance.choice(kind) if isinstance(kind, list) else kind
    if kind == "array":
        items = result.get("prefixItems") or [result.get("items", {})] * chance.choice([1, 1, 2, 3])
        return [_value(item, chance) for item in items]
    if kind == "object":
        return {}
    return chance.choice({"number": NUMBERS, "integer": WHOLE, "boolean": (True, False)}.get(kind, WORDS))
