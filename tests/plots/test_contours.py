"""Pictures of runs on charts: the mesh of a grid in two dimensions, and files that are written."""

import json

import matplotlib.image
import numpy as np
import pytest
from matplotlib.tri import Triangulation

from taskflow.analysis.charts.plane_meshes import cut_mesh, cut_plane, flat_mesh, outlines
from taskflow.common.errors import BadInput
from taskflow.geometry.grids import shape
from taskflow.output import tree
from taskflow.plots.charts import plot_series, plot_side
from taskflow.plots.look import Look
from taskflow.plots.snapshots import draw, plane_through, plot_run
from taskflow.plots.triangles import FINE, _finer
from tests.output.on_charts import GRIDS, filled, grid_of

FLAT = {"cells": (8, 12, 1), "lengths": (2.0, 1.0, 0.1), "charts": (2, 2, 1), "turned": True, "seed": 3}


def linear(x, y, z):
    return 1 + 2 * x - 3 * y


RING = 16 * np.sin(2 * np.pi / 32) * 0.75  # the area between two polygons


@pytest.mark.parametrize(("grid", "euler", "area"), [
    (grid_of("annulus"), 0, RING), (shape("box", FLAT).grid(), 1, 2.0),
], ids=["ring", "turned box"])  # fmt: skip
def test_charts_share_the_points_on_their_seams(grid, euler, area, tmp_path):
    """Points, edges and cells are as many as those of a ring, or of a disc, and triangles cover it."""
    records = tree(filled(tmp_path / "fields.zarr", grid, {"p": linear})).isel(time=0)
    mesh, cells = flat_mesh(records), sum(chart.box.volume for chart in grid.charts)
    assert mesh.plane == "xy"
    assert len(mesh.triangles) == 2 * cells
    lines = [line for _, line in outlines(records, mesh.plane)]
    rim = sum(len(line) - 1 for line in lines)
    assert len(np.unique(np.concatenate(lines), axis=0)) == rim
    assert len(mesh.points) - (4 * cells + rim) / 2 + cells == euler
    (ax, ay), (bx, by) = (np.diff(mesh.points[mesh.triangles], axis=1)[:, n].T for n in range(2))
    np.testing.assert_allclose(np.abs(ax * by - ay * bx).sum() / 2, area, rtol=1e-13)


def test_a_linear_field_is_exact_at_points_inside(tmp_path):
    """Also on seams, where the cells around a point are those of several charts."""
    records = tree(filled(tmp_path / "fields.zarr", shape("box", FLAT).grid(), {"p": linear})).isel(time=0)
    mesh = flat_mesh(records)
    inside = ((mesh.points > 0) & (mesh.points < [2.0, 1.0])).all(axis=1)
    assert inside.sum() == 7 * 11
    np.testing.assert_allclose(mesh.at_points(records, "p")[inside], linear(*mesh.points[inside].T, 0.0), atol=1e-14)


@pytest.mark.parametrize(("plane", "area"), [
    ("z=0.7", 2.0), ("z", 2.0), ("x=0.3", 3.0), ("y=1.9", 1.5), ("x=0", 3.0), ("x=1", 3.0)
])  # fmt: skip
def test_a_cut_covers_the_plane_and_keeps_linear_fields(plane, area, tmp_path):
    """Of turned charts with distorted cells, also where vertices lie in the plane."""
    grid = shape("box", {**GRIDS["box"], "distortion": 0.0}).grid()
    records = tree(filled(tmp_path / "fields.zarr", grid, {"p": linear})).isel(time=0)
    cut = cut_plane(records, plane)
    mesh = cut_mesh(records, cut)
    (ax, ay), (bx, by) = (np.diff(mesh.points[mesh.triangles], axis=1)[:, n].T for n in range(2))
    areas = np.abs(ax * by - ay * bx) / 2
    np.testing.assert_allclose(areas.sum(), area, atol=1e-12)
    if plane == "z=0.7":
        assert (areas > 0).all()
        inside = (np.abs(mesh.points - [0.5, 1.0]) < [0.374, 0.799]).all(axis=1)  # of the outermost layer of vertices
        assert inside.sum() > 50
        exact = linear(*mesh.points.T, 0.7)
        np.testing.assert_allclose(mesh.at_points(records, "p")[inside], exact[inside], atol=1e-13)


@pytest.fixture
def run(tmp_path):
    """A rotation around an axis, with a wall inside of the ring."""
    functions = {"u": lambda x, y, z: -y, "v": lambda x, y, z: x, "w": lambda x, y, z: 0 * x, "p": linear}
    about = {"viscosity": 0.1, "boundary_inner": "wall", "boundary_inner_velocity": np.zeros(3), "reference_speed": 2.0}
    filled(tmp_path / "fields.zarr", grid_of("annulus"), functions, about, times=(0.0, 1.0))
    return tmp_path


def test_pictures(run):
    paths = [
        plot_run(run), plot_run(run, "p", time=0.0, window=(0.0, 1.0, -0.5, 0.5)), plot_side(run, "inner"),
        plot_side(run, "outer", out=run / "outer.png"),
    ]  # fmt: skip
    assert [path.name for path in paths] == ["velocity.png", "p.png", "side.png", "outer.png"]
    for path in paths:
        assert matplotlib.image.imread(path)[..., :3].std() > 0.05


def test_a_constant_field_can_be_drawn(tmp_path):
    filled(tmp_path / "fields.zarr", grid_of("annulus"), {name: lambda x, y, z: 0 * x for name in "uvwp"})
    assert plot_run(tmp_path).exists()
    assert plot_run(tmp_path, "p").exists()


def test_what_cannot_be_drawn_is_named(run, tmp_path):
    swept = tree(run / "fields.zarr").isel(time=-1).map_over_datasets(
        lambda chart: chart.assign(p=chart.p.expand_dims({"fluid.viscosity": [0.1, 0.2]})) if "p" in chart else chart
    )
    for drawn, words in (
        (lambda: draw(plane_through(swept, None), "p", Look()),
         "p has several values along fluid.viscosity: choose one"),
        (lambda: plot_run(run, "T"), "unknown field; choose one of p, u, v, w, speed, vorticity, "),
        (lambda: plot_run(run, time=0.3), "no snapshot was written then; choose one of 0, 1"),
        (lambda: plot_run(run, window=(1.0, 0.0, 0.0, 1.0)), "give left, right, bottom and top"),
        (lambda: plot_run(run, plane="y=7"), "outside the domain"),
        (lambda: plot_side(run, "wing"), "unknown side; choose one of ends, inner, outer"),
    ):
        with pytest.raises(BadInput, match=words):
            drawn()


def test_residuals_of_each_equation(tmp_path):
    residuals = [{"residual_p": 10.0**-n, "residual_u": 2 * 10.0**-n if n else None} for n in range(5)]
    lines = [json.dumps({"step": n, "time": 0.0, **some}) for n, some in enumerate(residuals)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    assert matplotlib.image.imread(plot_series(tmp_path))[..., :3].std() > 0.02


def test_large_triangles_are_cut_until_colours_are_those_of_the_map():
    """Values are linear in each, and the area stays; small ones are as they were."""
    triangles = Triangulation([0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 2.0, 2.0], [[0, 1, 2], [0, 2, 3]])
    finer, values = _finer(triangles, np.array([1.0, 3.0, 2.0, 0.0]))
    assert FINE <= len(finer.triangles) < 4 * FINE
    np.testing.assert_allclose(values, 1 + 2 * finer.x - finer.y / 2, atol=1e-14)
    x, y = finer.x[finer.triangles], finer.y[finer.triangles]
    areas = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    assert (areas > 0).all()
    assert areas.sum() / 2 == pytest.approx(2.0)
    assert _finer(finer, values)[0] is finer
