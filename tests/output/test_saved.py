"""States that a run may start from, of datasets, trees and files; a message lists those that exist."""

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output.checkpoint.saved import saved_state

C = (np.arange(4) + 0.5) / 4


def flow(times=None, falling=False):
    """Velocities that name their record: 10 n + z."""
    z = C[::-1] if falling else C
    field = np.broadcast_to(z[:, None, None], (4, 4, 4))
    coords = {"z": z, "y": C, "x": C}
    if times is None:
        return xr.Dataset(dict.fromkeys("uvw", (("z", "y", "x"), field)), coords)
    values = np.stack([10 * n + field for n in range(len(times))]) if len(times) else np.empty((0, 4, 4, 4))
    return xr.Dataset(dict.fromkeys("uvw", (("time", "z", "y", "x"), values)), {**coords, "time": times})


def test_the_last_state_or_the_one_of_a_time():
    records = flow([0.0, 0.1, 0.3])
    for time, record in ((None, 2), (0.0, 0), (0.1, 1), (0.1 * (1 + 1e-12), 1), (0.3, 2)):
        state = saved_state(records, time)
        assert state.time == records.time.values[record]
        np.testing.assert_array_equal(state.fields["u"][:, 0, 0], 10 * record + C)
        assert state.where == f"time {state.time:g} of the dataset"


def test_a_state_without_a_time_or_with_one_number():
    assert saved_state(flow(), None).time == 0.0
    one = flow().assign_coords(time=2.5)
    assert saved_state(one, None).time == saved_state(one, 2.5).time == 2.5


def test_rows_that_fall_are_turned():
    np.testing.assert_array_equal(saved_state(flow(falling=True), None).fields["u"][:, 0, 0], C)


@pytest.mark.parametrize(("records", "time", "message"), [
    (flow([0.0, 0.1, 0.3]), 0.2, r"time = 0.2: the dataset has no state of it; choose one of 0, 0.1, 0.3"),
    (flow([0.0, 0.1, 0.3]), np.nan, r"time = nan: the dataset has no state of it; choose one of 0, 0.1, 0.3"),
    (flow([]), None, "the dataset: no state is complete yet; wait for the first one"),
    (flow(), 1.0, "time = 1: the dataset has no times to choose from; omit it"),
    (flow().assign_coords(time=2.5), 1.0, "time = 1: the dataset has no times to choose from; omit it"),
    (flow().assign_coords(time=("x", C)), None, "its time lies along x; give one number, or a dimension"),
    (flow(np.array(["2026-01-01"], "M8[ns]")), None, r"its times are of type datetime64\[ns\]; give numbers, or one"),
])  # fmt: skip
def test_what_no_run_can_start_from(records, time, message):
    with pytest.raises(BadInput, match=message):
        saved_state(records, time)


def test_a_tree_of_charts_has_the_state_of_one_time():
    chart = flow([0.0, 0.5]).drop_vars("time")
    tree = xr.DataTree.from_dict({"/": xr.Dataset(coords={"time": [0.0, 0.5]}), "charts/0": chart, "charts/1": chart})
    state = saved_state(tree, 0.5)
    assert state.fields is None
    assert state.where == "time 0.5 of the tree"
    for number in (0, 1):
        np.testing.assert_array_equal(state.charts[f"charts/{number}"]["u"][:, 0, 0], 10 + C)
    with pytest.raises(BadInput, match=r"time = 0.2: the tree has no state of it; choose one of 0, 0.5"):
        saved_state(tree, 0.2)


@pytest.mark.parametrize("name", ["a.nc", "a.zarr"])
def test_files_have_the_same_states(tmp_path, name):
    records = flow([0.0, 0.5])
    path = tmp_path / name
    records.to_netcdf(path, engine="h5netcdf") if name == "a.nc" else records.to_zarr(path, consolidated=False)
    state = saved_state(path, 0.5)
    np.testing.assert_array_equal(state.fields["w"], records["w"][1])
    with pytest.raises(BadInput, match=rf"{path} has no state of it; choose one of 0, 0.5"):
        saved_state(path, 0.25)
