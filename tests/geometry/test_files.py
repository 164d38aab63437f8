"""Shapes from files: surfaces of triangles against solids known otherwise, height maps in every format."""

import sys
import warnings

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.geometry import ClosedSurface, Cuboid, Sphere, read_heights, read_surface

trimesh = pytest.importorskip("trimesh")
EXTENT = (0.0, 4.0, -1.0, 1.0)


def lattice(n: int) -> np.ndarray:
    """Points from -0.5 to 1.5; for some n among them those on the faces and diagonals of the unit cube."""
    return np.linspace(-0.5, 1.5, n)


def cube(path, low=(0.0, 0.0, 0.0)) -> None:
    mesh = trimesh.creation.box(bounds=[low, np.add(low, 1.0)])
    mesh.export(path)


@pytest.mark.parametrize("suffix", [".stl", ".obj"])
@pytest.mark.parametrize("n", [8, 9, 17, 30])
def test_a_cube_of_triangles_is_a_box(tmp_path, suffix, n):
    """On its faces, edges and the diagonals of its faces, too: the same points are inside."""
    path = tmp_path / f"cube{suffix}"
    cube(path)
    x, y, z = lattice(n), lattice(n + 1), lattice(n + 2)
    result = read_surface(path, 1.0, (0.0, 0.0, 0.0)).inside(x, y, z)
    np.testing.assert_array_equal(result, Cuboid((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)).inside(x, y, z))


def test_corners_beyond_all_numbers_are_told_of(tmp_path):
    """Whatever a library computes of them before: a warning of NumPy would be an error here."""
    path = tmp_path / "far.obj"
    path.write_text("v 1e308 1e308 1e308\n" * 3 + "f 1 2 3")
    with pytest.raises(BadInput, match=r"far\.obj: triangle 1 has a corner that is infinite or far away"):
        read_surface(path, 1.0, (0.0, 0.0, 0.0))


def test_scale_and_shift(tmp_path):
    cube(tmp_path / "cube.stl")
    surface = read_surface(tmp_path / "cube.stl", 0.5, (0.25, 0.0, -0.25))
    assert surface.bounds == ((0.25, 0.0, -0.25), (0.75, 0.5, 0.25))


def test_random_points_in_a_turned_body():
    """A torus that lies anyhow: inside is what a formula says, but for points nearer than its facets are flat."""
    mesh = trimesh.creation.torus(1.0, 0.4, major_sections=128, minor_sections=64)
    turn = trimesh.transformations.rotation_matrix(0.7, [1.0, 2.0, 0.5])
    surface = ClosedSurface(np.array(mesh.copy().apply_transform(turn).triangles))
    at = np.linspace(-1.5, 1.5, 41) + 0.001
    points = np.stack(np.meshgrid(at, at, at, indexing="ij"), axis=-1) @ turn[:3, :3]
    distance = np.hypot(np.hypot(points[..., 0], points[..., 1]) - 1.0, points[..., 2]) - 0.4
    result = surface.inside(at, at, at).transpose(2, 1, 0)
    sure = np.abs(distance) > 2e-3
    assert sure.mean() > 0.95
    np.testing.assert_array_equal(result[sure], distance[sure] < 0)


@pytest.mark.parametrize(("axis", "step"), [(0, 0.1), (1, -0.1), (2, 0.1)])
def test_where_a_way_enters_a_surface(axis, step):
    """A ball of facets and one of a formula, from points outside of which the next ones lie inside."""
    radius, facets = 0.3, ClosedSurface(np.array(trimesh.creation.icosphere(subdivisions=4, radius=0.3).triangles))
    at = np.arange(-0.47, 0.5, 0.1)
    points = np.stack(np.meshgrid(at, at, at, indexing="ij"), axis=-1).reshape(-1, 3)
    ends = points + step * np.eye(3)[axis]
    outside, ends_inside = (np.linalg.norm(points, axis=1) > radius), np.linalg.norm(ends, axis=1) < radius
    chosen = points[outside & ends_inside]
    assert len(chosen) > 20
    result, expected = (shape.entry(chosen, axis, step) for shape in (facets, Sphere((0, 0, 0), radius)))
    np.testing.assert_allclose(result, expected, rtol=0, atol=0.05)
    off = [chosen[:, n] for n in range(3) if n != axis]
    distance = np.abs(chosen[:, axis]) - np.sqrt(radius**2 - off[0] ** 2 - off[1] ** 2)
    np.testing.assert_allclose(expected, distance / 0.1, rtol=0, atol=1e-12)
    assert (Sphere((0, 0, 0), radius).entry(points[outside & ~ends_inside], axis, step) == 1).all()
    assert (Sphere((0, 0, 0), radius).entry(points[~outside & ends_inside], axis, step) == 0).all()


def test_bodies_that_overlap_are_one(tmp_path):
    """As cities have them: each house closed, walls within walls; facing inwards or outwards."""
    houses, at = [((0, 0, 0), (1, 1, 1)), ((0.5, 0.5, 0), (1.4, 1.2, 0.7))], lattice(31)
    triangles = np.concatenate([np.array(trimesh.creation.box(bounds=house).triangles) for house in houses])
    expected = np.any([Cuboid(*house).inside(at, at, at) for house in houses], axis=0)
    np.testing.assert_array_equal(ClosedSurface(triangles).inside(at, at, at), expected)
    np.testing.assert_array_equal(ClosedSurface(triangles[:, ::-1]).inside(at, at, at), expected)


def test_a_surface_with_a_hole_is_refused_with_its_place(tmp_path):
    mesh = trimesh.creation.box(bounds=[[0, 0, 0], [1, 1, 1]])
    trimesh.Trimesh(mesh.vertices, mesh.faces[:-1]).export(tmp_path / "open.stl")
    with pytest.raises(BadInput, match=r"open.stl: the surface is not closed: 3 edges .* first at \(.*\); repair it"):
        read_surface(tmp_path / "open.stl", 1.0, (0.0, 0.0, 0.0))


def test_a_broken_file_is_refused(tmp_path):
    (tmp_path / "no.stl").write_text("solid nothing\nendsolid nothing\n")
    with pytest.raises(BadInput, match=r"no\.stl: "):
        read_surface(tmp_path / "no.stl", 1.0, (0.0, 0.0, 0.0))


def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch):
    cube(tmp_path / "cube.stl")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(BadInput, match=r'the surface cube.stl needs trimesh.*pip install "taskflow-cfd\[geometry\]"'):
        read_surface(tmp_path / "cube.stl", 1.0, (0.0, 0.0, 0.0))


# ------------------------------------------------------------------------------------------------------- height maps


def plane(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 0.3 + 0.1 * x + 0.2 * y[:, None]


@pytest.fixture(params=[".npy", ".nc", ".tif"])
def hill(request, tmp_path):
    """The heights of an inclined plane in a file."""
    x, y, path = 0.25 + 0.5 * np.arange(8), -0.9 + 0.2 * np.arange(10), tmp_path / f"hill{request.param}"
    if request.param == ".npy":
        np.save(path, plane(x, y))
    elif request.param == ".nc":
        xarray = pytest.importorskip("xarray")
        array = xarray.DataArray(plane(x, y).T[:, ::-1], dims=("x", "y"), coords={"x": x, "y": y[::-1]}, name="height")
        array.to_netcdf(path, engine="scipy")
    else:
        rasterio = pytest.importorskip("rasterio")
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # of what rasterio does itself
        transform = rasterio.transform.from_origin(0.0, 1.0, 0.5, 0.2)
        size = {"height": 10, "width": 8, "count": 1, "dtype": "float64"}
        with rasterio.open(path, "w", driver="GTiff", transform=transform, **size) as file:
            file.write(plane(x, y)[::-1], 1)
    return path


def test_heights_of_all_formats(hill):
    """Between the points of a map bilinear, so that a plane is met exactly."""
    result = read_heights(hill, EXTENT, None, nearest=False)
    x, y, z = np.linspace(0.3, 3.7, 23), np.linspace(-0.85, 0.85, 19), np.linspace(0.0, 1.0, 50)
    np.testing.assert_array_equal(result.inside(x, y, z), z[:, None, None] < plane(x, y) + 0 * x)
    (x0, y0, _), (x1, y1, top) = result.bounds
    assert (x0, x1, y0, y1) == pytest.approx(EXTENT)
    assert top == pytest.approx(plane(np.array([3.75]), np.array([0.9]))[0, 0])
    assert not result.inside(np.array([-0.01, 4.01]), y, np.array([-9.0])).any(), "there is no ground beyond the map"


def test_nearest_heights_are_steps(tmp_path):
    np.save(tmp_path / "city.npy", np.array([[0.0, 1.0], [2.0, 0.0]]))
    city = read_heights(tmp_path / "city.npy", (0.0, 2.0, 0.0, 2.0), None, nearest=True)
    x = np.array([0.1, 0.9, 1.1, 1.9])
    result = city.inside(x, x, np.array([0.5])).astype(int)[0].tolist()
    assert result == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]


@pytest.mark.parametrize(("values", "message"), [
    (np.zeros(3), r"an array \[3\] of float64; give numbers \[y, x\]"),
    (np.array([[1.0, np.nan]]), "there is no height at x = 3, y = 0; fill missing heights first"),
])  # fmt: skip
def test_bad_height_maps_are_refused(tmp_path, values, message):
    np.save(tmp_path / "bad.npy", values)
    with pytest.raises(BadInput, match=message):
        read_heights(tmp_path / "bad.npy", EXTENT, None, nearest=False)


@pytest.mark.parametrize(("name", "content", "said"), [
    ("a.npy", b"PK\x03\x04 an archive", "cannot be read"), ("b.npy", b"", "cannot be read"),
    ("c.npy", b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}"
     .ljust(117) + b"\n", "0 of the 8000000000000 bytes"),
    ("d.nc", b"CDF\x01" + b"\xff" * 99, "cannot be read"), ("e.nc", b"\x89HDF\r\n\x1a\n" + b"\x00" * 99,
    "cannot be read"),
    ("f.tif", b"II*\x00" + b"\xff" * 99, "cannot be read"), ("g.tif", b"<VRTDataset/>", "cannot be read"),
])  # fmt: skip
def test_damaged_height_maps_are_bad_input(tmp_path, name, content, said):
    if name.endswith(".tif"):
        pytest.importorskip("rasterio")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=f"{name}: .*{said}"):
        read_heights(tmp_path / name, EXTENT, None, False)


@pytest.mark.parametrize(("name", "content"), [
    ("a.stl", b"\x00" * 80 + b"\xff\xff\xff\xff"), ("b.stl", b"solid a\nfacet normal x"), ("c.stl", b""),
    ("d.obj", b"v 1 2\nf 1 2 9\n"), ("e.obj", b"\xff\xfe\x00"), ("f.stl", b"\x00" * 80 + b"\x01\x00\x00\x00"),
])  # fmt: skip
def test_damaged_surfaces_are_bad_input(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=f"{name}: "):
        read_surface(tmp_path / name, 1.0, (0.0, 0.0, 0.0))


@pytest.mark.parametrize(("units", "told"), [
    ({}, ""), ({"x": "m", "y": "metres", "h": "m"}, ""), ({"x": "km", "y": "km"}, ""),
    ({"x": "km", "y": "km", "h": "m"}, "x in km, y in km, heights in m: the numbers are used unchanged; write all"),
    ({"x": "degrees_east", "y": "degrees_north", "h": "m"}, "x in degrees_east, y in degrees_north, heights in m: the"),
])  # fmt: skip
def test_units_of_height_maps(tmp_path, units, told):
    xr = pytest.importorskip("xarray")
    x, y = [0.5, 1.5], [0.0, 1.0]
    data = xr.Dataset({"h": (("y", "x"), np.ones((2, 2)))}, {"x": x, "y": y})
    for name, unit in units.items():
        data[name].attrs["units"] = unit
    data.to_netcdf(tmp_path / "hill.nc", engine="scipy")
    unlike = read_heights(tmp_path / "hill.nc", EXTENT, None, False).unlike
    assert unlike.startswith(told)
    assert bool(unlike) == bool(told)
