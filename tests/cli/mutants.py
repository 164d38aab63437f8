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
    "0<(" * 60 + "x" + ")<1" * 60, "minimum(maximum(" * 40 + "x" + ",1),2)" * 40, "-" * 1500 + "x", "9" * 1900, "x+" * 900,
    "sin(" * 190 + "x" + ")" * 190, "x" * 10**5, "\u001b[31m\u0007", "\u202e", "1e308*1e308", "x**-1e308", "1e200*x",
    [1e16, 0, 0], [1e308, 0, 0], [1e-300, 1e-300, 1e-300], [1e12, 1, 1e-6], [100000, 100000, 1], [2147483647, 1, 1],
    [8, 8, 1000000000], list(range(5000)), [[0.5] * 3] * 2000, 5e-324, 1.7e308, 1e16, 1e-30, 1e30, -1e308,
    {"tanh": 1}, {"z": {"tanh": 2}}, {"geometric": 1.5}, {"rms": 1, "wavenumber": 1e7}, {"rms": 1e-300, "wavenumber": 1e300},
    {"z": {"faces": "f.txt"}}, {"type": "inflow", "table": "t.csv"}, {"type": "inflow", "velocity": ["1e200*z", 0, 0]},
    [{"type": "surface", "file": "s.stl"}], [{"type": "surface", "file": "s.obj", "scale": 1e300}],
    *([{"type": "heights", "file": f"h.{end}"}] for end in ("npy", "npz", "nc", "tif")),
    [{"type": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 1e-300}], [{"type": "implicit", "inside": "x-1e308"}] * 3,
    [{"type": "implicit", "inside": "x*y*z-0.1"}], [{"type": "box", "low": [0, 0, 0], "high": [0.5, 0.5, 1e300]}] * 300,
)  # fmt: skip


def mutants(seed: int, *folders: Path) -> Iterator[str]:
    """Mutants without end of the case files in some folders; those with the same seed are the same."""
    chance = random.Random(seed)
    sound = [path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.glob("*.toml"))]
    while True:
        text = chance.choice(sound)
        if chance.random() < 0.05:
            yield _deep(text, chance)
        elif chance.random() < 0.85:
            tables = tomllib.loads(text)
            if chance.random() < 0.3:  # features of two cases together
                name, table = chance.choice([*tomllib.loads(chance.choice(sound)).items()])
                tables[name] = table
            for _ in range(chance.randint(1, 3)):
                _change(tables, chance)
            yield "\n".join(f"{_key(name)} = {_value(value)}" for name, value in tables.items())
        else:
            at = chance.randrange(len(text))
            torn = "".join(chance.choices(" \n\t[]{}=\"'#,.0-eé\x00", k=chance.randint(0, 6)))
            yield text[:at] + torn + text[at + chance.randint(0, 30) :]


def _deep(text: str, chance: random.Random) -> str:
    """A case with something far too deep, long or often in it."""
    times = chance.choice([50, 500, 5000])
    return text + chance.choice([
        "\na = " + "[" * times + "]" * times, "\na = " + "{b=" * times + "1" + "}" * times, "\n[" + "a." * times + "a]",
        "\n[[obstacles]]\ntype = 'box'\nlow = [0, 0, 0]\nhigh = [1, 1, 1]\n" * times, "\n[grid]\n" * 2, "\n[[grid]]\n",
        "\na = '" + "x" * 100 * times + "'", "\na = " + "9" * times, "\n#" + "\u001b[2J" * times, "\n" + "b" * times + " = 1",
    ])  # fmt: skip


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
