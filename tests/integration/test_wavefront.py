"""Launches of a flow that lag behind each other through a block: the bits of those that do not."""

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.trace import wavefront

WALLS = {
    "x_min": "wall",
    "x_max": "slip",
    "y": "periodic",
    "z_min": {"type": "wall", "temperature": 1.0},
    "z_max": "wall",
}

PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}



def setup(boundaries, blocks):
    case = Case(
        grid={"cells": [9, 5, 24], "lengths": [1.0, 0.5, 2.0]},
        fluid={"viscosity": 0.01},
        heat={"diffusivity": 0.02, "expansion": 1.0},
        body={"gravity": [0.1, 0.2, -1.0]},
        boundaries=boundaries,
        pressure={"iterations": 9},
        time={"steps": 1},
    )
    return RunSetup(case, blocks)



def fields(boundaries, cache, blocks=(1, 1, 1), overlap="none"):
    """All fields after three steps, and the operations of the last step."""
    made = setup(boundaries, blocks)
    rng = np.random.default_rng(1)
    start = {name: rng.random(made.grid.box.shape[::-1]) for name in ("u", "v", "w", "T", "p")}

    def job(shard):
        shard.write({name: values[shard.cells.slices((0, 0, 0))] for name, values in start.items()})
        shard.run(made.model.start, dt=1.0)
        for ratio in (0.0, 1.0, 1.0):
            shard.run(made.model.step, dt=1e-3, ratio=ratio)
        return {name: shard.read(name) for name in made.model.fields}, len(shard.traces[-1].operations)

    shares = run_threads(made.partition, job, cpu(1), Mapper(overlap, cache))
    names = made.model.fields
    return {name: np.concatenate([share[name] for share, _ in shares]) for name in names}, shares[0][1]



@pytest.mark.fast(
    "boundaries0-20-1-blocks0", "boundaries0-8-200-blocks1", "boundaries1-8-1-blocks1", "boundaries1-20-200-blocks0",
)  # fmt: skip
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
@pytest.mark.parametrize("slab", [1, pytest.param(60, marks=pytest.mark.slow), 200])
@pytest.mark.parametrize("planes", [8, 20])
@pytest.mark.parametrize("boundaries", [WALLS, PERIODIC])
def test_slabs_change_nothing(monkeypatch, boundaries, planes, slab, blocks):
    monkeypatch.setattr(wavefront, "SLAB", slab)
    monkeypatch.setattr(wavefront, "LARGE", 1)
    plane = (9 + 2) * (5 + 2) * 8  # bytes of a field
    plain, launches = fields(boundaries, 0, blocks)
    tiled, operations = fields(boundaries, planes * 3 * plane, blocks)
    for name, values in plain.items():
        np.testing.assert_array_equal(tiled[name], values, err_msg=name)
    if blocks == (1, 1, 1) and slab == 1 and boundaries is WALLS:
        assert operations > 3 * launches



def test_a_block_that_fits_into_the_cache_is_not_cut():
    assert fields(WALLS, 1 << 30)[1] == fields(WALLS, 0)[1]

