"""Values of any kind and size in a case on charts are refused in a line each, without a warning of Python or NumPy."""

import pytest

from tests.simulation.on_charts import CYLINDER
from tests.simulation.test_charts_case import problems

SIDES = 'give "wall", "slip", "symmetry", "inflow", "outflow" or "far-field"'


@pytest.mark.parametrize(("changes", "line"), [
    ({"boundaries__body": {"type": []}}, f"boundaries.body.type = []: {SIDES}"),
    ({"boundaries__body": {"type": {"x": 1}}}, f"boundaries.body.type = {{ x = 1 }}: {SIDES}"),
    ({"grid__shape": 7}, "grid.shape = 7: give one line of text"),
    ({"grid__shape": []}, "grid.shape = []: give one line of text"),
    ({"grid__shape": {"x": 1}}, "grid.shape = { x = 1 }: give one line of text"),
    ({"grid__shape": ""}, 'grid.shape = "": give one line of text'),
    ({"grid": {"file": 16**5000}}, "grid.file = (int): give one line of text"),
    ({"grid__radius": 1e-300}, "grid.radius = 1e-300: give a number > 0, none below 1e-70"),
    ({"grid__cells": [10**20, 8, 1]},
     "grid.cells = [100000000000000000000, 8, 1]: give three whole numbers >= 1, none beyond 2147483647"),
])  # fmt: skip
def test_values_of_any_kind(changes, line):
    assert problems(CYLINDER, **changes) == [line]
