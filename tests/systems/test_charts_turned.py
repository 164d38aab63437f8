"""The flow on charts that are turned by each of the 24 rotations is that on charts that are not."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.geometry.grids import shape
from taskflow.output import tree
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import ROTATIONS
from taskflow.systems.artificial_compressibility.references import reference_length, steepest
from tests.cases.on_charts import CYLINDER, case
from tests.runs.going_on import go

STEPS, NAMES = 100, ("p", "u", "v", "w", "T")
SIDES = {
    "x_min": {"type": "inflow", "velocity": ["1 + y", 0.1, "0.2*z"]}, "x_max": {"type": "outflow", "pressure": 0.0},
    "y_min": {"type": "wall", "temperature": 1.0}, "y_max": {"type": "wall", "velocity": [0.5, 0.0, "x"]},
    "z_min": "slip", "z_max": {"type": "far-field", "velocity": [1.0, 0.2, 0.0]},
}  # fmt: skip
BOX: dict[str, Any] = {"shape": "box", "lengths": [1.0, 1.2, 0.9], "distortion": 0.05}
ALONE, MANY = {**BOX, "cells": [6, 5, 4]}, {**BOX, "cells": [12, 12, 12], "charts": [3, 3, 3]}


def flow(grid: dict[str, Any]) -> Case:
    """A warm stream past a wall and a moving one, with a side of each kind."""
    return Case(
        grid=grid, fluid={"viscosity": 0.02}, heat={"diffusivity": 0.02, "expansion": 1.0},
        body={"gravity": [0.0, -1.0, 0.0]}, boundaries=SIDES, initial={"velocity": [1.0, 0.0, 0.0]},
        method={"type": "artificial-compressibility"}, time={"steady": 1e-12, "steps": STEPS},
        output={"every": {"steps": STEPS}, "precision": "double"}, monitor={"every": {"steps": STEPS}},
        machine={"device": "cpu"},
    )  # fmt: skip


def drawn(seed: int, charts: int) -> list[int]:
    """By which of the rotations `turned` turns so many charts."""
    random = np.random.default_rng(seed)
    return [int(random.integers(len(ROTATIONS))) for _ in range(charts)]


@cache
def alone() -> dict[int, int]:
    """By rotation, a seed that turns a single chart by it."""
    return {rotation: seed for seed in reversed(range(106)) for rotation in drawn(seed, 1)}


def cells(folder: Any, grid: dict[str, Any], blocks: tuple[int, int, int] = (1, 1, 1)) -> np.ndarray:
    """Of each cell its centre and the state after STEPS, [cell, value], in the order of centres."""
    go(flow(grid), folder, blocks)
    charts = tree(folder / "fields.zarr")["charts"].children.values()
    names = ("x_c", "y_c", "z_c", *NAMES)
    rows = np.concatenate([
        np.stack([chart[name].isel(time=-1, missing_dims="ignore").values.ravel() for name in names], axis=1)
        for chart in charts
    ])  # fmt: skip
    return rows[np.lexsort(np.round(rows[:, :3], 9).T)]


def assert_agree(turned: np.ndarray, upright: np.ndarray) -> None:
    """S3: to 1e-12 of the largest value of each field."""
    largest = abs(upright).max(axis=0)
    assert largest.min() > 0.1
    np.testing.assert_array_less(abs(turned - upright).max(axis=0), 1e-12 * largest)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_charts_turned_by_all_rotations_in_one_grid(tmp_path):
    """27 charts; seeds 0 and 8 turn some of them by each rotation."""
    upright = cells(tmp_path / "upright", MANY)
    for seed in (0, 8):
        assert_agree(cells(tmp_path / f"{seed}", {**MANY, "turned": True, "seed": seed}), upright)
    assert set(drawn(0, 27)) | set(drawn(8, 27)) == set(range(24))


@pytest.mark.slow
def test_a_chart_turned_by_each_rotation(tmp_path):
    """A single one, so that every kind of side lies on every face of it."""
    upright = cells(tmp_path / "upright", ALONE)
    for rotation, seed in alone().items():
        grid = {**ALONE, "turned": True, "seed": seed}
        assert_agree(cells(tmp_path / f"{rotation}", grid), upright)


def test_two_dimensions_are_so_whatever_the_turn():
    """Forces are per length along z, and lengths and steps of reference across it."""
    grid = {**BOX, "cells": [8, 5, 1], "lengths": [1.0, 0.1, 0.3], "charts": [2, 1, 1]}
    upright = steepest(RunSetup(flow(grid), (1, 1, 1)).system.domain)
    for turn in ({}, {"turned": True, "seed": 1}):
        system = RunSetup(flow({**grid, **turn}), (1, 1, 1)).system
        assert system.domain.planar
        assert (system.measures.span, reference_length(system.domain)) == pytest.approx((0.3, 0.1))
        assert steepest(system.domain) == pytest.approx(upright, rel=1e-12)


@pytest.mark.slow
def test_a_chart_that_the_user_cuts(tmp_path):
    """S2: to the bit, as the arithmetic is the same."""
    grid = {**BOX, "cells": [8, 9, 4]}
    cut = cells(tmp_path / "cut", {**grid, "charts": [2, 2, 1]}, (1, 1, 2))
    np.testing.assert_array_equal(cut, cells(tmp_path / "whole", grid))


@pytest.mark.slow
@pytest.mark.parametrize(
    "grid",
    [
        {**BOX, "cells": [16, 16, 16], "distortion": 0.1},
        {**BOX, "cells": [16, 16, 16], "distortion": 0.1, "charts": [2, 2, 2], "turned": True},
        {"shape": "pipe", "cells": [8, 8, 16], "radius": 0.5, "length": 2.0},
    ],
    ids=["distorted", "turned", "butterfly"],
)
def test_a_free_stream_is_kept(tmp_path, grid):
    """V1: it is still the same after 50 steps."""
    stream = [1.0, 0.3, -0.2]
    keys = {key: value for key, value in grid.items() if key != "shape"}
    sides = {side: {"type": "far-field", "velocity": stream} for side in shape(grid["shape"], keys).grid().sides}
    begun = {"grid": grid, "boundaries": sides, "initial": {"velocity": stream}}
    go(case({**CYLINDER, **begun}, time__steps=50, output__every={"steps": 50}), tmp_path / "run")
    for chart in tree(tmp_path / "run" / "fields.zarr")["charts"].children.values():
        for name, value in zip("puvw", (0.0, *stream), strict=True):
            np.testing.assert_allclose(chart[name].isel(time=-1).values, value, rtol=0, atol=1e-12, err_msg=name)
