"""Sides, points and exports of runs on charts, against exact values."""

import re
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from xarray import DataTree

from taskflow.analysis.charts.carried import ChartsSource
from taskflow.analysis.charts.derived import derived
from taskflow.analysis.charts.export import export_charts
from taskflow.analysis.derived import second_eigenvalue
from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import cell_volumes, face_areas
from taskflow.geometry.grids import shape
from taskflow.output import tree
from taskflow.output.store.rigid_motion import PLACES, RATES, REST, moved, pose
from tests.output.on_charts import GRIDS, filled, grid_of, middle

WALL = {"viscosity": 0.1, "boundary_inner": "wall", "boundary_inner_velocity": np.zeros(3), "boundary_outer": "wall"}


def spinning(x, y, z):
    """Velocities of a solid rotation by 2 radians per time: stress is at walls that do not turn alone."""
    return {"u": -2 * y, "v": 2 * x, "w": 0 * x}


FUNCTIONS = {name: (lambda x, y, z, name=name: spinning(x, y, z)[name]) for name in "uvw"} | {
    "p": lambda x, y, z: 3 + x - 2 * y
}


@pytest.fixture
def annulus(tmp_path):
    return tree(filled(tmp_path / "fields.zarr", grid_of("annulus"), FUNCTIONS, WALL, times=(0.0, 1.0)))


def test_faces_of_a_side(annulus):
    side, grid = annulus.flow.side("inner"), grid_of("annulus")
    assert dict(side.sizes) == {"time": 2, "face": 32}
    size = [np.sqrt((face_areas(chart.vertices, 0)[..., 0] ** 2).sum(axis=0)).ravel() for chart in grid.charts]
    np.testing.assert_allclose(side.area, np.concatenate(size), rtol=1e-14)
    angle = 2 * np.pi * (np.arange(32) + 0.5) / 32
    np.testing.assert_allclose(side.normal_x, -np.cos(angle), atol=1e-14)
    np.testing.assert_allclose(side.normal_y, -np.sin(angle), atol=1e-14)
    np.testing.assert_allclose(np.hypot(side.x, side.y), 0.5 * np.cos(np.pi / 32), rtol=1e-14)
    np.testing.assert_allclose(side.z, 0.5)
    outer = annulus.flow.side("outer")
    for name in ("normal_x", "normal_y", "normal_z"):
        np.testing.assert_allclose((outer[name] * outer.area).sum(), 0, atol=1e-14)


def test_pressure_is_linear_to_the_face_and_stress_that_of_the_wall_flux(annulus):
    side, grid = annulus.flow.side("inner"), grid_of("annulus")
    np.testing.assert_allclose(side.p_face, np.broadcast_to(3 + side.x - 2 * side.y, (2, 32)), rtol=1e-13)
    layers = [chart.vertices[..., :2] for chart in grid.charts]
    beyond = [np.stack([2 * x[..., 0] - x[..., 1], x[..., 0]], axis=-1) for x in layers]
    around = [(cell_volumes(x) + cell_volumes(g)).ravel() / 2 for x, g in zip(layers, beyond, strict=True)]
    distance = np.concatenate(around) / side.area / 2
    centre = np.concatenate([middle(chart.vertices)[..., 0].reshape(3, -1) for chart in grid.charts], axis=1)
    np.testing.assert_allclose(side.u[0], -2 * centre[1], rtol=1e-14)
    along = -side.normal_y.values * -2 * centre[1] + side.normal_x.values * 2 * centre[0]  # tangent is (-n_y, n_x)
    expected = 0.1 * along / distance
    tangential = side.shear_y * side.normal_x - side.shear_x * side.normal_y
    np.testing.assert_allclose(tangential, [expected] * 2, rtol=1e-12)
    normal = side.normal_x * side.shear_x + side.normal_y * side.shear_y + side.normal_z * side.shear_z
    np.testing.assert_allclose(normal, 0, atol=1e-13)
    np.testing.assert_allclose(side.stress_x, side.shear_x, atol=1e-13)  # the fluid does not move across the wall
    assert "shear_x" not in annulus.flow.side("outer")  # its velocity is not known


def test_the_stress_of_a_fluid_that_leaves_a_wall(tmp_path):
    """Of u = (x, 0, 0) beside x = 0: the flux of momentum, viscosity du/dx, and no shear."""
    functions = {"u": lambda x, y, z: x, "v": lambda x, y, z: 0 * x, "w": lambda x, y, z: 0 * x}
    grid = shape("box", {"cells": (8, 4, 4), "lengths": (1.0, 2.0, 1.5)}).grid()
    about = {"viscosity": 0.1, "boundary_x_min": "wall", "boundary_x_min_velocity": np.zeros(3)}
    records = tree(filled(tmp_path / "fields.zarr", grid, functions, about))
    side = records.flow.side("x_min")
    np.testing.assert_allclose(side.stress_x, 0.1, rtol=1e-13)
    np.testing.assert_allclose(side.shear_x, 0.0, atol=1e-15)
    records.attrs["turbulence"] = "wale"  # then friction is the whole stress
    side = records.flow.side("x_min")
    np.testing.assert_allclose(side.stress_x, 0.2, rtol=1e-13)
    np.testing.assert_allclose(side.shear_x, 0.0, atol=1e-15)


def test_fluid_that_turns_with_a_wall_puts_no_stress_on_it(annulus):
    """On a grid that has turned by 0.3, at 2 radians per time."""
    one, (c, s) = annulus.isel(time=0), (np.cos(0.3), np.sin(0.3))
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    rate = np.array([[0, -2, 0], [2, 0, 0], [0, 0, 0]]) @ turn
    numbers = pose(turn, np.zeros(3)) | pose(rate, np.zeros(3), RATES)
    parts = {"/": one.to_dataset().assign({name: ((), value) for name, value in numbers.items()})}
    for name, chart in one["charts"].children.items():
        places = {axis: chart[axis] for axis in PLACES}
        at_rest = {kind: moved(np.stack([places[f"{axis}{kind}"] for axis in "xyz"]), pose(turn.T, np.zeros(3)))
                   for kind in ("", "_c")}  # fmt: skip
        resting = {f"{axis}{kind}{REST}": (places[f"{axis}{kind}"].dims, values)
                 for kind, three in at_rest.items() for axis, values in zip("xyz", three, strict=True)}  # fmt: skip
        parts[f"charts/{name}"] = chart.to_dataset(inherit=False).assign_coords(resting)
    side = DataTree.from_dict(parts).flow.side("inner")
    for kind, axis in product(("stress", "shear"), "xyz"):
        np.testing.assert_allclose(side[f"{kind}_{axis}"], 0.0, atol=1e-14)
    several = DataTree.from_dict({**parts, "/": parts["/"].expand_dims({"heat.diffusivity": [0.1, 0.2]})})
    with pytest.raises(BadInput, match=re.escape("along heat.diffusivity: choose one, as by .isel({'heat.diff")):
        several.flow.side("inner")


def test_a_wall_that_moves_with_the_fluid_has_no_stress(tmp_path):
    about = {**WALL, "boundary_y_max": "wall", "boundary_y_max_velocity": np.array([2.0, 0.0, 0.0])}
    grid = grid_of("box")
    functions = {"u": lambda x, y, z: 0 * x + 2, "v": lambda x, y, z: 0 * x, "w": lambda x, y, z: 0 * x}
    records = tree(filled(tmp_path / "fields.zarr", grid, functions, about))
    np.testing.assert_array_equal(records.flow.side("y_max").shear_x, 0.0)
    assert "shear_x" not in records.flow.side("y_min")
    assert "p_face" not in records.flow.side("y_min")


def test_normals_point_out_whatever_the_turn(tmp_path):
    records = tree(filled(tmp_path / "fields.zarr", grid_of("box"), {"p": lambda x, y, z: x}))
    for axis, low, high in (("x", 0.0, 1.0), ("y", 0.0, 2.0), ("z", 0.0, 1.5)):
        for name, place, sign in ((f"{axis}_min", low, -1), (f"{axis}_max", high, 1)):
            side = records.flow.side(name)
            np.testing.assert_allclose(side[f"normal_{axis}"], sign, rtol=1e-14)
            np.testing.assert_allclose(side[axis], place, atol=1e-14)
            np.testing.assert_allclose(side.area.sum(), 3.0 / {"x": 1.0, "y": 2.0, "z": 1.5}[axis], rtol=1e-13)
    whole = sum(float(chart["volume"].sum()) for chart in records.flow.volumes()["charts"].children.values())
    assert whole == pytest.approx(3.0, rel=1e-13)


@pytest.mark.parametrize("name", ["annulus", "pipe", "box"])
def test_every_centre_lies_in_its_cell(name, tmp_path):
    grid = grid_of(name)
    records = tree(filled(tmp_path / "fields.zarr", grid, {"p": lambda x, y, z: x + y + z}))
    rng = np.random.default_rng(0)
    for number, chart in enumerate(grid.charts):
        centres = middle(chart.vertices).reshape(3, -1).T
        chosen = rng.choice(len(centres), 5, replace=False)
        result = records.flow.at(centres[chosen])
        assert (result.chart == number).all()
        np.testing.assert_allclose(result.p.isel(time=0), centres[chosen].sum(axis=1), rtol=1e-14)
        one = records.flow.at(centres[chosen[0]])
        assert (int(one.k), int(one.j), int(one.i)) == np.unravel_index(chosen[0], middle(chart.vertices).shape[1:])


def test_points_on_seams_and_vertices_lie_in_a_cell(tmp_path):
    grid = grid_of("box")
    records = tree(filled(tmp_path / "fields.zarr", grid, {"p": lambda x, y, z: x}))
    vertices = grid.charts[1].vertices.reshape(3, -1).T[::37]
    assert records.flow.at(vertices).sizes["point"] == len(vertices)


def test_what_is_not_there_is_named(annulus):
    with pytest.raises(BadInput, match="side = 'wing': unknown side; choose one of ends, inner, outer"):
        annulus.flow.side("wing")
    with pytest.raises(BadInput, match=re.escape("point = [0.0, 0.0, 0.5]: it lies in no cell")):
        annulus.flow.at((0, 0, 0.5))
    for point in ((0, 1), "here", (0, 0, np.nan)):
        with pytest.raises(BadInput, match="give x, y and z"):
            annulus.flow.at(point)
    with pytest.raises(BadInput, match="give the whole tree"):
        annulus["charts/0"].flow.speed()
    alone = annulus.map_over_datasets(lambda chart: chart[["u"]] if "u" in chart else chart)
    with pytest.raises(BadInput, match="a chart has no x, of its vertices; give a tree as"):
        alone.flow.at((0.7, 0, 0.5))


def test_speed(annulus):
    speed = annulus.flow.speed()["charts/2"]
    assert speed["speed"].dims == ("time", "k", "j", "i")
    np.testing.assert_allclose(speed["speed"][1], 2 * np.hypot(speed["x_c"], speed["y_c"]), rtol=1e-14)


@pytest.mark.parametrize(("name", "keys"), [
    ("box", {"cells": (8, 5, 4), "lengths": (1.0, 2.0, 1.5), "charts": (2, 1, 1), "distortion": 0.1, "turned": True}),
    ("o-grid", {"cells": (12, 4, 1), "far": 3.0}),
])  # fmt: skip
def test_derived_fields_are_exact_for_linear_flows_on_any_cells(name, keys, tmp_path):
    matrix = np.array([[0.3, -2.0, 0.5], [1.0, -0.7, 0.2], [-0.4, 0.6, 0.4]])
    if name == "o-grid":
        matrix[2], matrix[:, 2] = 0.0, 0.0
    functions = {
        role: (lambda x, y, z, row=row: row[0] * x + row[1] * y + row[2] * z)
        for role, row in zip("uvw", matrix, strict=True)
    }
    records = tree(filled(tmp_path / "fields.zarr", shape(name, keys).grid(), functions, times=(0.0, 1.0)))
    curl = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    exact = {
        "Q": -np.trace(matrix @ matrix) / 2, "vorticity": np.linalg.norm(curl), "lambda2": second_eigenvalue(matrix),
        **{f"vorticity_{axis}": part for axis, part in zip("xyz", curl, strict=True)},
    }  # fmt: skip
    for field, value in exact.items():
        for chart in derived(records, field)["charts"].children.values():
            assert chart[field].dims == ("time", "k", "j", "i")
            assert {"x_c", "y_c", "z_c"} <= {*chart[field].coords}
            np.testing.assert_allclose(chart[field], value, rtol=1e-9, atol=1e-9)
            assert chart[field].chunks[0] == (1, 1)
    np.testing.assert_allclose(records.flow.lambda2()["charts/0/lambda2"], exact["lambda2"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(records.flow.q_criterion()["charts/0/Q"], exact["Q"], rtol=1e-9, atol=1e-9)
    turning = records.flow.vorticity()["charts/0"]
    for axis, part in zip("xyz", curl, strict=True):
        np.testing.assert_allclose(turning[f"vorticity_{axis}"], part, rtol=1e-9, atol=1e-9)
    with pytest.raises(BadInput, match=r"field\('f'\): unknown field; choose one of speed, vorticity"):
        records.flow.field("f")


def test_vtk_reads_what_was_written(annulus, tmp_path, monkeypatch):
    """Charts with their fields in slabs of one layer, sides with pressure and stress, for each time."""
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    monkeypatch.setattr("taskflow.output.export.vtk.SLAB", 200)
    collection = ElementTree.parse(export_charts(annulus, tmp_path / "vtk", "fields")).getroot()
    listed = collection.findall("Collection/DataSet")
    assert [float(item.attrib["timestep"]) for item in listed] == [0.0, 1.0]
    reader = vtk.vtkXMLMultiBlockDataReader()
    reader.SetFileName(str(tmp_path / "vtk" / listed[1].attrib["file"]))
    reader.Update()
    assert reader.GetErrorCode() == 0
    whole = reader.GetOutput()
    charts, sides = whole.GetBlock(0), whole.GetBlock(1)

    def arrays(block):
        data = block.GetCellData()
        return {data.GetArrayName(n): vtk_to_numpy(data.GetArray(n)) for n in range(data.GetNumberOfArrays())}

    for number in range(4):
        block, chart = charts.GetBlock(number), annulus[f"charts/{number}"]
        result, points = arrays(block), vtk_to_numpy(block.GetPoints().GetData())
        np.testing.assert_array_equal(points, np.stack([chart[axis].values.ravel() for axis in "xyz"], axis=1))
        velocity = np.stack([chart[name][1].values.ravel() for name in "uvw"], axis=1)
        np.testing.assert_array_equal(result["velocity"], velocity)
        np.testing.assert_array_equal(result["p"], chart["p"][1].values.ravel())
        assert set(result) == {"velocity", "p"}
    names = [sides.GetMetaData(n).Get(vtk.vtkCompositeDataSet.NAME()) for n in range(sides.GetNumberOfBlocks())]
    inner, side = sides.GetBlock(names.index("inner")), annulus.flow.side("inner").isel(time=1)
    result = [arrays(inner.GetBlock(n)) for n in range(4)]
    np.testing.assert_array_equal(np.concatenate([item["p"] for item in result]), side.p_face)
    np.testing.assert_array_equal(np.concatenate([item["shear"] for item in result])[:, 1], side.shear_y)
    sizes = [inner.GetBlock(n).GetNumberOfCells() for n in range(4)]
    assert sizes == [8] * 4
    size = vtk.vtkCellSizeFilter()
    size.SetInputData(inner.GetBlock(0))
    size.Update()
    np.testing.assert_allclose(vtk_to_numpy(size.GetOutput().GetCellData().GetArray("Area")), side.area[:8], rtol=1e-6)


def jump(x, y, z):
    """1 in two cells beside a seam and a side of the box, 0 elsewhere."""
    return np.where((abs(x - 0.5) < 0.13) | (y < 0.2), 1.0, 0.0)


def source_on(path, grid, **functions):
    return ChartsSource(tree(filled(path / "fields.zarr", grid, functions, WALL, times=(0.0,))).isel(time=0))


@pytest.mark.parametrize("name", [pytest.param("annulus", marks=pytest.mark.slow), "box"])
def test_carried_over_fields_are_linear_and_stay_within_bounds(tmp_path, name):
    """Linear fields are exact but in cells beside sides and seams; a jump beside a seam is not exceeded in any cell of
    a finer grid; what lies beyond is refused.
    """
    grid, linear = grid_of(name), FUNCTIONS["p"]
    source = source_on(tmp_path, grid, p=linear, u=jump)
    vertices = [chart.vertices for chart in grid.charts]
    assert source.is_on(vertices)
    assert not source.is_on([x * (1 + 1e-15) for x in vertices])
    inside = [middle(x)[..., 1:-1, 1:-1] for x in vertices]
    inside = [(x if x.shape[1] == 1 else x[:, 1:-1]) + 0.002 for x in inside]  # beside centres
    for x, values in zip(inside, source.at("p", inside), strict=True):
        np.testing.assert_allclose(values, linear(*x), rtol=1e-12)
    finer = shape(name, {**GRIDS[name], "cells": tuple(n * 2 if n > 1 else 1 for n in GRIDS[name]["cells"])}).grid()
    places = [middle(chart.vertices) for chart in finer.charts]
    source.covers(places)
    known = np.concatenate([part.ravel() for part in source.values("p")])
    new = [chart.vertices for chart in finer.charts]
    sizes = [cell_volumes(x) for x in new]
    own = np.concatenate([cell_volumes(x).ravel() for x in vertices])
    for field in "pu":
        kept = np.average(np.concatenate([part.ravel() for part in source.values(field)]), weights=own)
        parts = zip(source.over(field, new), sizes, strict=True)
        integral = sum((part * size).sum() for part, size in parts)
        assert integral / sum(size.sum() for size in sizes) == pytest.approx(kept, rel=1e-13)
    for p, u in zip(source.over("p", new), source.over("u", new), strict=True):
        assert p.min() >= known.min()
        assert p.max() <= known.max()
        assert u.min() >= 0.0
        assert u.max() <= 1.0
    with pytest.raises(BadInput, match=r"it reaches from x = .* the cells of the domain from .*; give a grid inside"):
        source.covers([x + np.reshape([9.0, 0.0, 0.0], (3, 1, 1, 1)) for x in places])


def test_integrals_are_kept_where_cells_are_halved(tmp_path):
    """Of numbers at random, in the cells beside sides and seams, too."""
    rng, keys = np.random.default_rng(0), {"lengths": (1.0, 2.0, 1.5), "charts": (2, 1, 1)}
    source = source_on(tmp_path, shape("box", {"cells": (8, 5, 4), **keys}).grid(), p=lambda x, *_: rng.random(x.shape))
    finer = shape("box", {"cells": (16, 10, 8), **keys}).grid()
    parts = source.at("p", [middle(chart.vertices) for chart in finer.charts])
    for part, values in zip(parts, source.values("p"), strict=True):
        k, j, i = values.shape
        np.testing.assert_allclose(part.reshape(k, 2, j, 2, i, 2).mean(axis=(1, 3, 5)), values, rtol=1e-13)
        assert abs(part - np.repeat(np.repeat(np.repeat(values, 2, 0), 2, 1), 2, 2)).max() > 0.1


def test_integrals_are_kept_where_cells_are_joined(tmp_path):
    """Two by two along each direction, of numbers at random."""
    rng, keys = np.random.default_rng(0), {"lengths": (1.0, 2.0, 1.5), "charts": (2, 1, 1)}
    finer = shape("box", {"cells": (16, 10, 8), **keys}).grid()
    source = source_on(tmp_path, finer, p=lambda x, *_: rng.random(x.shape))
    coarser = [chart.vertices for chart in shape("box", {"cells": (8, 5, 4), **keys}).grid().charts]
    for part, values in zip(source.over("p", coarser), source.values("p"), strict=True):
        k, j, i = part.shape
        np.testing.assert_allclose(part, values.reshape(k, 2, j, 2, i, 2).mean(axis=(1, 3, 5)), rtol=1e-13)


def test_a_hole_in_the_source_is_not_covered(tmp_path):
    """A square around an annulus lies within its reach, and its middle in no cell; finer annuli lie in it."""
    source = source_on(tmp_path, grid_of("annulus"), p=FUNCTIONS["p"])
    square = np.stack(np.meshgrid(*[np.linspace(-0.9, 0.9, 12)] * 2, [3.5], indexing="ij"))
    with pytest.raises(BadInput, match=r"it has no cell near x = .*, y = .*, z = 3.5, where the domain has one; give"):
        source.covers([square])
    finer = shape("annulus", {**GRIDS["annulus"], "cells": (16, 64, 1)}).grid()
    source.covers([middle(chart.vertices) for chart in finer.charts])
