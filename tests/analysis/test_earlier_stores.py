"""Stores without attributes of boundaries are answered alike, from the text of their case."""

import pytest
import xarray as xr

from taskflow.analysis.conditions import conditions, conditions_of_case, known_conditions
from taskflow.common.errors import BadInput
from taskflow.output import dataset


def earlier(ds: xr.Dataset) -> xr.Dataset:
    """A dataset with the attributes that earlier builds wrote."""
    known = ("Conventions", "title", "case", "history", "source")
    return ds.drop_attrs(deep=False).assign_attrs({name: ds.attrs[name] for name in known if name in ds.attrs})


@pytest.mark.slow
def test_answers_are_alike(warm):
    ds = dataset(warm / "fields.zarr")
    assert "boundary_z_min" in ds.attrs
    assert "boundary_z_min" not in earlier(ds).attrs
    assert conditions(earlier(ds)) == conditions(ds)
    for name in ("z_min", "z_max"):
        xr.testing.assert_equal(earlier(ds).flow.nusselt(name), ds.flow.nusselt(name))
        xr.testing.assert_equal(earlier(ds).flow.wall_shear(name), ds.flow.wall_shear(name))


@pytest.mark.parametrize("group", ["statistics", "layer", "here"])
def test_every_group_says_the_same(group, warm):
    assert conditions(dataset(warm / "fields.zarr", group)) == conditions(dataset(warm / "fields.zarr"))


def test_a_type_alone_is_a_side():
    sides = conditions_of_case(
        '[boundaries]\nx = "periodic"\ny_min = "wall"\ny_max = "symmetry"\nz_max = "outflow"\n'
        'z_min = {type = "inflow", velocity = [1, 0, 0]}\n'
    ).sides
    assert [side.type for side in sides.values()] == ["periodic", "periodic", "wall", "slip", "inflow", "outflow"]
    assert [side.velocity for side in sides.values()] == [None, None, (0.0, 0.0, 0.0), None, None, None]


def test_a_dataset_that_says_nothing_is_refused():
    ds = xr.Dataset(attrs={"title": "of somebody else"})
    assert known_conditions(ds) is None
    assert known_conditions(ds.assign_attrs(case="[grid]\ncells = [4, 4, 4]\n")) is None
    with pytest.raises(BadInput, match="give the snapshots of a run"):
        conditions(ds)
