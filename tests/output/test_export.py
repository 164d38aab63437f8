"""Exported files as others read them: VTK's own reader, and xarray."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output import dataset, export_netcdf, export_vtk
from tests.output.conftest import layout_of
from tests.runs.going_on import go
from tests.runs.test_restart import stirred


def read(path: Path) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """The arrays [z, y, x, component] of a .vtr file, and the places of cells, by VTK."""
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkXMLRectilinearGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetErrorCode() == 0
    grid = reader.GetOutput()
    shape = [n - 1 for n in grid.GetDimensions()][::-1]
    data = grid.GetCellData()
    arrays = {data.GetArrayName(n): vtk_to_numpy(data.GetArray(n)).copy() for n in range(data.GetNumberOfArrays())}
    places = [vtk_to_numpy(item).copy() for item in
              (grid.GetXCoordinates(), grid.GetYCoordinates(), grid.GetZCoordinates())]  # fmt: skip
    return {name: values.reshape(*shape, -1) for name, values in arrays.items()}, places


@pytest.mark.fast("periodic1")
@pytest.mark.parametrize("periodic", [(False,) * 3, (True, False, True), (False, True, False)])
def test_vtk_reads_what_was_written(written, periodic, tmp_path, monkeypatch):
    """Velocities in centres as a vector; slabs of one layer are no different."""
    ds = dataset(written(layout_of(periodic=periodic, fields=("u", "v", "w", "p", "T"))))
    export_vtk(ds, tmp_path / "whole", "fields")
    monkeypatch.setattr("taskflow.output.export.vtk.SLAB", 500)
    collection = ElementTree.parse(export_vtk(ds, tmp_path / "vtk", "fields")).getroot()
    listed = collection.findall("Collection/DataSet")
    assert [float(item.attrib["timestep"]) for item in listed] == ds.time.values.tolist()
    velocity = ds.flow.velocity().load()
    for n, item in enumerate(listed):
        file = item.attrib["file"]
        assert (tmp_path / "vtk" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
        arrays, places = read(tmp_path / "vtk" / file)
        assert set(arrays) == {"velocity", "p", "T"}
        for component, name in enumerate("uvw"):
            np.testing.assert_array_equal(arrays["velocity"][..., component], velocity[name][n])
        np.testing.assert_array_equal(arrays["p"][..., 0], ds.p[n])
        for axis, result, (low, length) in zip("xyz", places, ((0.0, 2.0), (-1.0, 1.5), (0.5, 1.0)), strict=True):
            np.testing.assert_allclose(result, low + length * np.linspace(0, 1, ds.sizes[f"{axis}_c"] + 1), rtol=1e-14)


def test_vtk_reads_particles_as_points(tmp_path):
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    number, time = np.arange(3.0), [0.0, 0.5]
    x = xr.DataArray([[0.1, 0.2, np.nan], [0.3, 0.4, 0.5]], dims=("time", "particle"))
    sampled = {name: 10 * x + n for n, name in enumerate("uvwT")}
    places = {"time": time, "particle": number, "x": x, "y": 2 * x, "z": 3 * x}
    ds = xr.Dataset(sampled, places, {"featureType": "trajectory"})
    listed = ElementTree.parse(export_vtk(ds, tmp_path, "dye")).getroot().findall("Collection/DataSet")
    assert [float(item.attrib["timestep"]) for item in listed] == time
    for n, item in enumerate(listed):
        reader = vtk.vtkXMLPolyDataReader()
        reader.SetFileName(str(tmp_path / item.attrib["file"]))
        reader.Update()
        points, present = reader.GetOutput(), np.isfinite(x.values[n])
        data = points.GetPointData()
        assert points.GetNumberOfVerts() == present.sum()
        result = vtk_to_numpy(points.GetPoints().GetData())
        np.testing.assert_allclose(result, np.outer(x.values[n][present], (1, 2, 3)), rtol=1e-15)
        np.testing.assert_array_equal(vtk_to_numpy(data.GetArray("particle")), number[present])
        np.testing.assert_array_equal(vtk_to_numpy(data.GetArray("T")), sampled["T"].values[n][present])
        assert vtk_to_numpy(data.GetArray("velocity")).shape == (present.sum(), 3)


def test_groups_of_a_run(tmp_path):
    """Statistics and planes are fields on cells; values at points are not."""
    tables = {
        "statistics": {"fields": ["T"], "every": {"steps": 2}}, "planes": [{"name": "cut", "y": 0.3, "every": 0.1}],
        "probes": [{"name": "here", "points": [[0.5, 0.5, 0.5]]}],
    }  # fmt: skip
    go(stirred(**tables), tmp_path / "run")
    store = tmp_path / "run" / "fields.zarr"
    for group, name in (("statistics", "cov_T_T"), ("cut", "T")):
        ds = dataset(store, group)
        path = export_vtk(ds, tmp_path / "vtk", group)
        arrays, places = read(path.with_name(f"{group}_000000.vtr"))
        np.testing.assert_array_equal(arrays[name][..., 0], ds[name][0])
        assert [len(item) - 1 for item in places] == [ds.sizes[f"{axis}_c"] for axis in "xyz"]
    with pytest.raises(BadInput, match="are not on cells"):
        export_vtk(dataset(store, "here"), tmp_path / "vtk", "here")


def test_netcdf_has_all_of_the_store(written, tmp_path):
    pytest.importorskip("h5py")
    ds = dataset(written(layout_of(periodic=(False, True, False))))
    with xr.open_dataset(export_netcdf(ds, tmp_path / "new" / "fields.nc"), engine="h5netcdf") as result:
        xr.testing.assert_identical(result.load(), ds.load())
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["fields.nc"]


def test_a_failed_export_leaves_no_file(written, tmp_path, monkeypatch):
    ds = dataset(written(layout_of()))
    monkeypatch.setattr("taskflow.output.export.export._layers", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export_vtk(ds, tmp_path / "vtk", "fields")
    assert not list((tmp_path / "vtk").iterdir())
