"""`ds.flow`: exact for flows known exactly, as the log and NumPy have it, and lazy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output import BlockStore, Layout, compare_profiles, create, dataset, read_log
from taskflow.regions import Box
from tests.simulation.going_on import go
from tests.simulation.test_restart import stirred

CELLS, LENGTHS, ORIGIN = (6, 5, 7), (1.5, 1.0, 2.1), (0.2, -0.4, 0.0)
WALLS, PERIODIC = (False, False, False), (True, True, True)


STRETCHED = (None, None, (0.0, 0.1, 0.3, 0.7, 1.3, 1.8, 2.0, 2.1))


def stored(
    path: Path, periodic=WALLS, cells=CELLS, lengths=LENGTHS, edges=(None, None, None), *, case="", solid=None,
    **functions: Callable,
) -> xr.Dataset:  # fmt: skip
    """A store with one snapshot of functions of x, y, z at the places of each field, and bodies where `solid` is not 0,
    [z, y, x].
    """
    grid = {"cells": cells, "lengths": lengths, "origin": ORIGIN, "edges": edges, "periodic": periodic}
    layout = Layout(**grid, fields=tuple(functions), precision="double")
    mask = None if solid is None else lambda box: solid[box.slices((0, 0, 0))]
    store = create(path / "fields.zarr", layout, {"case": case}, mask)
    values = {}
    for name, function in functions.items():
        z, y, x = np.meshgrid(*(layout.coordinate(dim) for dim in layout.dims(name)), indexing="ij")
        values[name] = np.broadcast_to(function(x, y, z), x.shape)
    BlockStore(path / "fields.zarr", Box.of(cells)).write(0, values)
    store.commit(0, 0.5)
    store.finish()
    return dataset(path / "fields.zarr")


def linear(matrix) -> dict[str, Callable]:
    """The velocity with this constant gradient [component, axis]."""
    return {
        name: lambda x, y, z, row=row: row[0] * x + row[1] * y + row[2] * z
        for name, row in zip("uvw", matrix, strict=True)
    }


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


def test_derivatives_go_round_periodic_directions(tmp_path):
    """Of second order: a quarter of the error with half the spacing, in all cells."""
    errors = []
    for cells in (16, 32):
        ds = stored(
            tmp_path / str(cells), PERIODIC, (cells, cells, 1), (2 * np.pi, 2 * np.pi, 1.0),
            u=lambda x, y, z: -np.cos(x) * np.sin(y), v=lambda x, y, z: np.sin(x) * np.cos(y), w=lambda x, y, z: 0 * z,
        )  # fmt: skip
        found = ds.flow.vorticity()["vorticity_z"].isel(time=0, z_c=0)
        expected = 2 * np.cos(ds.x_c) * np.cos(ds.y_c)
        errors.append(float(np.abs(found - expected).max()))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("edges", [(None, None, None), STRETCHED], ids=["uniform", "stretched"])
@pytest.mark.parametrize("upwards", [True, False])
def test_derivatives_are_one_sided_at_bodies(edges, upwards, tmp_path):
    """Of a shear flow above, or below, a body that takes two layers of cells: exact beside it, nothing in it."""
    layout = Layout(cells=CELLS, lengths=LENGTHS, origin=ORIGIN, edges=edges)
    body = slice(0, 2) if upwards else slice(-2, None)
    surface, solid = layout.coordinate("z_f")[2 if upwards else -3], np.zeros(CELLS[::-1])
    solid[body] = 1

    def shear(x, y, z):
        return np.where((z > surface) == upwards, 3 * (z - surface), 0.0)

    ds = stored(tmp_path, edges=edges, solid=solid, u=shear, v=lambda x, y, z: 0 * x, w=lambda x, y, z: 0 * x)
    vorticity, q = ds.flow.vorticity().load(), ds.flow.q_criterion().load()
    for found, expected in ((vorticity.vorticity_y, 3.0), (vorticity.vorticity_z, 0.0), (q, 0.0)):
        assert found.dims == ("time", "z_c", "y_c", "x_c")
        np.testing.assert_array_equal(found.isnull()[0], solid == 1)
        np.testing.assert_allclose(found.where(ds.solid == 0).to_numpy()[0][solid == 0], expected, rtol=0, atol=1e-12)


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
        found = ds.flow.vorticity().vorticity_z.load()[0, 0, 0]  # dv/dx
        x, h = ds.x_c.values, 0.25
        assert found.isnull().values.tolist() == [False, True, False, True, False, False]
        assert found[2] == pytest.approx(0.0, abs=1e-14)
        assert found[4] == pytest.approx((x[5] + x[4]) / (2 * h))
        first = (-x[0] - x[0]) / h if name == "walls" else (-x[0] - x[5]) / (2 * h)
        assert found[0] == pytest.approx(first)


def test_walls_have_no_shear_where_bodies_stand_on_them(tmp_path):
    solid = np.zeros(CELLS[::-1])
    solid[:2, :, 3] = 1
    case = '[fluid]\nviscosity = 0.1\n[heat]\n[boundaries.z_min]\ntype = "wall"\ntemperature = 1.0\n'
    case += '[boundaries.z_max]\ntype = "wall"\ntemperature = 0.0\n'
    ds = stored(tmp_path, case=case, solid=solid, T=lambda x, y, z: 1 - z / 2.1, **linear(np.eye(3)[[2, 0, 1]]))
    for found in (ds.flow.wall_shear("z_min").shear_x, ds.flow.nusselt("z_min")):
        np.testing.assert_array_equal(found.isnull()[0], solid[0] == 1)
    np.testing.assert_allclose(ds.flow.wall_shear("z_min").shear_x[0].to_numpy()[solid[0] == 0], 0.1)
    np.testing.assert_allclose(ds.flow.nusselt("z_min")[0].to_numpy()[solid[0] == 0], 1.0)
    assert ds.flow.nusselt("z_max").notnull().all()


def test_all_is_lazy_and_cut_into_pieces(tmp_path, monkeypatch):
    """A store of which no field fits into a piece."""
    flow = stored(tmp_path, **linear(np.eye(3)), p=lambda x, y, z: x * y + z).flow
    whole = [flow.velocity().load(), flow.vorticity().load(), flow.q_criterion().load(), flow.plane("y").load()]
    import dask

    with dask.config.set({"array.chunk-size": "800B"}):
        pieces = [flow.velocity(), flow.vorticity(), flow.q_criterion(), flow.plane("y")]
        for each, expected in zip(pieces, whole, strict=True):
            fields = each.data_vars.values() if isinstance(each, xr.Dataset) else [each]
            assert all(len(field.chunks[1]) > 1 for field in fields)
            xr.testing.assert_allclose(each, expected, rtol=0, atol=1e-14)


def test_a_plane_lies_between_the_values_on_both_sides(tmp_path):
    matrix = [[0.3, 0.7, -0.4], [-0.2, 0.5, 1.1], [0.9, 0.6, -0.8]]
    ds = stored(tmp_path, **linear(matrix), p=lambda x, y, z: x - y + 2 * z).flow.plane("y=0.13").load()
    assert ds.y == 0.13
    assert ds.p.dims == ("time", "z_c", "x_c")
    expected = ds.x_c - 0.13 + 2 * ds.z_c
    np.testing.assert_allclose(ds.p[0], expected.transpose("z_c", "x_c"), rtol=0, atol=1e-13)
    stretched = stored(tmp_path / "stretched", edges=STRETCHED, **linear(matrix)).flow
    found = stretched.plane("z=1.5").load()
    for name, row in zip("uvw", matrix, strict=True):
        expected = row[0] * found.x_c + row[1] * found.y_c + row[2] * 1.5
        np.testing.assert_allclose(found[name][0], expected.transpose("y_c", "x_c"), rtol=0, atol=1e-13)
    assert stretched.streamlines("y").axes[0].collections
    np.testing.assert_allclose(ds.v[0], (-0.2 * ds.x_c + 0.5 * 0.13 + 1.1 * ds.z_c).transpose("z_c", "x_c"),
                               rtol=0, atol=1e-13)  # fmt: skip


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A run with two heated walls."""
    path = tmp_path_factory.mktemp("warm") / "run"
    walls = {
        "x": "periodic", "y": "periodic", "z_min": {"type": "wall", "temperature": 1.5},
        "z_max": {"type": "wall", "temperature": 0.5, "velocity": [0.4, 0.0, 0.0]},
    }  # fmt: skip
    output = {"fields": ["u", "v", "w", "T"], "precision": "double"}
    grid = {"cells": [8, 5, 9], "lengths": [1.0, 0.7, 1.3], "stretching": {"z": {"tanh": 1.5}}}
    probe = {"name": "here", "points": [[0.3, 0.3, 0.05]], "fields": ["T"]}
    plane = {"name": "layer", "z": 0.1, "every": {"steps": 9}, "fields": ["w", "T"]}
    statistics = {"every": {"steps": 9}, "fields": ["u", "v", "w"]}
    tables = {"statistics": statistics, "probes": [probe], "planes": [plane]}
    go(stirred(grid=grid, boundaries=walls, output=output, monitor={"every": {"steps": 9}}, **tables), path)
    return path


@pytest.mark.parametrize("face", ["z_min", "z_max"])
def test_nusselt_numbers_are_those_of_the_log(face, warm):
    found = dataset(warm / "fields.zarr").flow.nusselt(face)
    assert found.dims == ("time", "y_c", "x_c")
    log = read_log(warm / "log.jsonl")[-1]
    assert float(found[-1].mean()) == pytest.approx(log[f"nusselt_{face}"], rel=1e-12)


def test_shear_is_that_of_the_equations(warm):
    ds = dataset(warm / "fields.zarr")
    shear = ds.flow.wall_shear("z_max")
    inside = (ds.u[-1, -1] + ds.u[-1, -1].roll(x_f=-1)) / 2
    np.testing.assert_allclose(shear.shear_x[-1], 0.01 * (inside - 0.4) / (1.3 - ds.z_c[-1]), rtol=1e-12)
    assert set(shear.data_vars) == {"shear_x", "shear_y"}


@pytest.mark.parametrize(("asked", "told"), [
    (lambda flow: flow.wall_shear("x_min"), "choose one of z_min, z_max"),
    (lambda flow: flow.nusselt("up"), "there is no wall"),
    (lambda flow: flow.spectrum("u", "z"), "spectra are along periodic directions; this run has x, y"),
    (lambda flow: flow.energy_spectrum(), "choose one, as ds.isel"),
    (lambda flow: flow.profiles("z"), "these are no statistics"),
    (lambda flow: flow.spectrum("p", "x"), "there is no p in this dataset"),
])  # fmt: skip
def test_what_is_not_there_is_told(asked, told, warm):
    with pytest.raises(BadInput, match=told):
        asked(dataset(warm / "fields.zarr").flow)


def test_spectra_have_the_energy_of_the_waves(tmp_path):
    """A wave where it belongs; the integral is the mean square of what varies, for odd and even numbers of cells."""
    for cells in (7, 8):
        numbers = np.random.default_rng(3).standard_normal((2, 3, cells))
        ds = stored(tmp_path / f"{cells}", PERIODIC, (cells, 3, 2), (2.0, 1.0, 1.0), u=lambda x, y, z, q=numbers: q,
                    v=lambda x, y, z: 3 * np.sin(2 * np.pi * x))  # fmt: skip
        found = ds.flow.spectrum("u", "x").isel(time=0)
        step = 2 * np.pi / 2.0
        assert float(found.sum() * step) == pytest.approx(numbers.var(axis=-1).mean(), rel=1e-12)
        wave = ds.flow.spectrum("v", "x").isel(time=0)
        np.testing.assert_allclose(wave * step, np.where(np.isclose(wave.k, 2 * np.pi), 4.5, 0.0), rtol=0, atol=1e-12)


def test_the_energy_spectrum_adds_up(tmp_path):
    numbers = np.random.default_rng(4).standard_normal((3, 4, 5, 6))
    fields = {name: lambda x, y, z, q=q: q - q.mean() for name, q in zip("uvw", numbers, strict=True)}
    found = stored(tmp_path, PERIODIC, (6, 5, 4), (1.0, 2.0, 1.0), **fields).isel(time=0).flow.energy_spectrum()
    assert found.k[0].item() == pytest.approx(np.pi)
    assert float(found.sum() * np.pi) == pytest.approx(0.5 * numbers.var(axis=(1, 2, 3)).sum(), rel=1e-12)


def test_comparison_with_a_table(warm, tmp_path):
    """As `taskflow plot --profiles` compares."""
    (tmp_path / "table.csv").write_text("y,u\n0.3,0.1\n0.9,0.2\n")
    table = tmp_path / "table.csv"
    found = dataset(warm / "fields.zarr").flow.compare(table, "y")
    assert found == compare_profiles(warm, [table], "y")[table]
    assert found > 0


def test_what_was_recorded_beside_snapshots_lies_on_the_same_cells(warm):
    """Statistics, planes and probes of a stretched grid."""
    ds, store = dataset(warm / "fields.zarr").load(), warm / "fields.zarr"
    mean, layer = dataset(store, "statistics"), dataset(store, "layer").load()
    np.testing.assert_array_equal(mean.mean_u[0], ds.flow.velocity().u[-1])
    assert mean.flow.profiles("z").mean_u.sizes["z_c"] == 9
    index = int(np.abs(ds.z_c.values - 0.1).argmin())
    np.testing.assert_array_equal(layer["T"][-1, 0], ds["T"][-1, index])
    np.testing.assert_array_equal([layer.z_f[0], layer.z_c[0]], [ds.z_f[index], ds.z_c[index]])
    beside = ds["T"][0].interp(x_c=0.3, y_c=0.3, z_c=0.05)
    assert dataset(store, "here")["T"][0, 0].item() == pytest.approx(float(beside), rel=1e-13)


def test_streamlines_are_drawn(warm):
    figure = dataset(warm / "fields.zarr").flow.streamlines("y")
    assert figure.axes[0].collections
