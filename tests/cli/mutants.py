"""Case files that somebody got wrong: sound ones with some things replaced, removed, added, misspelt or torn."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from taskflow.cases import Case
from tests.cli.fitting import fitted

VALUES: tuple[Any, ...] = (
    True, False, 0, 1, -1, 2, 3, 7, 2**31, 10**18, -(10**18), 0.0, -0.5, 1e-300, 1e300, float("nan"), float("inf"),
    float("-inf"), "", "x", "auto", "wall", "periodic", "T", "0", "1e400", "sin(x)", "x +", "1/0",
    "x**x**x**9", "(" * 90,
    "__import__('os').system('touch broken')", "log(-1)", "9**9**9**9", "u\u0000", "\N{GREEK SMALL LETTER MU}",
    "a" * 3000, [], {}, [[]],
    [1, 2], [1, 2, 3], [0, 0, 0], [1e9, 1, 1], [100000, 100000, 100000], [1, 2, 3, 4], ["x", "y", "z"],
    [[0, 0, 0], [1, 1, 1]], {"steps": 0}, {"steps": 5}, {"minutes": 1}, {"time": -1}, {"type": "wall"},
    {"type": "inflow", "velocity": [1, 0, 0]}, {"x": 1}, {"": 1},
    "0<(" * 60 + "x" + ")<1" * 60, "minimum(maximum(" * 40 + "x" + ",1),2)" * 40, "-" * 1500 + "x", "9" * 1900,
    "x+" * 900,
    "sin(" * 190 + "x" + ")" * 190, "x" * 10**5, "\u001b[31m\u0007", "\u202e", "1e308*1e308", "x**-1e308", "1e200*x",
    [1e16, 0, 0], [1e308, 0, 0], [1e-300, 1e-300, 1e-300], [1e12, 1, 1e-6], [100000, 100000, 1], [2147483647, 1, 1],
    [8, 8, 1000000000], list(range(5000)), [[0.5] * 3] * 2000, 5e-324, 1.7e308, 1e16, 1e-30, 1e30, -1e308,
    {"tanh": 1}, {"z": {"tanh": 2}}, {"geometric": 1.5}, {"rms": 1, "wavenumber": 1e7}, {"rms": 1e-300,
    "wavenumber": 1e300},
    {"z": {"faces": "f.txt"}}, {"type": "inflow", "table": "t.csv"}, {"type": "inflow", "velocity": ["1e200*z", 0, 0]},
    [{"type": "surface", "file": "s.stl"}], [{"type": "surface", "file": "s.obj", "scale": 1e300}],
    *([{"type": "heights", "file": f"h.{end}"}] for end in ("npy", "npz", "nc", "tif")),
    [{"type": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 1e-300}], [{"type": "implicit", "inside": "x-1e308"}] * 3,
    [{"type": "implicit", "inside": "x*y*z-0.1"}], [{"type": "box", "low": [0, 0, 0], "high": [0.5, 0.5, 1e300]}] * 300,
)  # fmt: skip


FITTING: tuple[tuple[str, str, Any], ...] = (  # values of the right kind, which only what follows can refuse
    *(("grid", "origin", value) for value in ([1e16, 0, 0], [1e5, -1e5, 0], [1e300, 1e308, -1e308])),
    *(("grid", "cells", value) for value in ([100000, 100000, 2], [2**31 - 1] * 3, [8, 8, 10**9], [2, 2, 2], [1, 64,
    64])),
    *(("grid", "lengths", value) for value in ([1e12, 1, 1e-6], [1e-100] * 3, [1e100] * 3, [1e-30, 1e-30, 1e-30])),
    *(("grid", "stretching", {"z": value}) for value in (
        {"tanh": 2}, {"tanh": 1e-300}, {"geometric": 1.5}, {"geometric": 1000}, {"faces": "f.txt"},
    )),
    *(("fluid", "viscosity", value) for value in (0, 5e-324, 1e-300, 1e30, 1e308)),
    *(("initial", "velocity", [value, 0, 0]) for value in (
        1e30, 1e308, 1e-30, "1e200*x", "0<(" * 60 + "x" + ")<1" * 60, "sin(" * 190 + "x" + ")" * 190,
        "exp(exp(9*x))", "1/x",
    )),
    *(("initial", "noise", {"rms": rms, "wavenumber": k}) for rms in (1e-300, 1, 1e300) for k in (1e-300, 1e7, 1e300)),
    *(("boundaries", face, {"type": "wall", "velocity": [0, u, 0]}) for face in ("x_min", "z_max") for u in (1e308,
    1e20)),
    *(("boundaries", "x_min", {"type": "inflow", **given}) for given in (
        {"table": "t.csv"}, {"velocity": ["1e300*z", 0, 0]}, {"velocity": ["1+t**999", 0, 0]}, {"velocity": [1e30, 0,
        0]},
        {"log_law": {"roughness": 1e-300, "friction_velocity": 1e300}},
        {"log_law": {"roughness": 1e300, "speed": 1e-300, "height": 1e-300}},
    )),
    ("boundaries", "x_max", "outflow"),
    *(("obstacles", "", [{"type": "surface", "file": name, "scale": k}]) for name in ("s.stl", "s.obj") for k in (1,
    1e300)),
    *(("obstacles", "", [{"type": "heights", "file": f"h.{end}"}]) for end in ("npy", "npz", "nc", "tif")),
    ("obstacles", "", [{"type": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.2, "name": "a"}]),
    ("obstacles", "", [{"type": "sphere", "centre": [1e300, 0.5, 0.5], "radius": 1e300}]),
    ("obstacles", "", [{"type": "implicit", "inside": "(x-0.5)**2+(z-0.5)**2-0.01"}] * 20),
    ("obstacles", "", [{"type": "box", "low": [0.1, 0.1, 0.1], "high": [0.5, 0.5, 1e300]}] * 300),
    *(("time", "end", value) for value in (1e-300, 1e300)), ("time", "step", 1e-300), ("time", "cfl", 1e-300),
    *(("machine", "blocks", value) for value in ([2, 1, 1], [1, 1, 1024], [2, 2, 8], [1, 1, 100000])),
    ("machine", "precision", "single"),
    ("body", "gravity", [0, 0, -1e300]), ("body", "rotation", [0, 0, 1e200]), ("body", "force", [1e-320, 1e308, 0]),
    ("heat", "diffusivity", 1e308), ("heat", "expansion", 1e300), ("heat", "background_gradient", [0, 0, 1e200]),
    ("probes", "", [{"name": "p", "places": [[0.1, 0.1, 0.1]] * 5000, "every": 0.1}]),
    ("spectra", "", [{"along": "x"}]), ("statistics", "order", 4), ("planes", "", [{"name": "a", "x": 0.3}]),
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
            fit = chance.random() < 0.6
            for _ in range(chance.randint(1, 2) if fit else 0):
                chance.choice([_fit, fitted])(tables, chance)
            for _ in range(chance.randint(1, 3) if not fit or chance.random() < 0.2 else 0):
                _change(tables, chance)
            yield "\n".join(f"{_key(name)} = {_value(value)}" for name, value in tables.items())
        else:
            at = chance.randrange(len(text))
            torn = "".join(chance.choices(" \n\t[]{}=\"'#,.0-eé\x00", k=chance.randint(0, 6)))
            yield text[:at] + torn + text[at + chance.randint(0, 30) :]


def _fit(tables: dict[str, Any], chance: random.Random) -> None:
    table, key, value = chance.choice(FITTING)
    if not key:
        tables[table] = deepcopy(value)
        return
    if table == "boundaries" and isinstance(tables.get(table), dict):
        tables[table].pop(key[0], None)
        tables[table].setdefault(key[0] + ("_max" if key.endswith("min") else "_min"), "wall")
    if isinstance(tables.setdefault(table, {}), dict):
        tables[table][key] = deepcopy(value)


def _deep(text: str, chance: random.Random) -> str:
    """A case with something far too deep, long or often in it."""
    times = chance.choice([50, 500, 5000])
    return text + chance.choice([
        "\na = " + "[" * times + "]" * times, "\na = " + "{b=" * times + "1" + "}" * times, "\n[" + "a." * times + "a]",
        "\n[[obstacles]]\ntype = 'box'\nlow = [0, 0, 0]\nhigh = [1, 1, 1]\n" * times, "\n[grid]\n" * 2, "\n[[grid]]\n",
        "\na = '" + "x" * 100 * times + "'", "\na = " + "9" * times, "\n#" + "\u001b[2J" * times,
        "\n" + "b" * times + " = 1",
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
