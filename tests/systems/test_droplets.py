"""Connected parts of a phase on blocks: as in a snapshot of all cells, with the same bits for any blocks."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy import ndimage

from taskflow.analysis.droplets import droplets
from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies.flags import ITSELF
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.systems.two_phase.droplets import LARGEST, Droplets

CELLS = (18, 13, 16)
AROUND = (True, True, True)


def blobs(cells=CELLS, seed=3, size=1.2) -> np.ndarray:
    """Shares [z, y, x] of many parts that touch all sides, with mixed cells."""
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=cells[::-1]), size, mode="wrap")
    return np.clip(0.5 + 1.5 * (noise / noise.std() - 0.8), 0.0, 1.0)


def slab() -> np.ndarray:
    """A solid layer that cuts parts."""
    solid = np.zeros(CELLS[::-1], np.uint8)
    solid[7:9, 2:, :] = ITSELF
    return solid


def numbers(f, blocks=(1, 1, 1), phase=1, around=AROUND, solid=None, at=None) -> list[float]:
    cells = f.shape[::-1]
    space = FieldSpace([Field("f", "f8"), Field("solid", "u1")])
    partition = Partition(Region(Box.of(cells), space, around), blocks, at=at)
    lengths = tuple(n * 0.1 for n in cells)
    measured = Droplets(StaggeredGrid(cells, lengths, periodic=around), phase, solid is not None)

    def job(shard):
        own = tuple(map(slice, shard.cells.lo[::-1], shard.cells.hi[::-1]))
        shard.write({"f": f[own]} | ({} if solid is None else {"solid": solid[own]}))
        return measured.numbers(shard)

    first, *others = run_threads(partition, job, cpu(1))
    for other in others:
        np.testing.assert_array_equal(first, other)
    return first


def snapshot(f, around=AROUND, solid=None) -> xr.Dataset:
    coords = {}
    for axis, n, periodic in zip("xyz", f.shape[::-1], around, strict=True):
        coords |= {f"{axis}_c": (np.arange(n) + 0.5) * 0.1, f"{axis}_f": np.arange(n + (not periodic)) * 0.1}
    fields = {"f": (("z_c", "y_c", "x_c"), f)} | ({} if solid is None else {"solid": (("z_c", "y_c", "x_c"), solid)})
    return xr.Dataset(fields, coords)


@pytest.mark.parametrize("around", [AROUND, (True, False, False), (False, True, True), (False, False, False)])
@pytest.mark.parametrize("phase", [1, 2])
@pytest.mark.parametrize("solid", [None, slab()], ids=["", "body"])
def test_parts_are_those_of_a_snapshot(phase, around, solid):
    parts = droplets(snapshot(blobs(), around, solid), phase)
    count, sauter, *volumes = numbers(blobs(), (2, 2, 3), phase, around, solid)
    largest = np.full(LARGEST, np.nan)
    largest[: parts.sizes["droplet"]] = parts.volume.values[:LARGEST]
    assert count == parts.sizes["droplet"] > 0
    np.testing.assert_allclose(volumes, largest, rtol=1e-13)
    d = np.cbrt(6 * parts.volume.values / np.pi)
    assert sauter == pytest.approx((d**3).sum() / (d**2).sum(), rel=1e-13)


@pytest.mark.parametrize(("blocks", "at"), [
    ((2, 1, 2), None), ((2, 2, 1), None), ((1, 3, 2), None), ((3, 2, 3), None), ((18, 1, 1), None),
    ((2, 2, 2), ((0, 1, 18), (0, 11, 13), (0, 7, 16))),
])  # fmt: skip
@pytest.mark.parametrize("phase", [1, 2])
def test_the_bits_do_not_depend_on_blocks(blocks, at, phase):
    for seed in range(3):
        f = blobs(seed=seed)
        np.testing.assert_array_equal(numbers(f, blocks, phase, at=at), numbers(f, phase=phase))


def test_in_two_dimensions_diameters_are_of_circles():
    f = np.zeros((12, 1, 12))
    f[1:3, 0, 1:3] = f[6:10, 0, 6:10] = 1.0
    count, sauter, *volumes = numbers(f, (2, 1, 2))
    d = np.sqrt(4 * np.array([0.16, 0.04]) / np.pi)
    assert (count, volumes[:2]) == (2, pytest.approx([0.016, 0.004]))
    assert sauter == pytest.approx((d**3).sum() / (d**2).sum())


def test_without_a_part_there_is_no_diameter():
    count, *others = numbers(np.zeros(CELLS[::-1]), (1, 2, 1))
    assert count == 0
    assert np.isnan(others).all()
