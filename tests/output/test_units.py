"""Units label what a run has written, and change no number."""

import numpy as np
import pytest

import taskflow as tf
from taskflow.common.errors import BadInput
from taskflow.output.store.units import unit_of
from taskflow.plots.look import Look, with_unit
from taskflow.plots.snapshots import plane_through
from tests.cases.sound import CAVITY

SMALL = {**CAVITY, "grid": {"cells": [6, 4, 6], "lengths": [1.0, 0.25, 1.0]}, "time": {"steps": 2}}


def test_units_label_records_and_pictures_and_change_no_number(tmp_path):
    units = {"length": "m", "time": "s"}
    plain, named = (
        tf.run(tf.Case(**SMALL, **more), tmp_path / name).dataset()
        for name, more in (("plain", {}), ("named", {"units": units}))
    )
    for name in plain.variables:
        np.testing.assert_array_equal(plain[name], named[name])
    assert {named[name].attrs["units"] for name in ("x_c", "y_f", "dz")} == {"m"}
    assert [named[name].attrs["units"] for name in ("time", "u", "p")] == ["s", "m s-1", "m2 s-2"]
    assert plain["u"].attrs["units"] == "1"
    figure, axes = (plane := plane_through(named.isel(time=-1), "y")).panel(Look())
    assert (axes.get_xlabel(), axes.get_title("left").endswith("s,  y = 0.125")) == ("x [m]", True)
    plane.draw(axes, "vorticity_y", Look())
    assert [part.get_ylabel() for part in axes.child_axes] == ["vorticity along y [s$^{-1}$]"]
    assert figure.axes


def test_units_that_are_not_known_have_no_label():
    assert with_unit("u", "1") == "u"
    assert unit_of({"units_length": "m"}, "u") == "1"
    assert unit_of({"units_length": "m", "units_time": "s"}, "dye") == "1"
    assert unit_of({"units_time": "s", "pseudo_time": ""}, "time") == "1"
    assert unit_of({"units_length": "m", "units_time": "s"}, "mean_u") == "m s-1"


@pytest.mark.parametrize(("units", "told"), [
    ({"length": "1m"}, 'units.length = "1m": give the name of a unit'), ({"mass": "kg"}, "units.mass"),
    ({"time": 1}, "units.time = 1"),
])  # fmt: skip
def test_units_that_are_none(units, told):
    with pytest.raises(BadInput, match=told):
        tf.Case(**SMALL, units=units)
