"""The attributes of a store are those of its case. All but the openings follows from the text of the case, too."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from taskflow import Case
from taskflow.analysis.conditions import conditions_of_case
from taskflow.output.store.conditions import BoundarySide, Conditions
from taskflow.systems.records.conditions import conditions

FILES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
EXAMPLES = [path for path in FILES if not re.search(r"^\[(two_phase|method)\]", path.read_text(), re.MULTILINE)]
BASE = {"grid": {"cells": [8, 8, 8], "lengths": [1, 1, 1]}, "fluid": {"viscosity": 0.1}, "time": {"steps": 1}}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path):
    case = Case.load(path)
    known = conditions(case)
    assert conditions_of_case(case.to_toml()) == replace(known, openings={})
    assert Conditions.of(known.attributes()) == known
    assert known.cells == case.grid.cells
    assert [side.type == "periodic" for side in known.sides.values()][::2] == [*case.periodic]
    assert math.isfinite(known.viscosity)


def test_every_kind_of_side():
    sides = {
        "x_min": {"type": "inflow", "velocity": ["z", 0, 0], "temperature": 1}, "x_max": "outflow", "y_min": "slip",
        "y_max": {"type": "symmetry"}, "z_min": {"type": "wall", "heat_flux": 2},
        "z_max": {"type": "wall", "velocity": [1, 0, 0], "heat_transfer": 3, "outside_temperature": 4},
    }  # fmt: skip
    heat = {"diffusivity": 0.2, "expansion": 0.5}
    scalars = [{"name": "dye", "diffusivity": 0.3}]
    case = Case(**BASE, boundaries=sides, heat=heat, scalars=scalars, body={"gravity": [0, 0, -1]})
    known = conditions(case)
    assert known.diffusivities == {"T": 0.2, "dye": 0.3}
    assert (known.thermal_expansion, known.gravity) == (0.5, (0.0, 0.0, -1.0))
    assert [known.sides[name].type for name in sides] == ["inflow", "outflow", "slip", "slip", "wall", "wall"]
    assert known.sides["z_min"] == BoundarySide(type="wall", velocity=(0.0, 0.0, 0.0), heat_flux=2.0)
    still = BoundarySide(type="wall", velocity=(1.0, 0.0, 0.0), heat_transfer=3.0, outside_temperature=4.0)
    assert known.sides["z_max"] == still
    assert conditions_of_case(case.to_toml()) == known


def test_walls_without_heat_have_none():
    case = Case(**BASE, boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"})
    assert conditions(case).sides["z_min"] == BoundarySide(type="wall", velocity=(0.0, 0.0, 0.0))
    assert conditions_of_case(case.to_toml()) == conditions(case)
