"""CGNS files: what the standard says of them, what others make of ours and we of theirs, and what cannot be read."""

import shutil
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.geometry.grids import BadGrid, read_grid, shape, write_grid
from taskflow.geometry.grids.files.cgns.nodes import add_node
from taskflow.geometry.grids.multiblock.assembly import Part, assembled
from taskflow.runtime.regions import ROTATIONS
from tests.geometry.grids.test_shapes import SMALL

KEYS = {"cells": (8, 6, 5), "lengths": (1, 2, 3), "charts": (2, 1, 1), "distortion": 0.1}
ZONE, BC = "Base/chart_1", "Base/chart_1/ZoneBC/patch_1"
SEAM = "Base/chart_1/ZoneGridConnectivity/seam_1"


@pytest.fixture
def path(tmp_path):
    """A file of two charts."""
    write_grid(tmp_path / "box.cgns", shape("box", KEYS).grid())
    return tmp_path / "box.cgns"


def put(file, place, values):
    """Give a node other values."""
    del file[place][" data"]
    values = np.frombuffer(values.encode(), np.int8) if isinstance(values, str) else np.asarray(values, "<i4")
    file[place].create_dataset(" data", data=values)


@pytest.mark.fast("turn0", "turn5", "turn10", "turn18", "turn23")
@pytest.mark.parametrize("turn", ROTATIONS)
def test_transforms_are_those_of_the_standard(tmp_path, turn):
    """Index2 = T (Index1 - Begin1) + Begin2, with sign times unit vector of Transform[a] as column a of T."""
    first, second = (Part(chart.vertices, {}) for chart in shape("box", KEYS).grid().charts)
    grid = assembled([first, second.turned(turn)])
    write_grid(tmp_path / "box.cgns", grid)
    with h5py.File(tmp_path / "box.cgns") as file:
        seam = file[SEAM]
        begin, end = seam["PointRange/ data"][...]
        donor_begin, donor_end = seam["PointRangeDonor/ data"][...]
        matrix = np.zeros((3, 3), int)
        for a, axis in enumerate(seam["Transform/ data"][...]):
            matrix[abs(axis) - 1, a] = np.sign(axis)
        np.testing.assert_array_equal(matrix @ (end - begin) + donor_begin, donor_end)
        assert np.linalg.det(matrix) == 1
        zones = [
            np.stack([file[f"Base/chart_{n}/GridCoordinates/Coordinate{x}/ data"] for x in "XYZ"]) for n in (1, 2)
        ]
        for offset in np.ndindex(*(end - begin + 1)):
            i, j, k = begin - 1 + offset
            p, q, r = matrix @ offset + donor_begin - 1
            np.testing.assert_array_equal(zones[0][:, k, j, i], zones[1][:, r, q, p])
    assert read_grid(tmp_path / "box.cgns").seams == grid.seams


def units(parent, length, kind=None):
    """Give a node a unit of length, or a class of its data."""
    words = "".join(word.ljust(32) for word in ("Kilogram", length, "Second", "Kelvin", "Radian"))
    add_node(parent, "DimensionalUnits", "DimensionalUnits_t", np.frombuffer(words.encode(), np.int8).reshape(5, 32))
    if kind:
        add_node(parent, "DataClass", "DataClass_t", kind)


@pytest.mark.parametrize(("length", "kind", "told"), [
    ("Millimeter", None, "the file is in millimetre, and its numbers are used unchanged; grid.scale = 0.001 makes"),
    ("Foot", "Dimensional", "the file is in foot, and its numbers are used unchanged; grid.scale = 0.3048 makes"),
    ("Meter", None, ""), ("Null", None, ""), ("Millimeter", "NormalizedByUnknownDimensional", ""),
    ("Furlong", None, "the file is in Furlong, and its numbers are used unchanged; grid.scale makes them metres"),
])  # fmt: skip
def test_units_of_length(path, tmp_path, length, kind, told):
    with h5py.File(path, "r+") as file:
        units(file["Base"], length, kind)
    grid = read_grid(path)
    assert grid.units.startswith(told)
    assert bool(grid.units) == bool(told)
    write_grid(tmp_path / "again.cgns", grid)
    assert read_grid(tmp_path / "again.cgns").units == grid.units
    assert read_grid(path, None, 0.001).units == ""


def test_units_that_differ_are_refused(path):
    with h5py.File(path, "r+") as file:
        units(file["Base"], "Meter")
        units(file["Base/chart_2/GridCoordinates"], "Foot")
    with pytest.raises(BadInput, match=r"different units: Foot in .*chart_2.*, Meter in .*chart_1.*; write all"):
        read_grid(path)
    with h5py.File(path, "r+") as file:
        units(file["Base/chart_2/GridCoordinates/CoordinateX"], "Meter")
        del file["Base/chart_2/GridCoordinates/DimensionalUnits"]
    assert read_grid(path).unit == "Meter"


def test_numbers_to_be_converted_are_refused(path):
    with h5py.File(path, "r+") as file:
        array = file["Base/chart_1/GridCoordinates/CoordinateX"]
        add_node(array, "DataConversion", "DataConversion_t", np.array([2.0, 0.0]))
    with pytest.raises(BadInput, match=r"CoordinateX: numbers that are to be converted .* not available"):
        read_grid(path)


def test_a_zero_in_a_transform_is_completed(path):
    grid = read_grid(path)
    with h5py.File(path, "r+") as file:
        for n in (1, 2):
            put(file, f"Base/chart_{n}/ZoneGridConnectivity/seam_1/Transform", [0, 2, 3])
    assert read_grid(path).seams == grid.seams


def test_a_seam_may_be_listed_once_and_run_backwards(path):
    grid = read_grid(path)
    with h5py.File(path, "r+") as file:
        del file["Base/chart_2/ZoneGridConnectivity"]
        del file[SEAM]["Transform"]  # 1, 2, 3
        for name in ("PointRange", "PointRangeDonor"):
            put(file, f"{SEAM}/{name}", file[SEAM][name][" data"][...][::-1])
    assert read_grid(path).seams == grid.seams


def test_single_precision_and_another_unit(path):
    grid = read_grid(path)
    with h5py.File(path, "r+") as file:
        for n in (1, 2):
            for x in "XYZ":
                node = file[f"Base/chart_{n}/GridCoordinates/Coordinate{x}"]
                values = node[" data"][...].astype("f4")
                del node[" data"]
                node.create_dataset(" data", data=values)
    again = read_grid(path, scale=2.0)
    expected = grid.charts[1].vertices.astype("f4").astype("f8") * 2
    np.testing.assert_array_equal(again.charts[1].vertices, expected)
    assert again.seams == grid.seams


def test_without_connectivity_seams_are_found(path):
    grid = read_grid(path)
    with h5py.File(path, "r+") as file:
        for n in (1, 2):
            del file[f"Base/chart_{n}/ZoneGridConnectivity"]
    again = read_grid(path)
    assert (again.seams, again.sides) == (grid.seams, grid.sides)
    with h5py.File(path, "r+") as file:
        for n in (1, 2):
            del file[f"Base/chart_{n}/ZoneBC"]
    bare = read_grid(path)
    assert bare.seams == grid.seams
    assert "i_min_1" in bare.sides


@pytest.mark.parametrize(("place", "axis"), [("IFaceCenter", 0), ("JFaceCenter", 1), ("KFaceCenter", 2)])
def test_ranges_of_faces(path, place, axis):
    grid = read_grid(path)
    with h5py.File(path, "r+") as file:
        for node in file["Base/chart_1/ZoneBC"].values():
            begin, end = node["PointRange/ data"][...]
            if begin[axis] == end[axis]:
                put(file, f"{node.name}/PointRange", [begin, [n - (a != axis) for a, n in enumerate(end)]])
                add_node(node, "GridLocation", "GridLocation_t", place)
    assert read_grid(path).sides == grid.sides


def test_boundary_conditions_without_a_family_name_sides_themselves(path):
    with h5py.File(path, "r+") as file:
        del file[BC]["FamilyName"]
        put(file, BC, "BCWall")
    assert list(read_grid(path).sides)[-1] == "patch_1"


def test_a_file_of_gmsh():
    """Three transfinite bricks in an L, with the physical surfaces floor and walls, written by Gmsh 4.15
    (`Mesh.CgnsExportStructured = 1`): boundary conditions of the type Null lie on seams, too, and donors have other
    names than zones.
    """
    grid = read_grid(Path(__file__).with_name("gmsh_structured.cgns"))
    assert len(grid.seams) == 2
    assert {name: len(patches) for name, patches in grid.sides.items()} == {"walls": 11, "floor": 3}
    assert all(chart.cells == (5, 6, 4) for chart in grid.charts)


def test_others_read_our_files(tmp_path):
    """VTK, which reads CGNS by itself: points and families."""
    vtk = pytest.importorskip("vtkmodules.vtkIOCGNSReader")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    grid = shape("c-grid", SMALL["c-grid"]).grid()
    write_grid(tmp_path / "wing.cgns", grid)
    reader = vtk.vtkCGNSReader()
    reader.SetFileName(str(tmp_path / "wing.cgns"))
    reader.UpdateInformation()
    assert {reader.GetFamilyArrayName(n) for n in range(reader.GetNumberOfFamilyArrays())} == set(grid.sides)
    reader.Update()
    walk = reader.GetOutput().NewIterator()
    for chart in grid.charts:
        points = vtk_to_numpy(walk.GetCurrentDataObject().GetPoints().GetData())
        np.testing.assert_array_equal(points.T.reshape(chart.vertices.shape), chart.vertices)
        walk.GoToNextItem()
    assert walk.IsDoneWithTraversal()


def rotated(file):
    node = add_node(add_node(file[SEAM], "P", "GridConnectivityProperty_t"), "Periodic", "Periodic_t")
    add_node(node, "RotationAngle", "DataArray_t", np.array([0, 0, 30], "<f4"))


def connected(kind):
    def change(file):
        holder = file["Base/chart_1/ZoneGridConnectivity"]
        add_node(add_node(holder, "patched", "GridConnectivity_t", "chart_2"), "T", "GridConnectivityType_t", kind)

    return change


def linked(file):
    file["Base/other"] = h5py.ExternalLink("/etc/hostname", "/")


def chained(file):
    file["Base/chart_1"].attrs.modify("type", np.bytes_(b"LK"))


def without(place):
    def change(file):
        del file[place]

    return change


def given(place, values):
    return lambda file: put(file, place, values)


def rind(file):
    add_node(file[f"{ZONE}/GridCoordinates"], "Rind", "Rind_t", np.ones(6, "<i4"))


def joined_to_itself(file):
    """Half a turn about the middle of its side: a rotation, but of a face onto itself."""
    put(file, SEAM, "chart_1")
    put(file, f"{SEAM}/PointRangeDonor", [[5, 7, 1], [5, 1, 6]])
    put(file, f"{SEAM}/Transform", [-1, -2, 3])


def far_away(number):
    def change(file):
        file[f"{ZONE}/GridCoordinates/CoordinateY/ data"][1, 2, 3] = number

    return change


BAD = [
    (joined_to_itself, "seam_1: joins faces to themselves; give two ranges without common faces"),
    (given(f"{SEAM}/Transform", [1, 2]), "seam_1: a Transform of other than three numbers; give a signed permutation"),
    (far_away(np.nan), "GridCoordinates: not finite, or larger than"),
    (far_away(1e300), "GridCoordinates: not finite, or larger than"),
    (given(f"{ZONE}/ZoneType", "x" * 1000), "chart_1: a zone that is "),
    (lambda file: file.copy("Base", "Other"), "box.cgns: 2 bases (Base, Other); give a file with one"),
    (without("Base"), "box.cgns: no base; give a file with one"),
    (lambda file: [file.__delitem__(f"Base/chart_{n}") for n in (1, 2)], "box.cgns/Base: no zones; give a CGNS file"),
    (given(f"{ZONE}/ZoneType", "Unstructured"), "chart_1: a zone that is unstructured; give a CGNS file of structured"),
    (given(ZONE, [[5, 7], [4, 6], [0, 0]]), "chart_1: a zone that is not in three dimensions; give one that is one"),
    (given(ZONE, [[5, 7, 6], [4, 6, 4], [0, 0, 0]]), "5 x 7 x 6 vertices and 4 x 6 x 4 cells; give one vertex more"),
    (given(ZONE, [[5, 7, 7], [4, 6, 6], [0, 0, 0]]), "CoordinateX: 5 x 7 x 6 values for 5 x 7 x 7 vertices"),
    (without(f"{ZONE}/GridCoordinates"), "chart_1: no CoordinateX, CoordinateY, CoordinateZ; write the coordinates"),
    (without(f"{ZONE}/GridCoordinates/CoordinateZ"), "no CoordinateZ; it has CoordinateX, CoordinateY; write the"),
    (rind, "GridCoordinates: rind planes are not available in this version; write the vertices of the zone"),
    (connected("Abutting"), "patched: patched seams are not available in this version; join whole faces by"),
    (connected("Overset"), "patched: overset grids are not available in this version"),
    (connected("Abutting1to1"), "patched: lists of points are not available in this version"),
    (rotated, "seam_1: periodic by a rotation, which is not available in this version; make a grid of all of it"),
    (linked, "Base/other: a link, which is not available in this version; write the file without links"),
    (chained, "chart_1: a link, which is not available in this version"),
    (given(SEAM, "chart_3"), "seam_1: the donor zone 'chart_3' is not there; did you mean chart_2?"),
    (given(f"{SEAM}/Transform", [1, 2, 2]), "seam_1: Transform = [1, 2, 2] is no signed permutation; give one of"),
    (given(f"{SEAM}/Transform", [1, 0, 3]), "Transform = [1, 0, 3] is no signed permutation"),
    (given(f"{SEAM}/Transform", [1, 2, -3]), "Transform = [1, 2, -3] joins a right-handed chart to a left-handed one"),
    (given(f"{SEAM}/Transform", [-1, 2, 3]), "Transform = [-1, 2, 3] does not match i_max and i_min; give 1 along i"),
    (given(f"{SEAM}/Transform", [2, 1, 3]), "Transform = [2, 1, 3] does not match i_max and i_min; give 1 along i"),
    (given(f"{SEAM}/Transform", [1, 3, -2]), "6 cells along j are joined to 5 of the donor zone along k, by the"),
    (given(f"{SEAM}/PointRangeDonor", [[1, 7, 1], [1, 1, 6]]), "6 cells along j are joined to -6 of the donor zone"),
    (without(f"{SEAM}/PointRangeDonor"), "seam_1: no PointRangeDonor; give the first and the last vertex of the faces"),
    (given(f"{SEAM}/PointRange", [[2, 1, 1], [2, 7, 6]]), "PointRange from (2, 1, 1) to (2, 7, 6): no side of the"),
    (given(f"{SEAM}/PointRange", [[5, 1, 1], [5, 8, 6]]), "to (5, 8, 6): the zone has vertices 1 to 7 along j; give"),
    (given(f"{BC}/PointRange", [[1, 1, 1], [1, 1, 6]]), "patch_1: PointRange from (1, 1, 1) to (1, 1, 6): no side"),
    (given(f"{BC}/PointRange", [1, 2, 3]), "patch_1: PointRange has not two times three numbers; give the first and"),
    (without(f"{BC}/PointRange"), "patch_1: no PointRange; give one, of vertices of a side"),
    (given(BC, "BCDegenerateLine"), "patch_1: BCDegenerateLine: poles are not available in this version"),
    (lambda file: add_node(file[BC], "L", "GridLocation_t", "CellCenter"), "GridLocation = CellCenter; give Vertex"),
    (without(BC), "box.cgns: chart 1, i_min, cells j 1 to 6, k 1 to 5: these faces are on no seam and no side; add"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_a_file_that_cannot_be_used(path, change, message):
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(BadInput) as error:
        read_grid(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_all_charts_that_are_malformed_are_told_with_the_name_of_the_file(path):
    with h5py.File(path, "r+") as file:
        for n in (1, 2):
            x = file[f"Base/chart_{n}/GridCoordinates/CoordinateX/ data"]
            x[...] = -x[...]
    with pytest.raises(BadGrid) as error:
        read_grid(path)
    assert [line.split(": all")[0] for line in str(error.value).splitlines()] == [f"{path}: chart {n}" for n in (1, 2)]


def test_all_that_is_wrong_with_nodes_is_told_at_once(path):
    with h5py.File(path, "r+") as file:
        put(file, SEAM, "none")
        put(file, BC, "BCDegeneratePoint")
        put(file, f"{BC[:-1]}2/PointRange", [[9, 1, 1], [9, 2, 2]])
    with pytest.raises(BadInput) as error:
        read_grid(path)
    assert len(str(error.value).splitlines()) == 3


@pytest.mark.parametrize(("content", "message"), [
    (b"", "the file is empty; give a CGNS file of structured zones, in HDF5"),
    (b"@(#)ADF Database Version C02012>", "an ADF file, which is not available in this version; convert it by adf2hdf"),
    (b"5\n7 7 5\n0 0 0", "no HDF5 file; give a CGNS file of structured zones"),
    (b"\x89HDF\r\n\x1a\n" + bytes(100), "cannot be read ("),
    (None, "cannot be read ("),
])  # fmt: skip
def test_no_file_of_cgns(path, content, message):
    path.write_bytes(path.read_bytes()[:20_000] if content is None else content)
    with pytest.raises(BadInput) as error:
        read_grid(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_a_grid_without_sides(tmp_path):
    """Periodic in all directions: seams alone, and no boundary conditions in the file."""
    grid = shape("box", {**KEYS, "distortion": 0.0, "periodic": ["x", "y", "z"]}).grid()
    assert not grid.sides
    write_grid(tmp_path / "box.cgns", grid)
    with h5py.File(tmp_path / "box.cgns") as file:
        assert "ZoneBC" not in file[ZONE]
    again = read_grid(tmp_path / "box.cgns")
    assert (again.seams, again.sides) == (grid.seams, {})


def test_a_map_beside_is_no_business_of_the_file(path):
    shutil.copy(path, path.with_suffix(".nmf"))
    assert len(read_grid(path).seams) == 1
    with pytest.raises(BadInput, match=r"box\.nmf: .*box\.cgns has its own seams and sides; omit the map"):
        read_grid(path, path.with_suffix(".nmf"))


@pytest.mark.parametrize("name", ["a" * 33, "a/b", " a"])
def test_names_that_nodes_cannot_have(tmp_path, name):
    grid = assembled([Part(shape("box", KEYS).grid().charts[0].vertices, {"i_min": name})])
    with pytest.raises(BadInput, match="; CGNS takes names of at most 32 bytes without a slash"):
        write_grid(tmp_path / "box.cgns", grid)
    assert not (tmp_path / "box.cgns").exists()


def test_without_h5py(path, monkeypatch):
    """The error says what to install."""
    grid = read_grid(path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    for use in (lambda: read_grid(path), lambda: write_grid(path.with_name("other.cgns"), grid)):
        with pytest.raises(BadInput, match=r'h5py, which is not installed: pip install "taskflow-cfd\[cgns\]"'):
            use()
