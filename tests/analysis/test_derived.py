"""Derived fields: exact for flows known exactly, beside walls and bodies, too, and lazy."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.analysis.derived import second_eigenvalue
from taskflow.common.errors import BadInput
from taskflow.output import FieldMetadata, StoreLayout, dataset, export_vtk
from tests.analysis.conftest import CELLS, LENGTHS, ORIGIN, PERIODIC, STRETCHED, WALLS, linear, stored

STRAIN, MIDDLE = 0.4, (ORIGIN[0] + 2.0, ORIGIN[1] + 2.0)  # of a vortex


@pytest.mark.fast("stretched-matrix1", "uniform-matrix0")
@pytest.mark.parametrize("matrix", [
    [[0, -1, 0], [1, 0, 0], [0, 0, 0]], [[0.3, 0.7, -0.4], [-0.2, 0.5, 1.1], [0.9, 0.6, -0.8]],
])  # fmt: skip
@pytest.mark.parametrize("edges", [(None, None, None), STRETCHED], ids=["uniform", "stretched"])
def test_a_constant_gradient_is_found_everywhere(matrix, edges, tmp_path):
    """At boundaries, too."""
    flow, (a, b, c) = stored(tmp_path, edges=edges, **linear(matrix)).flow, matrix
    vorticity = flow.vorticity().load()
    for name, value in zip("xyz", (c[1] - b[2], a[2] - c[0], b[0] - a[1]), strict=True):
        np.testing.assert_allclose(vorticity[f"vorticity_{name}"], value, rtol=0, atol=1e-12)
    g = np.array(matrix)
    np.testing.assert_allclose(flow.q_criterion(), -0.5 * np.trace(g @ g), rtol=0, atol=1e-12)
    velocity = flow.velocity().load()
    for name, row in zip("uvw", matrix, strict=True):
        expected = row[0] * velocity.x_c + row[1] * velocity.y_c + row[2] * velocity.z_c
        np.testing.assert_allclose(velocity[name][0].transpose("z_c", "y_c", "x_c"),
                                   expected.transpose("z_c", "y_c", "x_c"), rtol=0, atol=1e-13)  # fmt: skip


def test_a_velocity_may_live_in_centres(tmp_path):
    """A system says where: its derivatives are as exact, and it is one vector for VTK."""
    matrix = np.array([[0.3, 0.7, -0.4], [-0.2, 0.5, 1.1], [0.9, 0.6, -0.8]])
    centred = {name: FieldMetadata(f"velocity along {axis}", "m s-1") for name, axis in zip("uvw", "xyz", strict=True)}
    ds = stored(tmp_path, metadata=lambda _: centred, **linear(matrix))
    assert ds.u.dims == ("time", "z_c", "y_c", "x_c")
    np.testing.assert_allclose(ds.flow.q_criterion(), -0.5 * np.trace(matrix @ matrix), rtol=0, atol=1e-12)
    xr.testing.assert_equal(ds.flow.velocity().load(), ds[["u", "v", "w"]].load())
    file = export_vtk(ds, tmp_path, "f").with_name("f_000000.vtr")
    assert b'Name="velocity" NumberOfComponents="3"' in file.read_bytes()


def test_derivatives_go_round_periodic_directions(tmp_path):
    """Of second order: a quarter of the error with half the spacing, in all cells."""
    errors = []
    for cells in (16, 32):
        ds = stored(
            tmp_path / str(cells), PERIODIC, (cells, cells, 1), (2 * np.pi, 2 * np.pi, 1.0),
            u=lambda x, y, z: -np.cos(x) * np.sin(y), v=lambda x, y, z: np.sin(x) * np.cos(y), w=lambda x, y, z: 0 * z,
        )  # fmt: skip
        result = ds.flow.vorticity()["vorticity_z"].isel(time=0, z_c=0)
        expected = 2 * np.cos(ds.x_c) * np.cos(ds.y_c)
        errors.append(float(np.abs(result - expected).max()))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("edges", [(None, None, None), STRETCHED], ids=["uniform", "stretched"])
@pytest.mark.parametrize("upwards", [True, False])
def test_derivatives_are_one_sided_at_bodies(edges, upwards, tmp_path):
    """Of a shear flow above, or below, a body that takes two layers of cells: exact beside it, nothing in it."""
    layout = StoreLayout(cells=CELLS, lengths=LENGTHS, origin=ORIGIN, edges=edges, fields={})
    body = slice(0, 2) if upwards else slice(-2, None)
    surface, solid = layout.coordinate("z_f")[2 if upwards else -3], np.zeros(CELLS[::-1])
    solid[body] = 1

    def shear(x, y, z):
        return np.where((z > surface) == upwards, 3 * (z - surface), 0.0)

    ds = stored(tmp_path, edges=edges, solid=solid, u=shear, v=lambda x, y, z: 0 * x, w=lambda x, y, z: 0 * x)
    vorticity, q = ds.flow.vorticity().load(), ds.flow.q_criterion().load()
    for result, expected in ((vorticity.vorticity_y, 3.0), (vorticity.vorticity_z, 0.0), (q, 0.0)):
        assert result.dims == ("time", "z_c", "y_c", "x_c")
        np.testing.assert_array_equal(result.isnull()[0], solid == 1)
        np.testing.assert_allclose(result.where(ds.solid == 0).to_numpy()[0][solid == 0], expected, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_between_bodies_and_ends_derivatives_have_what_is_there(tmp_path):
    """A cell between two sees the image of its own value on both sides; one at the end of the domain that alone, where
    nothing is round the end.
    """
    solid = np.zeros(CELLS[::-1])
    solid[:, :, 1], solid[:, :, 3] = 1, 1  # along x, of 6 cells: one at the end, one between, two behind

    def v(x, y, z):
        return np.where(solid.any(axis=(0, 1))[((x - ORIGIN[0]) / 0.25).astype(int)], 0.0, x)

    for name, periodic in (("walls", WALLS), ("round", (True, False, False))):
        rest = {"u": lambda x, y, z: 0 * x, "w": lambda x, y, z: 0 * x}
        ds = stored(tmp_path / name, periodic, solid=solid, v=v, **rest)
        result = ds.flow.vorticity().vorticity_z.load()[0, 0, 0]  # dv/dx
        x, h = ds.x_c.values, 0.25
        assert result.isnull().values.tolist() == [False, True, False, True, False, False]
        assert result[2] == pytest.approx(0.0, abs=1e-14)
        assert result[4] == pytest.approx((x[5] + x[4]) / (2 * h))
        first = (-x[0] - x[0]) / h if name == "walls" else (-x[0] - x[5]) / (2 * h)
        assert result[0] == pytest.approx(first)


@pytest.mark.slow
def test_all_is_lazy_and_cut_into_pieces(tmp_path, monkeypatch):
    """A store of which no field fits into a piece."""
    flow = stored(tmp_path, **linear(np.eye(3)), p=lambda x, y, z: x * y + z).flow
    whole = [flow.velocity().load(), flow.vorticity().load(), flow.q_criterion().load(), flow.plane("y").load()]
    import dask

    with dask.config.set({"array.chunk-size": "800B"}):
        pieces = [flow.velocity(), flow.vorticity(), flow.q_criterion(), flow.plane("y")]
        for item, expected in zip(pieces, whole, strict=True):
            fields = item.data_vars.values() if isinstance(item, xr.Dataset) else [item]
            assert all(len(field.chunks[1]) > 1 for field in fields)
            xr.testing.assert_allclose(item, expected, rtol=0, atol=1e-14)


def test_a_plane_lies_between_the_values_on_both_sides(tmp_path):
    matrix = [[0.3, 0.7, -0.4], [-0.2, 0.5, 1.1], [0.9, 0.6, -0.8]]
    ds = stored(tmp_path, **linear(matrix), p=lambda x, y, z: x - y + 2 * z).flow.plane("y=0.13").load()
    assert ds.y == 0.13
    assert ds.p.dims == ("time", "z_c", "x_c")
    expected = ds.x_c - 0.13 + 2 * ds.z_c
    np.testing.assert_allclose(ds.p[0], expected.transpose("z_c", "x_c"), rtol=0, atol=1e-13)
    stretched = stored(tmp_path / "stretched", edges=STRETCHED, **linear(matrix)).flow
    result = stretched.plane("z=1.5").load()
    for name, row in zip("uvw", matrix, strict=True):
        expected = row[0] * result.x_c + row[1] * result.y_c + row[2] * 1.5
        np.testing.assert_allclose(result[name][0], expected.transpose("y_c", "x_c"), rtol=0, atol=1e-13)
    assert stretched.streamlines("y").axes[0].collections
    np.testing.assert_allclose(ds.v[0], (-0.2 * ds.x_c + 0.5 * 0.13 + 1.1 * ds.z_c).transpose("z_c", "x_c"),
                               rtol=0, atol=1e-13)  # fmt: skip


def test_of_a_part_of_the_domain_only_what_is_known_is_derived(warm):
    """Across one of several layers nothing changed, and parts of periodic directions went round."""
    whole = dataset(warm / "fields.zarr")
    expected, result = whole.flow.vorticity(), whole.isel(z_c=[4], z_f=[4]).flow.vorticity()
    np.testing.assert_array_equal(result.vorticity_z, expected.vorticity_z.isel(z_c=[4]))
    assert result[["vorticity_x", "vorticity_y"]].isnull().all().to_array().all()
    part = whole.isel(x_c=slice(2, 6), x_f=slice(2, 7)).flow.vorticity().vorticity_z.isel(x_c=slice(1, 3))
    np.testing.assert_allclose(part, expected.vorticity_z.isel(x_c=slice(3, 5)), rtol=1e-12, atol=1e-12)
    alike = whole.isel(x_c=slice(2, 6), x_f=slice(2, 6))
    with pytest.raises(BadInput, match=r"4 of 8 cells along a periodic direction.*one face more than centres"):
        alike.flow.velocity()
    with pytest.raises(BadInput, match="spectra need all 8 cells along it"):
        alike.flow.spectrum("T", "x")


@pytest.mark.parametrize("part", [
    {"z_c": slice(None, None, 2), "z_f": slice(None, None, 2)}, {"z_c": slice(2, 6)}, {"x_c": slice(2, 6)},
])  # fmt: skip
def test_faces_that_are_not_those_of_the_cells_are_refused(warm, part):
    """Of every other cell the difference of its faces was taken over half their distance."""
    with pytest.raises(BadInput, match="which do not surround these cells; select one face more"):
        dataset(warm / "fields.zarr").isel(part).flow.q_criterion()


def test_lambda2_of_a_solid_rotation_is_minus_the_square_of_its_rate(tmp_path):
    for axis, (one, other) in enumerate(((1, 2), (2, 0), (0, 1))):
        matrix = np.zeros((3, 3))
        matrix[one, other], matrix[other, one] = -1.7, 1.7
        ds = stored(tmp_path / "xyz"[axis], edges=STRETCHED, **linear(matrix))
        np.testing.assert_allclose(ds.flow.lambda2(), -(1.7**2), rtol=0, atol=1e-12)
        xr.testing.assert_identical(ds.flow.field("lambda2"), ds.flow.lambda2())


def test_lambda2_of_a_stretched_vortex_is_of_second_order(tmp_path):
    """J. M. Burgers 1948, Adv. Appl. Mech. 1, 171: u_theta = (1 - exp(-r^2)) / r in a strain that gathers it."""

    def swirl(x, y):
        square = np.maximum(x**2 + y**2, 1e-30)
        return -np.expm1(-square) / square  # over r

    def gradient(x, y):
        square, h = np.maximum(x**2 + y**2, 1e-30), swirl(x, y)
        slope = (np.exp(-square) - h) / square * 2  # dh/dr over r
        zero = np.zeros_like(x)
        return np.stack([
            np.stack([-STRAIN / 2 - y * x * slope, -h - y * y * slope, zero], -1),
            np.stack([h + x * x * slope, -STRAIN / 2 + x * y * slope, zero], -1),
            np.stack([zero, zero, zero + STRAIN], -1),
        ], -2)  # fmt: skip

    errors = []
    for cells in (24, 48):
        ds = stored(
            tmp_path / str(cells), cells=(cells, cells, 3), lengths=(4.0, 4.0, 1.0), v=lambda x, y, z: (
                -STRAIN / 2 * (y - MIDDLE[1]) + (x - MIDDLE[0]) * swirl(x - MIDDLE[0], y - MIDDLE[1])
            ), u=lambda x, y, z: (
                -STRAIN / 2 * (x - MIDDLE[0]) - (y - MIDDLE[1]) * swirl(x - MIDDLE[0], y - MIDDLE[1])
            ), w=lambda x, y, z: STRAIN * z,
        )  # fmt: skip
        y, x = np.meshgrid(ds.y_c - MIDDLE[1], ds.x_c - MIDDLE[0], indexing="ij")
        found = ds.flow.lambda2().isel(time=0, z_c=1).transpose("y_c", "x_c").values
        inside = np.s_[2:-2, 2:-2]
        errors.append(np.abs(found - second_eigenvalue(gradient(x, y)))[inside].max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)
