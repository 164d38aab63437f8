"""The interface as a mesh: closed, with the topology, the area and the volume of the shape."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.analysis.interface import export_interfaces, interface
from taskflow.common.errors import BadInput
from tests.analysis.conftest import LENGTHS, ORIGIN, PERIODIC, stored

MIDDLE = [start + length / 2 for start, length in zip(ORIGIN, LENGTHS, strict=True)]


def ball(radius=0.3):
    return lambda x, y, z: radius - np.sqrt(sum((q - m) ** 2 for q, m in zip((x, y, z), MIDDLE, strict=True)))


def torus(ring=0.3, tube=0.12):
    def distance(x, y, z):
        a, b, c = (q - m for q, m in zip((x, y, z), MIDDLE, strict=True))
        return tube - np.sqrt((np.sqrt(a**2 + b**2) - ring) ** 2 + c**2)

    return distance


@pytest.mark.parametrize(("shape", "euler"), [(ball(), 2), (torus(), 0)])
def test_a_closed_interface_has_no_boundary(tmp_path, shape, euler):
    ds = stored(tmp_path, cells=(34, 29, 40), f=shape)
    surface = interface(ds, "f", 0.0)
    assert (surface.boundary_edges, surface.euler_characteristic) == (0, euler)
    assert surface.volume > 0  # normals point to where f is smaller


def test_area_and_volume_of_a_ball(tmp_path):
    errors = []
    for n in (1, 2):
        ds = stored(tmp_path / str(n), cells=(24 * n, 16 * n, 34 * n), f=ball())
        surface = interface(ds, "f", 0.0)
        errors.append((surface.area / (4 * np.pi * 0.3**2) - 1, surface.volume / (4 / 3 * np.pi * 0.3**3) - 1))
    (area, volume), (finer_area, finer_volume) = errors
    assert abs(finer_area) < 0.004
    assert abs(finer_volume) < 0.01
    assert abs(area / finer_area) > 3
    assert abs(volume / finer_volume) > 3


def test_quantities_at_the_vertices(tmp_path):
    ds = stored(tmp_path, cells=(12, 10, 14), f=ball(), p=lambda x, y, z: x + 2 * y - z, u=lambda x, y, z: z,
                v=lambda x, y, z: 0 * x, w=lambda x, y, z: x)  # fmt: skip
    surface = interface(ds, "f", 0.0, ("p", "u", "w"))
    x, y, z = surface.vertices.T
    np.testing.assert_allclose(surface.values["p"], x + 2 * y - z, atol=1e-12)
    np.testing.assert_allclose(surface.values["u"], z, atol=1e-12)


def test_it_ends_on_boundaries(tmp_path):
    ds = stored(tmp_path, cells=(6, 5, 8), f=lambda x, y, z: MIDDLE[2] + 0.01 - z)
    surface = interface(ds, "f", 0.0)
    assert surface.area == pytest.approx(LENGTHS[0] * LENGTHS[1])
    assert np.ptp(surface.vertices[:, 0]) == pytest.approx(LENGTHS[0])
    ds = stored(tmp_path / "p", PERIODIC, cells=(6, 5, 8), f=lambda x, y, z: MIDDLE[0] + 0.01 - x)
    assert interface(ds, "f", 0.0).area == pytest.approx(2 * LENGTHS[1] * LENGTHS[2])


def test_no_interface_is_an_empty_mesh(tmp_path):
    surface = interface(stored(tmp_path, cells=(6, 5, 8), f=lambda x, y, z: 0 * x), "f", 0.5)
    assert (len(surface.vertices), len(surface.triangles), surface.area) == (0, 0, 0.0)


def test_a_value_that_no_snapshot_has_is_told(tmp_path):
    ds = stored(tmp_path, cells=(6, 5, 8), f=lambda x, y, z: 0 * x)
    with pytest.raises(BadInput, match="f = 5: no snapshot has such a surface, and all meshes are empty; give another"):
        export_interfaces(ds, tmp_path / "vtk", "f", 5.0)


def test_it_is_exported_for_vtk(tmp_path):
    vtk = pytest.importorskip("vtk")
    ds = stored(tmp_path, cells=(12, 10, 14), f=ball(), p=lambda x, y, z: x)
    collection = export_interfaces(ds, tmp_path / "vtk", "f", 0.0)
    assert 'timestep="0.5"' in collection.read_text()
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(tmp_path / "vtk" / "interface_000000.vtp"))
    reader.Update()
    surface, mesh = interface(ds, "f", 0.0), reader.GetOutput()
    assert (mesh.GetNumberOfPoints(), mesh.GetNumberOfPolys()) == (len(surface.vertices), len(surface.triangles))
    assert mesh.GetPointData().GetArray("p").GetValue(0) == pytest.approx(surface.vertices[0, 0])


def test_unknown_fields_are_named(tmp_path):
    ds = stored(tmp_path, cells=(6, 5, 8), p=lambda x, y, z: 0 * x)
    with pytest.raises(BadInput, match="no field 'f' in cell centres; give one of p"):
        interface(ds)
