"""Case files that somebody got wrong: sound ones with some things replaced, removed, added, misspelt or torn."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from taskflow.simulation.case import Case

VALUES: tuple[Any, ...] = (
    True, False, 0, 1, -1, 2, 3, 7, 2**31, 10**18, -(10**18), 0.0, -0.5, 1e-300, 1e300, float("nan"), float("inf"),
    float("-inf"), "", "x", "auto", "wall", "periodic", "T", "0", "1e400", "sin(x)", "x +", "1/0",
    "x**x**x**9", "(" * 90,
    "__import__('os').system('touch broken')", "log(-1)", "9**9**9**9", "u\u0000", "\N{GREEK SMALL LETTER MU}",
    "a" * 3000, [], {}, [[]],
    [1, 2], [1, 2, 3], [0, 0, 0], [1e9, 1, 1], [100000, 100000, 100000], [1, 2, 3, 4], ["x", "y", "z"],
    [[0, 0, 0], [1, 1, 1]], {"steps": 0}, {"steps": 5}, {"minutes": 1}, {"time": -1}, {"type": "wall"},
    {"type": "inflow", "velocity": [1, 0, 0]}, {"x": 1}, {"": 1},
)  # fmt: skip


def mutants(seed: int, *folders: Path) -> Iterator[str]:
    """Mutants without end of the case files in some folders; those with the same seed are the same."""
    chance = random.Random(seed)
    sound = [path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.glob("*.toml"))]
    while True:
        text = chance.choice(sound)
        if chance.random() < 0.85:
            tables = tomllib.loads(text)
            for _ in range(chance.randint(1, 3)):
                _change(tables, chance)
            text = "\n".join(f"{_key(name)} = {_value(value)}" for name, value in tables.items())
        else:
            at = chance.randrange(len(text))
            torn = "".join(chance.choices(" \n\t[]{}=\"'#,.0-eé\x00", k=chance.randint(0, 6)))
            text = text[:at] + torn + text[at + chance.randint(0, 30) :]
        yield text


def _change(tables: dict[str, Any], chance: random.Random) -> None:
    places = list(_places(tables))
    if not places:
        return
    inner, key = chance.choice(places)
    action = chance.choice(["replace", "replace", "remove", "scale", "add", "misspell", "copy"])
    if action == "replace":
        inner[key] = deepcopy(chance.choice(VALUES))
    elif action == "remove":
        del inner[key]
    elif action == "scale" and isinstance(inner[key], int | float):
        inner[key] = inner[key] * chance.choice([-1, 0, 0.5, 1e-9, 10, 1000, 1e30])
    elif action == "copy":
        other, name = chance.choice(places)
        inner[key] = deepcopy(other[name])
    elif isinstance(inner, dict):
        if action == "misspell":
            inner[str(key)[:-1] + chance.choice("xsz_")] = inner.pop(key)
        else:
            inner[chance.choice([path[-1] for path in Case.paths()])] = deepcopy(chance.choice(VALUES))


def _places(inside: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in nested tables and lists: what it is in, and its key or index there."""
    items = inside.items() if isinstance(inside, dict) else enumerate(inside) if isinstance(inside, list) else ()
    for key, value in items:
        yield inside, key
        yield from _places(value)


def _value(value: Any) -> str:
    """As in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(name)} = {_value(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _key(value) if isinstance(value, str) else str(value)


def _key(text: str) -> str:
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in text)
    return f'"{escaped}"'
