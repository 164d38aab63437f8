"""Arrays that a script records: a group each, with its dimensions, in the store of a run."""

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output import RecordedArray, cut_recorded, dataset
from tests.output.conftest import layout_of


@pytest.fixture
def store(written):
    return written(layout_of())


def test_numbers_are_records_in_time(store):
    array = RecordedArray(store, "drag", 0.0)
    for time in (0.0, 0.5, 2.0):
        array.add(time, 10 * time)
    array.finish()
    recorded = dataset(store, "drag")
    np.testing.assert_array_equal(recorded.time, [0.0, 0.5, 2.0])
    np.testing.assert_array_equal(recorded.drag, [0.0, 5.0, 20.0])
    assert recorded.drag.dims == ("time",)


def test_an_array_of_xarray_keeps_dimensions_coordinates_and_attributes(store):
    places = xr.DataArray([0.25, 0.75], dims="height", attrs={"units": "m"})
    first = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("height", "n"), coords={"height": places},
                         attrs={"long_name": "shear", "object": [1]})  # fmt: skip
    array = RecordedArray(store, "shear", first)
    array.add(0.0, first)
    array.add(1.0, -first)
    array.finish()
    recorded = dataset(store, "shear")
    assert recorded.shear.dims == ("time", "height", "n")
    np.testing.assert_array_equal(recorded.height, places)
    assert recorded.height.attrs["units"] == "m"
    np.testing.assert_array_equal(recorded.n, [0, 1, 2])
    assert recorded.shear.attrs["long_name"] == "shear"
    np.testing.assert_array_equal(recorded.shear[1], -first)


def test_what_cannot_be_recorded(store):
    for name in ("a b", "1st", "", "x" * 101, 3):
        with pytest.raises(BadInput, match="give a name of letters, digits and _"):
            RecordedArray(store, name, 0.0)
    with pytest.raises(BadInput, match=r"record\('u', ...\): the run writes u itself; give another name"):
        RecordedArray(store, "u", 0.0)
    for array in ("text", [[1], [1, 2]], {"a": 1}):
        with pytest.raises(BadInput, match=r"record\('a', \w+\): .*; give a number or an array of numbers"):
            RecordedArray(store, "a", array)
    assert not (store / "a").exists()
    kept = RecordedArray(store, "a", np.zeros(2))
    kept.add(1.0, [1, 2])
    with pytest.raises(BadInput, match=r"array of shape \(3,\)\): it was \(2,\) before; keep it"):
        kept.add(2.0, np.zeros(3))
    for time in (1.0, 0.5):
        with pytest.raises(BadInput, match="there is one of time 1; give one a step"):
            kept.add(time, [3, 4])
    kept.finish()
    np.testing.assert_array_equal(dataset(store, "a").a, [[1, 2]])


def test_a_run_that_resumes_drops_later_records_of_scripts_alone(store):
    """The snapshots at 0, 0.5 and 1 are cut by the run, not here."""
    for name in ("a", "b"):
        array = RecordedArray(store, name, 0.0)
        for time in (0.0, 0.5, 1.0):
            array.add(time, time)
        array.finish()
    cut_recorded(store, 0.5)
    for name in ("a", "b"):
        np.testing.assert_array_equal(dataset(store, name).time, [0.0, 0.5])
    assert dataset(store).sizes["time"] == 3
    again = RecordedArray(store, "a", 0.0)
    again.add(0.75, 7.0)
    again.finish()
    np.testing.assert_array_equal(dataset(store, "a").a, [0.0, 0.5, 7.0])
