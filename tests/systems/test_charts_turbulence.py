"""Eddies on charts in real time: what snapshots and the log have, the same bits for any blocks and after any break, and
on turned charts to rounding.
"""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.common.rows import Row
from taskflow.flow.grid.curvilinear import metrics
from taskflow.output import read_log, tree
from taskflow.output.store.reading import charts
from taskflow.runs.state.setup import RunSetup
from tests.cases.on_charts import case, changed
from tests.reference import charts_turbulence as by_numpy
from tests.reference.artificial_compressibility import LAYERS, Discretisation
from tests.runs.going_on import go
from tests.runs.test_charts_real_time import PITCHING, SLIDING, WARM, assert_blocks_and_a_break

WALE, SMAGORINSKY, VREMAN = (
    {"turbulence": {"model": "wale"}},
    {"turbulence": {"model": "smagorinsky", "constant": 0.3, "damping": "none"}},
    {"turbulence": {"model": "vreman", "prandtl": 0.4}},
)
SWIRLING = ["0.3 + 0.4*sin(6*y)*cos(5*z)", "0.3*cos(5*x)*sin(4*z)", "0.4*sin(4*x + 3*y)"]
EDDYING = changed(SLIDING, initial={"velocity": SWIRLING}, **SMAGORINSKY)
HEATED = changed(
    PITCHING, heat={"diffusivity": 0.05, "expansion": 0.1}, body={"gravity": [0.0, -1.0, 0.0]},
    boundaries__body={"type": "wall", "temperature": 1.0}, **WALE,
)  # fmt: skip


def inner(q: np.ndarray) -> np.ndarray:
    """What a field has in the cells that `gradient` is of."""
    within = slice(LAYERS, -LAYERS)
    return q[..., within, within, within]


@pytest.mark.slow
def test_snapshots_and_log_have_the_eddy_viscosity(tmp_path):
    """At the beginning that of the velocity there; it is told by `taskflow check`, too."""
    tables = changed(EDDYING, grid={**SLIDING["grid"], "cells": [10, 9, 8], "charts": [1, 1, 1]}, time__steps=1)
    path = tmp_path / "run"
    go(case(tables, method__inner={"iterations": 10}), path)
    _, chart = next(charts(tree(path / "fields.zarr").load()))
    first = chart.isel(time=0)
    values = np.moveaxis(metrics(tuple(first[axis].values for axis in "xyz")), 2, 0)
    areas, volumes = values[:9].reshape(3, 3, *values.shape[1:]), values[9]
    g = by_numpy.gradient(np.stack([first[n].values for n in "uvw"]), areas, volumes, Discretisation(0.05, 1.0))
    expected = by_numpy.smagorinsky(g, inner(volumes), 0.3)
    np.testing.assert_allclose(inner(first["nu_t"].values), expected, rtol=1e-10)
    assert first["nu_t"].attrs["long_name"] == "eddy viscosity"
    logged = [line["eddy_viscosity"] for line in read_log(path / "log.jsonl")]
    assert logged == [pytest.approx(float(chart["nu_t"].isel(time=n).max()), rel=1e-12) for n in range(2)]
    sim = RunSetup(case(tables), (1, 1, 1))
    assert Row("eddies", "Smagorinsky, constant 0.3") in [*sim.system.rows(sim.step_cost)]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("tables", "cuts"), [
    (EDDYING, {"4": [1, 1, 2]}), (HEATED, {"1": [2, 1, 1], "2": [1, 2, 1]}),
    (changed(WARM, **VREMAN), {"2": [1, 2, 2]}),
    (changed(WARM, **SMAGORINSKY, method__march="implicit", grid__cells=[10, 12, 6]), {"2": [1, 2, 1]}),
])  # fmt: skip
def test_eddies_have_the_same_bits_for_any_blocks_and_go_on_after_a_break(tmp_path, tables, cuts):
    assert_blocks_and_a_break(tmp_path, changed(tables, statistics={"every": {"steps": 1}}), cuts)
    whole = tree(tmp_path / "whole" / "fields.zarr")["charts/0"]
    assert float(whole["nu_t"].max()) > 0


def by_places(path) -> np.ndarray:
    """Centres and values of all cells of the last snapshot, in the order of their centres."""
    names = ("x_c", "y_c", "z_c", "u", "v", "w", "nu_t")
    last = tree(path / "fields.zarr").isel(time=-1).load()
    rows = [np.stack([chart[n].values.ravel() for n in names], 1) for _, chart in charts(last)]
    cells = np.concatenate(rows)
    return cells[np.lexsort(np.round(cells[:, :3], 9).T)]


@pytest.mark.slow
@pytest.mark.parametrize("turbulence", [SMAGORINSKY, WALE, VREMAN])
def test_turned_charts_have_the_same_eddies(tmp_path, turbulence):
    tables = changed(EDDYING, method__inner={"iterations": 20}, **turbulence)
    cells = []
    for turned in (False, True):
        go(case(tables, grid__turned=turned), tmp_path / str(turned))
        cells.append(by_places(tmp_path / str(turned)))
    np.testing.assert_allclose(cells[1], cells[0], rtol=0, atol=1e-12)
    assert cells[0][:, -1].max() > 1e-4
