"""What the tests of the analysis share: stores of flows known exactly, and a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from taskflow.output import BlockStore, StoreLayout, create, dataset
from tests.output.conftest import described, layout_of, written  # noqa: F401
from tests.runs.going_on import go
from tests.runs.test_restart import stirred

CELLS, LENGTHS, ORIGIN = (6, 5, 7), (1.5, 1.0, 2.1), (0.2, -0.4, 0.0)
WALLS, PERIODIC = (False, False, False), (True, True, True)
STRETCHED = (None, None, (0.0, 0.1, 0.3, 0.7, 1.3, 1.8, 2.0, 2.1))


def stored(
    path: Path, periodic=WALLS, cells=CELLS, lengths=LENGTHS, edges=(None, None, None), *, case="", solid=None,
    metadata=described, **functions: Callable,
) -> xr.Dataset:  # fmt: skip
    """A store with one snapshot of functions of x, y, z at the places of each field, and bodies where `solid` is not 0,
    [z, y, x].
    """
    grid = {"cells": cells, "lengths": lengths, "origin": ORIGIN, "edges": edges, "periodic": periodic}
    layout = StoreLayout(**grid, fields=metadata(functions), precision="double")
    mask = None if solid is None else lambda box: solid[box.slices((0, 0, 0))]
    store = create(path / "fields.zarr", layout, {"case": case}, mask)
    values = {}
    for name, function in functions.items():
        z, y, x = np.meshgrid(*(layout.coordinate(dim) for dim in layout.dims(name)), indexing="ij")
        values[name] = partial(np.broadcast_to, function(x, y, z), x.shape)
    block = BlockStore(path / "fields.zarr", layout.charts, *layout.blocks)
    block.write(0, {part: values[part.field] for part in block.parts})
    store.commit(0, 0.5)
    store.finish()
    return dataset(path / "fields.zarr")


def linear(matrix) -> dict[str, Callable]:
    """The velocity with this constant gradient [component, axis]."""
    return {
        name: lambda x, y, z, row=row: row[0] * x + row[1] * y + row[2] * z
        for name, row in zip("uvw", matrix, strict=True)
    }


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Path]:
    """The folder of a run whose fields are functions of x, y, z at their own points."""

    def make(functions=None, times=(0.0, 1.0), **layout) -> Path:
        functions = functions or {"u": lambda x, y, z: z - 1.0, "v": lambda x, y, z: y, "w": lambda x, y, z: -x,
                                  "p": lambda x, y, z: x * z, "T": lambda x, y, z: x + 10 * y + 100 * z}
        grid = layout_of(fields=tuple(functions), precision="double", **layout)
        path = tmp_path / "run" / "fields.zarr"
        path.parent.mkdir()
        store, block = create(path, grid, {"title": "A test"}), BlockStore(path, grid.charts, *grid.blocks)
        values = {}
        for name, function in functions.items():
            z, y, x = np.meshgrid(*(grid.coordinate(dim) for dim in grid.dims(name)), indexing="ij")
            values[name] = partial(np.add, function(x, y, z), 0.0 * x)
        for index, time in enumerate(times):
            block.write(index, {part: values[part.field] for part in block.parts})
            store.commit(index, time)
        store.finish()
        return path.parent

    return make


@pytest.fixture
def growing(tmp_path):
    """A run directory with three snapshots of a flow that grows, and a log."""
    layout = layout_of((8, 1, 4), periodic=(True, True, True), lengths=(2.0, 0.25, 1.0), origin=(0.0,) * 3, slots=3)
    store = create(tmp_path / "fields.zarr", layout, {"title": "growing"})
    block = BlockStore(tmp_path / "fields.zarr", layout.charts, *layout.blocks)
    for index in range(3):
        rows = np.arange(4.0)[:, None, None] * np.ones((4, 1, 8))
        values = {"u": (index + 1) * rows, "v": 0 * rows, "w": 0 * rows, "p": rows - 1.5}
        block.write(index, {part: partial(np.asarray, values[part.field]) for part in block.parts})
        store.commit(index, float(index))
    lines = ({"step": n, "time": n / 10, "dt": 0.1, "residual": 10.0**-n, "kinetic_energy": n} for n in range(5))
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


@pytest.fixture(scope="session")
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
