"""Values of any kind and size in a case on charts are refused in a line each, without a warning of Python or NumPy."""

import pytest

from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from tests.cases.on_charts import CYLINDER, LID, case
from tests.cases.test_charts_case import problems

SIDES = 'give "wall", "slip", "symmetry", "inflow", "outflow" or "far-field"'
LOST = "its square is above 1.8e+308, the largest number in double precision; give another unit of length or time, or a"


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
     "grid.cells = [100000000000000000000, 8, 1]: give three integers >= 1, none beyond 2147483647"),
])  # fmt: skip
def test_values_of_any_kind(changes, line):
    assert problems(CYLINDER, **changes) == [line]


@pytest.mark.parametrize(("tables", "changes", "start"), [
    (CYLINDER, {"boundaries__far": {"type": "far-field", "velocity": [1e200, 0, 0]}},
     f"boundaries.far.velocity = [1e+200, 0.0, 0.0]: {LOST}"),
    (CYLINDER, {"initial__velocity": [0, -1e200, 0]}, f"initial.velocity = [0.0, -1e+200, 0.0]: {LOST}"),
    (CYLINDER, {"boundaries__body": {"type": "wall", "velocity": [0, 0, 1e200]}},
     f"boundaries.body.velocity = [0.0, 0.0, 1e+200]: {LOST}"),
    (CYLINDER, {"initial__velocity": ["1e200*x", 0, 0]}, 'method.reference_speed = "auto": the largest speed is inf; '),
    (CYLINDER, {"method__reference_speed": 1e200}, f"method.reference_speed = 1e+200: {LOST}"),
    (CYLINDER, {"method__reference_speed": 1e-200}, "method.reference_speed = 1e-200: its square is below"),
    (CYLINDER, {"method__compressibility": 1e-310}, "method.compressibility = 1e-310: it is below"),
    (CYLINDER, {"fluid__viscosity": 1.7e308}, "fluid.viscosity = 1.7e+308: it over the square of the spacing is above"),
    (LID, {"body__gravity": [0, 0, 1e308]}, 'method.reference_speed = "auto": the largest speed is 1e+154; one over'),
    (LID, {"heat__reference": 1e200, "method__reference_speed": 1.0}, f"heat.reference = 1e+200: {LOST}"),
    (LID, {"scalars": [{"name": "dye", "diffusivity": 1, "boundaries": {"y_min": {"value": 1e200}}}]},
     f"scalars[1].boundaries.y_min.value = 1e+200: {LOST}"),
    (LID, {"method__pressure_at": None, "machine__precision": "single", "time__steady": 1e-4,
           "grid__lengths": [1e-50] * 3},
     "grid: a cell has the volume 2.08e-153; it is below 1.18e-38, the smallest sound number in single precision;"),
])  # fmt: skip
def test_numbers_that_cannot_be_computed_with(tables, changes, start):
    assert any(line.startswith(start) for line in problems(tables, **changes))


@pytest.mark.parametrize(("changes", "message"), [
    ({"initial__velocity": ["1e200*x", 0, 0]}, r"initial\.velocity: on chart 1 there are values of 4\.\d+e\+200; its"),
    ({"boundaries__body": {"type": "wall", "velocity": ["-1e200*y", "1e200*x", 0]}},
     r"boundaries\.body\.velocity: at t = 0: there are values of 4\.\d+e\+199; its square is above"),
])  # fmt: skip
def test_formulas_whose_values_are_too_large(changes, message):
    setup = RunSetup(case(method__reference_speed=1.0, **changes), (1, 1, 1))
    with pytest.raises(BadInput, match=message):
        setup.system.check()
