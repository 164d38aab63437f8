"""Numbers with which the equations cannot be computed are refused, with key, value and what is lost."""

import pytest

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from tests.cases.sound import cavity

LID = {"type": "wall", "velocity": [1e308, 0, 0]}


@pytest.mark.parametrize(("changes", "message"), [
    ({"grid__origin": [1e16, 0, 0]}, r"grid\.origin = \[1e\+16, .*: numbers are 2 apart .* nearer to 0"),
    ({"grid__lengths": [1e12, 1.0, 1e-6]}, r"grid\.lengths = .*and 1e\+11 in another, which rounding in"),
    ({"grid__lengths": [1e-100, 1e-100, 1e-100]}, r"grid\.lengths = .*its square is below .*single precision"),
    ({"boundaries__z_max": LID}, r"boundaries\.z_max\.velocity = \[1e\+308.*: its square is above"),
    ({"fluid__viscosity": 1e308}, r"fluid\.viscosity = 1e\+308: it .*is above"),
    ({"time": {"end": 3, "step": 1e300}}, r"time\.step = 1e\+300: give a number up to 1e\+100"),
    ({"body__force": [1e300, 0, 0]}, r"body\.force = .*: it is above .* in single precision"),
    ({"initial__velocity": [1e30, 0, 0]}, r"initial\.velocity = .*: its square is above"),
    ({"scalars": [{"name": "c", "diffusivity": 1, "boundaries": {"x_min": {"flux": 1e300}}}]},
     r"scalars\[1\]\.boundaries\.x_min\.flux = 1e\+300: it is above"),
    ({"scalars": [{"name": "c", "diffusivity": 1, "sources": [{"point": [0.5, 0.1, 0.5], "rate": 1e300}]}]},
     r"scalars\[1\]\.sources\[1\]\.rate = 1e\+300: it is above"),
    ({"obstacles": [{"type": "sphere", "centre": [1e300, 0, 0], "radius": 1}]}, r"\.centre = .*up to 1e\+100"),
    ({"heat__expansion": 1e300, "heat__diffusivity": 1, "heat__background_gradient": [0, 0, 1e200],
      "body__gravity": [0, 0, -1], "machine__precision": "double"},
     r"heat\.background_gradient = .*times heat\.expansion = 1e\+300 and body\.gravity the product is no longer"),
    ({"grid__cells": [8, 8, 10**9], "grid__stretching": {"z": {"tanh": 1}}}, "1000000000 cells in z; give at most"),
    ({"grid__cells": [10**9, 8, 8], "grid__stretching": {"z": {"tanh": 1}}}, "1000000000 cells in x; give at most"),
])  # fmt: skip
def test_numbers_that_cannot_be_computed_with(changes, message):
    tables = cavity(grid__cells=[10, 10, 10], machine__precision="single")
    for key, value in changes.items():
        table, _, name = key.partition("__")
        tables[table] = {**tables.get(table, {}), name: value} if name else value
    with pytest.raises(BadInput, match=message):
        Case(**tables)


def test_places_that_coincide_are_refused_before_the_grid_has_metrics():
    """On the uniform directions of a stretched grid, too: a warning of NumPy would be an error here."""
    tables = cavity(grid__cells=[10, 10, 10], grid__origin=[1e16, 0, 0], grid__stretching={"z": {"tanh": 1}})
    tables["boundaries"]["z_min"] = {"type": "wall", "roughness": 1e-6}
    with pytest.raises(BadInput, match=r"^grid\.origin = .*numbers are 2 apart") as told:
        Case(**{**tables, "turbulence": {"model": "vreman"}})
    assert len(str(told.value).splitlines()) == 1
