"""Boundary conditions and the fluid as attributes: what is written is read, also of other blocks and from NetCDF."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from taskflow.output import create, dataset, export_netcdf, reshard
from taskflow.output.store.conditions import OPEN, SIDES, BoundarySide, Conditions
from tests.output.conftest import WRITTEN, layout_of, write_snapshot

HOT = BoundarySide(type="wall", velocity=(0.5, 0.0, 0.0), temperature=1.5)
AT_REST = (0.0, 0.0, 0.0)
COOLED = BoundarySide(type="wall", velocity=AT_REST, heat_transfer=0.1, outside_temperature=-2.0, roughness=0.01)
ENDS = [BoundarySide(type=name, permeable=name in OPEN) for name in ("inflow", "outflow", "slip", "slip")]
CONDITIONS = Conditions(
    sides=dict(zip(SIDES, [*ENDS, HOT, COOLED], strict=True)), cells=(8, 6, 10),
    viscosity=0.01, diffusivities={"T": 0.02, "dye": 0.0}, thermal_expansion=2.0, gravity=(0.0, 0.0, -9.81),
)  # fmt: skip


def test_attributes_say_all(tmp_path):
    create(tmp_path / "s", layout_of(), {**WRITTEN, **CONDITIONS.attributes()})
    attributes = dataset(tmp_path / "s").attrs
    assert Conditions.of(attributes) == CONDITIONS
    assert attributes["boundary_z_min_velocity"] == [0.5, 0.0, 0.0]
    assert (attributes["boundary_x_min"], attributes["boundary_z_max_roughness"]) == ("inflow", 0.01)
    assert "boundary_x_min_velocity" not in attributes
    assert (attributes["cells"], attributes["diffusivity_dye"]) == ([8, 6, 10], 0.0)


def test_what_changes_in_time_is_no_number(tmp_path):
    """Neither in the store nor in NetCDF, which has no null."""
    moving = replace(HOT, velocity=(np.nan, 0.5, 0.0), temperature=np.nan)
    conditions = replace(CONDITIONS, sides={**CONDITIONS.sides, "z_min": moving})
    create(tmp_path / "s", layout_of(), {**WRITTEN, **conditions.attributes()}).commit(0, 0.0)
    write_snapshot(tmp_path / "s", layout_of(), 0)
    stored = dataset(tmp_path / "s")
    exported = xr.open_dataset(export_netcdf(stored, tmp_path / "s.nc"))
    for attributes in (stored.attrs, exported.attrs):
        side = Conditions.of(attributes).sides["z_min"]
        np.testing.assert_array_equal((*side.velocity, side.temperature), (np.nan, 0.5, 0.0, np.nan))
    exported.close()


def test_a_store_without_them_says_nothing():
    assert Conditions.of(WRITTEN) is None


def test_other_blocks_and_other_formats_keep_them(tmp_path):
    pytest.importorskip("h5py")
    one, two = layout_of(), layout_of(blocks=(1, 1, 2))
    create(tmp_path / "s", one, {**WRITTEN, **CONDITIONS.attributes()}).commit(0, 0.0)
    write_snapshot(tmp_path / "s", one, 0)
    before = dataset(tmp_path / "s").attrs
    reshard(tmp_path / "s", [two])
    ds = dataset(tmp_path / "s")
    assert ds.attrs == before
    with xr.open_dataset(export_netcdf(ds, tmp_path / "s.nc"), engine="h5netcdf") as exported:
        assert Conditions.of(exported.attrs) == CONDITIONS
        np.testing.assert_array_equal(exported.attrs["gravity"], CONDITIONS.gravity)
