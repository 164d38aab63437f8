"""`ds.flow.grid()`: xgcm's operators, for flows known exactly, on even and uneven cells, inside and at all ends."""

from __future__ import annotations

import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output import create, dataset
from taskflow.output.store.groups import consolidate
from tests.analysis.conftest import LENGTHS, PERIODIC, STRETCHED, WALLS, linear, stored
from tests.output.conftest import layout_of

xgcm = pytest.importorskip("xgcm")

UNEVEN = STRETCHED
EVEN = (None, None, None)
CHANNEL = """[grid]
cells = [6, 5, 7]
[fluid]
viscosity = 0.1
[boundaries]
x = "periodic"
y = "periodic"
z_min = {type = "wall"}
z_max = {type = "wall"}
"""
both = pytest.mark.parametrize("edges", [EVEN, UNEVEN], ids=["even", "uneven"])


def assert_close(result: xr.DataArray, expected: xr.DataArray, within: float = 1e-12) -> None:
    """That both are alike, with what is NaN."""
    one, other = xr.broadcast(result.squeeze("time", drop=True), expected)
    np.testing.assert_allclose(one.transpose(*other.dims), other, rtol=0, atol=within)


def inside(expected: xr.DataArray, dim: str) -> xr.DataArray:
    """NaN on the first and on the last face."""
    return expected.where((expected[dim] != expected[dim][0]) & (expected[dim] != expected[dim][-1]))


@both
def test_stores_know_how_large_cells_are(edges, tmp_path):
    ds = stored(tmp_path, (True, False, False), edges=edges, p=lambda x, y, z: x)
    z = np.array(edges[2] or np.linspace(0, 2.1, 8))
    np.testing.assert_allclose(ds.dz, np.diff(z), rtol=1e-14)
    np.testing.assert_allclose(ds.dz_f[1:-1], ds.z_c.diff("z_c"), rtol=1e-14)
    np.testing.assert_allclose(ds.dz_f[[0, -1]], [ds.dz[0] / 2, ds.dz[-1] / 2], rtol=1e-14)
    np.testing.assert_array_equal(ds.dx, np.full(6, 1.5 / 6))
    np.testing.assert_array_equal(ds.dx_f, np.full(6, 1.5 / 6))
    for axis, length in zip("xyz", LENGTHS, strict=True):
        assert float(ds[f"d{axis}"].sum()) == pytest.approx(length, rel=1e-14)
        assert float(ds[f"d{axis}_f"].sum()) == pytest.approx(length, rel=1e-14)
        assert {"long_name", "units"} <= set(ds[f"d{axis}_f"].attrs)
    assert "dz" not in ds.p.coords  # coordinates of fields would be compared whenever two of these are added


def test_a_layer_has_the_metrics_of_its_cells(tmp_path):
    layer = layout_of(edges=(None, None, tuple(np.linspace(0, 1, 11) ** 2))).layer(2, 3)
    create(tmp_path / "s", layer, {})
    ds = dataset(tmp_path / "s")
    assert float(ds.dz[0]) == pytest.approx(0.16 - 0.09)
    assert float(ds.dz_f[0]) == pytest.approx((0.25 - 0.13) / 2)


@both
def test_linear_functions_are_exact_wherever_there_is_a_value(edges, tmp_path):
    matrix = [[0.3, 0.7, -0.4], [-0.2, 0.5, 1.1], [0.9, 0.6, -0.8]]
    ds = stored(tmp_path, edges=edges, p=lambda x, y, z: x - 2 * y + 3 * z, **linear(matrix))
    grid = ds.flow.grid()
    assert isinstance(grid, xgcm.Grid)
    for axis, slope in zip("xyz", (1.0, -2.0, 3.0), strict=True):
        face = f"{axis}_f"
        place = {other: ds[f"{other}_{'f' if other == axis else 'c'}"] for other in "xyz"}
        assert_close(grid.interp(ds.p, axis.upper()), inside(place["x"] - 2 * place["y"] + 3 * place["z"], face))
        assert_close(grid.derivative(ds.p, axis.upper()), inside(xr.full_like(ds[face], slope), face))
    for number, (name, axis) in enumerate(zip("uvw", "XYZ", strict=True)):
        a, b, c = matrix[number]
        assert_close(grid.interp(ds[name], axis), a * ds.x_c + b * ds.y_c + c * ds.z_c)
        assert_close(grid.derivative(ds[name], axis), xr.full_like(ds.x_c, matrix[number][number]))
    corner = grid.interp(ds.p, ["X", "Z"])
    assert_close(corner, inside(inside(ds.x_f - 2 * ds.y_c + 3 * ds.z_f, "x_f"), "z_f"))
    shear = grid.derivative(ds.u, "Z") - grid.derivative(ds.w, "X")
    assert_close(shear, inside(inside(0 * ds.x_f + 0 * ds.y_c + 0 * ds.z_f - 1.3, "x_f"), "z_f"))


@both
def test_integrals_are_exact_and_begin_at_the_low_end(edges, tmp_path):
    ds = stored(tmp_path, edges=edges, p=lambda x, y, z: 2 + 3 * z, w=lambda x, y, z: 2 + 3 * z)
    grid, top, z = ds.flow.grid(), 2.1, ds.z_f
    whole = 2 * top + 1.5 * top**2
    assert_close(grid.integrate(ds.p, "Z"), xr.DataArray(whole))
    assert_close(grid.integrate(ds.w, "Z"), xr.DataArray(whole))  # the trapezoidal rule
    assert_close(grid.average(ds.p, ["X", "Y", "Z"]), xr.DataArray(whole / top))
    assert_close(grid.average(ds.w, "Z"), xr.DataArray(whole / top))
    assert_close(grid.integrate(ds.p, ["X", "Y", "Z"]), xr.DataArray(whole * LENGTHS[0] * LENGTHS[1]))
    assert_close(grid.cumint(ds.p, "Z"), 2 * z + 1.5 * z**2)
    assert_close(grid.cumint(ds.p, "Z", reverse=True), whole - 2 * z - 1.5 * z**2)
    assert_close(grid.cumint(xr.ones_like(ds.w), "Z"), ds.z_c)


def test_round_periodic_directions_operators_go_on(tmp_path):
    """Sums begin at the low end, nevertheless."""
    edges = ((0.0, 0.2, 0.6, 0.7, 1.0), None, None)
    ds = stored(tmp_path, PERIODIC, (4, 5, 7), (1.0, 1.0, 2.1), edges,
                p=lambda x, y, z: x + 0 * y, u=lambda x, y, z: 0 * x + 1)  # fmt: skip
    grid = ds.flow.grid()
    assert dict(grid.axes["X"].coords) == {"center": "x_c", "left": "x_f"}
    assert_close(grid.derivative(ds.p, "X"), xr.DataArray([-0.75 / 0.25, 1.0, 1.0, 1.0], dims="x_f"))
    weights = (0.2 * 0.85 + 0.3 * 0.1) / 0.5  # the face at 0 is twice as far from 0.1 - 0.1 as from 0.85 - 1
    assert_close(grid.interp(ds.p, "X"), xr.DataArray([weights, 0.2, 0.6, 0.7], dims="x_f"))
    assert_close(grid.cumint(ds.p, "X"), ds.x_f**2 / 2)
    assert_close(grid.interp(ds.u, "X"), xr.ones_like(ds.x_c))
    assert_close(grid.integrate(ds.u, "X"), xr.DataArray(1.0))
    with pytest.raises(BadInput, match=r"axis = 'X': sums begin at a face; give values in centres"):
        grid.cumint(ds.u, "X")


@both
def test_a_value_given_beyond_the_end_is_one_on_the_wall(edges, tmp_path):
    """Of a parabola between walls at rest: 0 on the wall, and there the shear of the equations."""
    ds = stored(tmp_path, (True, True, False), edges=edges, case=CHANNEL,
                u=lambda x, y, z: z * (2.1 - z), v=lambda x, y, z: 0 * x, w=lambda x, y, z: 0 * x)  # fmt: skip
    grid = ds.flow.grid()
    rest = {"padding": "fill", "fill_value": 0.0}
    wall, slope = grid.interp(ds.u, "Z", **rest), grid.derivative(ds.u, "Z", **rest)
    assert not wall.isel(z_f=[0, -1]).any()
    for face, end in (("z_min", 0), ("z_max", -1)):
        outward = slope.isel(z_f=end).rename(x_f="x_c").drop_vars("x_c") * (1 if end == 0 else -1)
        np.testing.assert_allclose(0.1 * outward, ds.flow.wall_shear(face).shear_x, rtol=1e-12)
    within = slope.isel(z_f=slice(1, -1))
    middle = (ds.z_c[1:].values + ds.z_c[:-1].values) / 2  # a difference is exact there for a parabola
    assert_close(within, xr.DataArray(2.1 - 2 * middle, dims="z_f"))
    for name in ("u", "T"):
        assert grid.derivative(ds.u.rename(name), "Z").isel(z_f=[0, -1]).isnull().all()


def test_errors_are_of_second_order(tmp_path):
    """Vortices between walls, of cells that are up to five times as large as others, and round a periodic direction."""
    errors = []
    for cells in (16, 32, 64):
        s = np.linspace(-1, 1, cells + 1)
        z = np.pi * (1 + np.tanh(1.5 * s) / np.tanh(1.5)) / 2
        ds = stored(
            tmp_path / f"{cells}", (True, True, False), (cells, 1, cells), (2 * np.pi, 1.0, np.pi),
            (tuple(np.linspace(0, 2 * np.pi, cells + 1)), None, tuple(z)),
            u=lambda x, y, z: np.cos(x) * np.sin(z), w=lambda x, y, z: -np.sin(x) * np.cos(z),
            p=lambda x, y, z: np.cos(x) * np.exp(z / 3),
        )  # fmt: skip
        grid, wave = ds.flow.grid(), np.cos(ds.x_c)
        pairs = [
            (grid.derivative(ds.u, "X") + grid.derivative(ds.w, "Z"), 0 * wave),
            (grid.derivative(ds.u, "Z"), inside(np.cos(ds.x_f) * np.cos(ds.z_f), "z_f")),
            (grid.interp(ds.p, "Z"), inside(wave * np.exp(ds.z_f / 3), "z_f")),
            (grid.derivative(ds.p, "Z"), inside(wave * np.exp(ds.z_f / 3) / 3, "z_f")),
            (grid.interp(ds.u, "X"), wave * np.sin(ds.z_c)),
            (grid.integrate(ds.p, "Z"), wave * 3 * (np.exp(np.pi / 3) - 1)),
            (grid.integrate(ds.w, "Z"), 0 * wave),
            (grid.cumint(ds.p, "Z"), wave * 3 * (np.exp(ds.z_f / 3) - 1)),
            (grid.cumint(np.cos(ds.x_c) * xr.ones_like(ds.p), "X"), np.sin(ds.x_f)),
        ]
        for result, expected in pairs:
            assert int(result.isnull().sum()) == int(xr.broadcast(result, expected)[1].isnull().sum())
        errors.append([float(abs(result - expected).max()) for result, expected in pairs])
    coarse, middle, fine = np.array(errors)
    rounding = fine < 1e-12
    assert np.log2(middle / np.where(rounding, middle / 4, fine)).min() > 1.9
    assert np.log2(coarse / np.where(rounding, coarse / 4, middle)).min() > 1.8


def test_selections_that_keep_their_faces_have_a_grid(tmp_path):
    ds = stored(tmp_path, PERIODIC, case=CHANNEL.replace("z_min = ", "#").replace("z_max = ", 'z = "periodic"\n#'),
                p=lambda x, y, z: x + z, u=lambda x, y, z: x)  # fmt: skip
    part = ds.isel(x_c=slice(2, 5), x_f=slice(2, 6))
    grid = part.flow.grid()
    assert_close(grid.derivative(part.p, "X"), inside(xr.ones_like(part.x_f), "x_f"))
    assert_close(grid.integrate(part.u, "X"), ((part.x_f[-1] ** 2 - part.x_f[0] ** 2) / 2))
    assert set(ds.isel(y_c=1).flow.grid().axes) == {"X", "Z"}
    layer = ds.isel(z_c=[3], z_f=[3]).flow.grid()
    assert dict(layer.axes["Z"].coords) == {"center": "z_c"}
    assert float(layer.integrate(ds.p.isel(z_c=[3]), "Z").mean()) == pytest.approx(0.3 * float(ds.p[:, 3].mean()))


@pytest.mark.parametrize(("choose", "told"), [
    (lambda ds: ds.isel(z_c=slice(2, 5)), r"z_c, z_f: 3 centres and 8 faces, .*; select one face more"),
    (lambda ds: ds.isel(z_c=slice(2, 5), z_f=slice(1, 5)), "z_c, z_f: 3 centres and 4 faces"),
    (lambda ds: ds.isel(x_c=slice(0, 3), x_f=slice(0, 3)), "x_c, x_f: 3 centres and 3 faces"),
    (lambda ds: ds.isel(z_c=slice(None, None, 2), z_f=slice(None, None, 2)), "z_c, z_f: 4 centres and 4 faces"),
    (lambda ds: ds[["p"]], "x_f is not in this dataset"),
    (lambda ds: ds[["time"]], "this dataset has no cells; give snapshots, planes or statistics"),
])  # fmt: skip
def test_cells_without_their_faces_are_refused(choose, told, tmp_path):
    ds = stored(tmp_path, (True, True, False), case=CHANNEL, p=lambda x, y, z: x)
    with pytest.raises(BadInput, match=told):
        choose(ds).flow.grid()


def test_stores_of_before_there_were_metrics_have_the_same_grid(tmp_path):
    ds = stored(tmp_path, edges=UNEVEN, p=lambda x, y, z: np.sin(x + y * z))
    expected = ds.flow.grid().derivative(ds.p, "Z").load()
    for name in ("dx", "dx_f", "dy", "dy_f", "dz", "dz_f"):
        shutil.rmtree(tmp_path / "fields.zarr" / name)
    consolidate(tmp_path / "fields.zarr")
    old = dataset(tmp_path / "fields.zarr")
    assert "dz" not in old
    xr.testing.assert_identical(old.flow.grid().derivative(old.p, "Z"), expected)


@pytest.mark.parametrize("periodic", [WALLS, PERIODIC, (False, True, False)])
def test_others_find_the_metrics_of_the_store(periodic, tmp_path):
    """xgcm's own grid with the names in the store differs where there is nothing beyond, and in uneven means."""
    ds = stored(tmp_path, periodic, edges=UNEVEN, p=lambda x, y, z: np.sin(x + y * z), u=lambda x, y, z: x * z)
    ours = ds.flow.grid()
    metrics = {(axis,): [f"d{axis.lower()}", f"d{axis.lower()}_f"] for axis in "XYZ"}
    padding = {axis: "periodic" if closed else "extend" for axis, closed in zip("XYZ", periodic, strict=True)}
    plain = xgcm.Grid(ds, metrics=metrics, padding=padding)
    for axis in "XYZ":
        result, expected = ours.derivative(ds.p, axis), plain.derivative(ds.p, axis)
        np.testing.assert_allclose(result, expected.where(result.notnull()), rtol=1e-12)
        np.testing.assert_allclose(ours.integrate(ds.u, axis), plain.integrate(ds.u, axis), rtol=1e-12)
        result, expected = (grid.interp(ds.p, axis, metric_weighted=axis) for grid in (ours, plain))
        np.testing.assert_allclose(result, expected.where(result.notnull()), rtol=1e-12)


def test_values_keep_name_type_attributes_and_pieces(tmp_path):
    ds = stored(tmp_path, p=lambda x, y, z: x + z)
    result = ds.flow.grid().interp(ds.p.astype("f4").chunk(y_c=2), "Z")
    assert (result.name, result.dtype, result.dims) == ("p", np.dtype("f4"), ("time", "z_f", "y_c", "x_c"))
    assert result.attrs == ds.p.attrs
    assert result.chunks[2] == (2, 2, 1)


def test_filters_of_warnings_stay_as_they_are(monkeypatch, tmp_path):
    """They are the whole process's: threads that change them for a while restore each other's."""
    ds, before, begin, filters = stored(tmp_path, p=lambda x, y, z: x), warnings.filters, xgcm.Grid.__init__, []

    def init(*arguments, **options):
        filters.append(warnings.filters)
        begin(*arguments, **options)

    monkeypatch.setattr(xgcm.Grid, "__init__", init)
    ds.flow.grid()
    assert [during is before for during in filters] == [True]


def test_without_xgcm_the_remedy_is_told(monkeypatch, tmp_path):
    ds = stored(tmp_path, p=lambda x, y, z: x)
    monkeypatch.delitem(sys.modules, "taskflow.analysis.staggered", raising=False)
    monkeypatch.setitem(sys.modules, "xgcm", None)
    with pytest.raises(BadInput, match=r'needs xgcm .*; pip install "taskflow-cfd\[analysis\]"'):
        ds.flow.grid()


def test_the_recipe_of_the_page_holds(tmp_path):
    """What docs/howto/analyse.md does with a grid, on a channel."""
    page = (Path(__file__).parents[2] / "docs" / "howto" / "analyse.md").read_text(encoding="utf-8")
    (recipe,) = (block for block in page.split("```python\n")[1:] if "flow.grid()" in block.partition("```")[0])
    ds = stored(
        tmp_path, (True, True, False), case=CHANNEL,
        u=lambda x, y, z: z * (2.1 - z), v=lambda x, y, z: 0 * x, w=lambda x, y, z: 0 * x, T=lambda x, y, z: 1 - z,
    )  # fmt: skip
    told: dict = {"ds": ds}
    exec(recipe.partition("```")[0], told)
    assert isinstance(told["grid"], xgcm.Grid)
