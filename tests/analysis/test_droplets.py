"""Connected parts of a phase: numbers of each, across periodic sides, the same for all layers read at a time."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.analysis.droplets import droplets
from taskflow.common.errors import BadInput

CELLS, H = (32, 24, 40), 1 / 32
LENGTHS = tuple(n * H for n in CELLS)
VOLUME = 4 / 3 * np.pi


def snapshot(*balls, around=(True, True, True), smooth=1.5, velocity=(1.0, 0.0, 0.5)) -> xr.Dataset:
    """Balls (x, y, z, radius), repeated beyond periodic sides, as smoothed steps."""
    coords, images = {}, []
    for axis, n in zip("xyz", CELLS, strict=True):
        coords[f"{axis}_c"] = (np.arange(n) + 0.5) * H
        coords[f"{axis}_f"] = np.arange(n + (not around["xyz".index(axis)])) * H
    z, y, x = np.meshgrid(*(coords[f"{axis}_c"] for axis in "zyx"), indexing="ij")
    for *centre, radius in balls:
        away = []
        for q, at, length, periodic in zip((x, y, z), centre, LENGTHS, around, strict=True):
            way = q - at
            away.append(way - length * np.round(way / length) if periodic else way)
        images.append(radius - np.sqrt(sum(way**2 for way in away)))
    phi = np.clip(np.maximum.reduce(images) / (smooth * H), -1, 1)
    fields = {"f": (("z_c", "y_c", "x_c"), (1 + phi + np.sin(np.pi * phi) / np.pi) / 2)}
    for name, axis, value in zip("uvw", "xyz", velocity, strict=True):
        dims = tuple(f"{a}_{'f' if a == axis else 'c'}" for a in "zyx")
        fields[name] = dims, np.full([len(coords[dim]) for dim in dims], value)
    return xr.Dataset(fields, coords)


BALLS = (0.5, 0.4, 0.6, 0.2), (0.0, 0.0, 0.0, 0.17), (0.9, 0.4, 1.1, 0.08)


@pytest.mark.parametrize("layers", [None, 1, 2, 7, 16, 39])
def test_droplets_have_their_numbers_across_periodic_sides(layers):
    found = droplets(snapshot(*BALLS), layers=layers)
    assert found.sizes["droplet"] == 3
    for n, (*centre, radius) in enumerate(BALLS):
        one = found.isel(droplet=n)
        smoothed = 1 + 3 * (1 / 3 - 2 / np.pi**2) * (1.5 * H / radius) ** 2
        assert float(one.volume) == pytest.approx(VOLUME * radius**3 * smoothed, rel=0.01)
        for axis, at, length in zip("xyz", centre, LENGTHS, strict=True):
            assert float(one[f"centre_{axis}"]) == pytest.approx(at, abs=2e-3 * length)
            ends = [float(one[f"extent_{axis}_{end}"]) for end in ("min", "max")]
            assert ends == pytest.approx([at - radius, at + radius], abs=H)
        assert [float(one[f"velocity_{axis}"]) for axis in "xyz"] == pytest.approx([1.0, 0.0, 0.5])


@pytest.mark.parametrize("layers", [1, 3, 40])
def test_all_layers_give_the_same_and_keep_the_sum(layers):
    ds = snapshot(*BALLS)
    found, whole = droplets(ds, layers=layers), droplets(ds)
    xr.testing.assert_allclose(found, whole, rtol=1e-12, atol=1e-12)
    assert float(found.volume.sum()) == pytest.approx(float(ds.f.sum()) * H**3, rel=1e-9)


@pytest.mark.parametrize("layers", [1, 2, 3, 5])
def test_drops_whose_mixed_cells_touch_are_two(layers):
    """At whatever layer they are cut."""
    for shift in range(5):
        at = 0.4 + shift * H
        ds = snapshot((0.5, 0.4, at, 0.15), (0.5, 0.4, at + 0.3 + 2.2 * H, 0.15))
        found = droplets(ds, layers=layers)
        assert found.sizes["droplet"] == 2
        xr.testing.assert_allclose(found, droplets(ds), rtol=1e-12, atol=1e-12)


def test_between_walls_a_drop_is_cut():
    """Parts at opposite walls are two."""
    balls = (0.0, 0.4, 0.6, 0.2), (1.0, 0.4, 0.6, 0.2)
    assert droplets(snapshot(*balls, around=(False, True, True))).sizes["droplet"] == 2
    assert droplets(snapshot(*balls)).sizes["droplet"] == 1


@pytest.mark.parametrize("layers", [1, 6, 40])
def test_what_goes_round_the_domain_has_no_centre(layers):
    outside = droplets(snapshot(*BALLS), phase=2, layers=layers)
    assert outside.sizes["droplet"] == 1
    assert np.isnan(float(outside.centre_x[0]))
    assert float(outside.extent_z_max[0]) == pytest.approx(LENGTHS[2])
    total = np.prod(LENGTHS) - float(droplets(snapshot(*BALLS)).volume.sum())
    assert float(outside.volume[0]) == pytest.approx(total, rel=1e-9)


def test_cells_in_bodies_have_no_share():
    ds = snapshot((0.5, 0.4, 0.6, 0.2), velocity=(0, 0, 0))
    solid = xr.zeros_like(ds.f).where(ds.z_c < 0.6, 1).astype("i1")
    below, whole = droplets(ds.assign(solid=solid)), droplets(ds)
    assert float(below.volume[0]) == pytest.approx(float(whole.volume[0]) / 2, rel=0.15)


def test_nothing_is_found_in_a_phase_that_is_not_there():
    ds = snapshot((0.5, 0.4, 0.6, 0.2))
    found = droplets(ds.assign(f=ds.f * 0))
    assert found.sizes["droplet"] == 0
    assert set(found.data_vars) == set(droplets(ds).data_vars)


@pytest.mark.parametrize(("change", "words"), [
    (lambda ds: (ds.drop_vars("f"), 1), "there is no f, the share of phase 1"),
    (lambda ds: (ds, 3), "phase = 3: give 1 or 2"),
    (lambda ds: (ds.expand_dims(time=[0.0, 1.0]), 1), "the dataset has 2 snapshots"),
])  # fmt: skip
def test_bad_input(change, words):
    ds, phase = change(snapshot((0.5, 0.4, 0.6, 0.2)))
    with pytest.raises(BadInput, match=words):
        droplets(ds, phase)
