"""Passive scalars that two phases carry: bounds, sums, names, and runs on blocks."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.cases.tables.scalars import TAKEN
from taskflow.flow.scalars.quantity import Quantity, Transport
from taskflow.output import LOG, STORE, dataset, read_log
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.two_phase.rules import OWN
from tests.cases.two_phases import case

DYE = {"name": "dye", "diffusivity": 0.0, "initial": "1.0 * (z < 0.3)"}
BALL = {"type": "sphere", "centre": [0.3, 0.2, 0.15], "radius": 0.08, "name": "ball"}
SWIRL = {"velocity": ["2 * sin(pi * x / 0.6)", "1.0", "sin(2 * pi * x / 0.6)"]}


@pytest.mark.slow
@pytest.mark.parametrize("tables", [{}, pytest.param({"obstacles": [BALL]}, marks=pytest.mark.slow)])
def test_a_scalar_stays_within_bounds_and_its_sum_stays(tmp_path, tables):
    """Around a droplet of 50 : 1 that falls in a stream, with the velocity free of divergence to 1e-12."""
    pressure = {"solver": "multigrid", "outer": "cg", "iterations": None, "tolerance": 1e-12}
    carried = case(scalars=[DYE, {**DYE, "name": "even", "initial": 1.0, "diffusivity": 0.05}], initial=SWIRL,
                   pressure=pressure, time={"steps": 20}, **tables)  # fmt: skip
    run = tf.run(carried, tmp_path / "run").directory
    lines, snapshots = read_log(run / LOG), dataset(run / STORE)
    fluid = slice(None) if not tables else ~snapshots["solid"].values.astype(bool)
    dye, even = (snapshots[name].values[-1][fluid] for name in ("dye", "even"))
    assert -1e-12 <= dye.min() < 0.01
    assert 0.9 < dye.max() <= 1 + 1e-12
    assert abs(dye - snapshots["dye"].values[0][fluid]).max() > 0.2  # it is carried
    np.testing.assert_allclose(even, 1.0, atol=1e-12)
    first, last = lines[0]["integral_dye"], lines[-1]["integral_dye"]
    assert last == pytest.approx(first, rel=1e-12)


@pytest.mark.slow
def test_runs_on_blocks_give_the_same_bits_and_go_on_after_a_stop(tmp_path):
    tables = {"scalars": [{**DYE, "diffusivity": 0.01, "sources": [{"point": [0.3, 0.2, 0.6], "rate": 1.0}]}]}
    whole = tf.run(case(**tables), tmp_path / "whole").directory
    tf.run(case(time={"steps": 3}, **tables), tmp_path / "parts")
    parts = tf.run(case(machine={"blocks": [2, 1, 2]}, **tables), tmp_path / "parts", resume=True).directory
    xr.testing.assert_identical(*(dataset(run / STORE).drop_attrs() for run in (whole, parts)))


def test_its_step_is_one_that_keeps_bounds():
    quick = RunSetup(case(scalars=[{**DYE, "diffusivity": 5.0}]), (1, 1, 1))
    limit, spread = quick.clock.limit, 5.0 * quick.model.grid.inverse_spacing_squared
    assert quick.model.diffusive_rates({"friction": 1.0}) == (spread, spread)
    assert limit.longest(0.0, quick.system.diffusive_rates) == pytest.approx(0.2 / spread)
    assert limit.bounds(100.0, quick.system.diffusive_rates)["scalars"] == pytest.approx(0.9 / (200.0 + 3 * spread))
    assert quick.model.prognostic["dye"] == 5.0


@pytest.mark.parametrize(("scalar", "words"), [
    ({"name": "phi"}, r'scalars\[1\].name = "phi": the model of two phases has a field of this name; give another'),
    ({"name": "m_x"}, r'scalars\[1\].name = "m_x"'),
    ({"scheme": "central"}, r'scalars\[1\].scheme = "central": with two phases a scalar stays within bounds; give "ko'),
])  # fmt: skip
def test_bad_input_is_told(scalar, words):
    with pytest.raises(tf.BadInput, match=words):
        case(scalars=[{**DYE, **scalar}])


def test_no_scalar_has_the_name_of_another_field():
    full = RunSetup(case(obstacles=[BALL], scalars=[DYE]), (1, 1, 1)).model
    own = Quantity("dye", Transport(0.0)).fields
    free = {name for name in (*full.fields, *full.flags) if name not in own and name not in TAKEN}
    hidden = ("_new", "_faces")
    assert {name for name in free if not (name.endswith(hidden) or name.startswith(("h_", "owner_")))} == {
        name for name in free if OWN.fullmatch(name)
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_its_steps_are_proved():
    proof = estimate(case(grid={"cells": [6, 5, 8]}, machine={"blocks": [1, 1, 2]}, scalars=[DYE])).prove()
    assert proof.reads > 0
    assert not proof.faults
