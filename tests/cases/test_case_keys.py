"""The tables of a case as types: the file follows the models, and a type checker finds a wrong key."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.case_keys import PAGE, updated

WRONG = [
    'grid={"cels": [8, 8, 8], "lengths": [1, 1, 1]}',
    'fluid={"viscosity": 0.1, "viscosty": 0.1}',
    'fluid={"viscosity": "much"}',
    'body={"force": ["sin(t)", 0, 0], "gravty": [0, 0, 1]}',
    'time={"end": 1.0, "step": 0.1, "clf": 1}',
    'openings=[{"name": "slot", "side": "x_min", "type": "wall", "boks": []}]',
    'fluids={"viscosity": 0.1}',
]
SOUND = """
Case(
    grid={"cells": [8, 8, 8], "lengths": (1, 1, 1)},
    fluid={"viscosity": 0.1},
    boundaries={"x": "periodic", "y_min": "wall", "y_max": {"type": "wall", "velocity": ["t", 0, lambda t: t]}},
    openings=[{"name": "slot", "side": "y_min", "box": [[0, 0, 0], [1, 0, 1]], "type": "outflow", "pressure": 0}],
    heat={"diffusivity": 0.1},
    turbulence=None,
    initial={"velocity": [lambda x, y, z: x, "y", 0.0]},
    time={"end": 1.0, "cfl": 0.5},
    output={"every": {"steps": 4}},
)
Case(
    method={"type": "artificial-compressibility", "march": "implicit"},
    grid={"shape": "o-grid", "cells": [16, 8, 1], "far": 5.0},
    boundaries={"body": "wall", "far": {"type": "far-field", "velocity": [1, 0, 0]}, "ends": "symmetry"},
    time={"steady": 1e-6, "steps": 100},
)
tables: dict[str, Any] = {"burgers": {"viscosity": 0.1}}
Case(**tables)
"""


def said(folder: Path, text: str) -> list[str]:
    """What mypy says of a module with `Case`."""
    api = pytest.importorskip("mypy.api")
    (folder / "snippet.py").write_text(text, encoding="utf-8")
    words, errors, _ = api.run([str(folder / "snippet.py"), "--strict", f"--cache-dir={folder / 'cache'}"])
    assert not errors
    return [line for line in words.splitlines() if line.startswith(str(folder / "snippet.py"))]


def wrong(line: str) -> str:
    """A call with one wrong table. Required tables are there, of any type."""
    others = (f"{name}=ANY" for name in ("grid", "boundaries", "time") if not line.startswith(f"{name}="))
    return f"Case({', '.join((*others, line))})"


def test_the_file_follows_the_models():
    """Written by `python -m docs.case_keys`."""
    assert PAGE.read_text(encoding="utf-8") == updated()


def test_a_type_checker_finds_wrong_keys(tmp_path):
    """By the types alone, as a module without NumPy, which takes mypy long."""
    keys = PAGE.read_text(encoding="utf-8").replace("import numpy as np", "").replace("np.ndarray", "bytearray")
    (tmp_path / "keys.py").write_text(keys, encoding="utf-8")
    head = "from typing import Any, Unpack\nfrom keys import CaseKeys\nANY: Any = None\n"
    head += "def Case(**tables: Unpack[CaseKeys]) -> None: ...\n"
    lines = said(tmp_path, head + "\n".join(map(wrong, WRONG)) + SOUND)
    found = [int(line.split(":")[1]) - head.count("\n") - 1 for line in lines if ": error:" in line]
    assert sorted(set(found)) == [*range(len(WRONG))]
    assert any('Extra key "gravty"' in line for line in lines)


@pytest.mark.slow
def test_a_type_checker_knows_cases_and_records(tmp_path):
    """With the whole package, which takes mypy a minute or two."""
    head = "from typing import Any\nfrom taskflow import Case, Run\nANY: Any = None\n"
    asked = """
ds = Run.open("run").dataset()
ds.isel(time=-1).flow.vorticity()
ds.flow.side("body")
ds.flow.vortcity()
"""
    lines = said(tmp_path, head + "\n".join(map(wrong, WRONG)) + SOUND + asked)
    errors = {line.split(":")[1] for line in lines if ": error:" in line}
    assert len(errors) == len(WRONG) + 1
    assert 'has no attribute "vortcity"' in lines[-1]
