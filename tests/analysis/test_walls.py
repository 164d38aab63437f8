"""Shear and heat at walls: as the equations and the log have them."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.analysis.conditions import conditions
from taskflow.common.errors import BadInput
from taskflow.output import dataset, read_log
from tests.analysis.conftest import CELLS, linear, stored


def test_walls_have_no_shear_where_bodies_stand_on_them(tmp_path):
    solid = np.zeros(CELLS[::-1])
    solid[:2, :, 3] = 1
    case = '[fluid]\nviscosity = 0.1\n[heat]\n[boundaries.z_min]\ntype = "wall"\ntemperature = 1.0\n'
    case += '[boundaries.z_max]\ntype = "wall"\ntemperature = 0.0\n'
    ds = stored(tmp_path, case=case, solid=solid, T=lambda x, y, z: 1 - z / 2.1, **linear(np.eye(3)[[2, 0, 1]]))
    for result in (ds.flow.wall_shear("z_min").shear_x, ds.flow.nusselt("z_min")):
        np.testing.assert_array_equal(result.isnull()[0], solid[0] == 1)
    np.testing.assert_allclose(ds.flow.wall_shear("z_min").shear_x[0].to_numpy()[solid[0] == 0], 0.1)
    np.testing.assert_allclose(ds.flow.nusselt("z_min")[0].to_numpy()[solid[0] == 0], 1.0)
    assert ds.flow.nusselt("z_max").notnull().all()


@pytest.mark.parametrize("face", ["z_min", "z_max"])
def test_nusselt_numbers_are_those_of_the_log(face, warm):
    result = dataset(warm / "fields.zarr").flow.nusselt(face)
    assert result.dims == ("time", "y_c", "x_c")
    log = read_log(warm / "log.jsonl")[-1]
    assert float(result[-1].mean()) == pytest.approx(log[f"nusselt_{face}"], rel=1e-12)


def test_shear_is_that_of_the_equations(warm):
    ds = dataset(warm / "fields.zarr")
    shear = ds.flow.wall_shear("z_max")
    inside = (ds.u[-1, -1] + ds.u[-1, -1].roll(x_f=-1)) / 2
    np.testing.assert_allclose(shear.shear_x[-1], 0.01 * (inside - 0.4) / (1.3 - ds.z_c[-1]), rtol=1e-12)
    assert set(shear.data_vars) == {"shear_x", "shear_y"}


def test_a_layer_has_the_numbers_of_the_wall_beside_it_alone(warm):
    """It was taken for the cells at both walls, and its thickness for the extent of the domain."""
    ds = dataset(warm / "fields.zarr")
    layer = ds.isel(z_c=[0], z_f=[0])
    np.testing.assert_array_equal(layer.flow.wall_shear("z_min").shear_x, ds.flow.wall_shear("z_min").shear_x)
    np.testing.assert_allclose(layer.flow.nusselt("z_min"), ds.flow.nusselt("z_min"), rtol=1e-12)
    for number in (layer.flow.wall_shear, layer.flow.nusselt):
        with pytest.raises(BadInput, match="does not reach this wall"):
            number("z_max")


def test_nusselt_numbers_beside_a_wall_whose_temperature_changes_are_not_known(warm):
    """They referred to the other walls, where the one that changes came behind these."""
    ds = dataset(warm / "fields.zarr")
    for face in ("z_min", "z_max"):
        changing = ds.assign_attrs({f"boundary_{face}_temperature": np.nan})
        assert changing.flow.nusselt("z_min").isnull().all()


def test_stores_of_two_phases_have_no_viscosity_in_common(warm):
    """Their grid, and what else depends on the sides alone, is there."""
    ds = dataset(warm / "fields.zarr")
    both = ds.assign_attrs(viscosity_1=0.1, viscosity_2=0.2)
    del both.attrs["viscosity"]
    assert conditions(both).sides == conditions(ds).sides
    np.testing.assert_array_equal(both.flow.nusselt("z_min"), ds.flow.nusselt("z_min"))
    with pytest.raises(BadInput, match=r"^face = 'z_min': the dataset has no viscosity, or two viscosities; mul"):
        both.flow.wall_shear("z_min")
