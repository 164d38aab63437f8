"""Factors of linear equations that single precision cannot hold: the run goes on by itself with double precision."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

import pytest

import taskflow as tf
from taskflow.common.errors import Avoidable, RunFailed
from taskflow.flow.models.artificial_compressibility.implicit import factor, march
from taskflow.output.checkpoint.checkpoint import MANIFEST, manifest, sealed
from taskflow.runs.state.restart import changes
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import Box

DOUBLE = {"method.linear.precision": "double"}


def cavity(length: float, steps: int = 60, steady: float = 1e-6, **linear: object) -> tf.Case:
    """At Re = 50. Of 1e-50 areas are 0 in single precision in any unit of length that kernels have, from 2^-100."""
    walls = dict.fromkeys(("x_min", "x_max", "y_min"), "wall") | dict.fromkeys(("z_min", "z_max"), "symmetry")
    return tf.Case(
        title="cavity", grid={"shape": "box", "cells": [8, 8, 1], "lengths": [length, length, length / 8]},
        fluid={"viscosity": length / 50}, machine={"device": "cpu"}, checkpoint={"every": {"steps": 4}},
        boundaries={**walls, "y_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]}},
        method={"type": "artificial-compressibility", "march": "implicit", "linear": linear},
        time={"steady": steady, "steps": steps}, output={"every": {"steps": steps}},
    )  # fmt: skip


@pytest.mark.slow
def test_a_run_goes_on_with_factors_in_double_precision(tmp_path):
    with pytest.warns(UserWarning, match=r"restarts from step 0 with method\.linear\.precision = \"double\""):
        run = tf.run(cavity(1e-50), tmp_path / "single")
    (again,) = run.report["restarts"]
    assert (again["step"], run.report["ended"]) == (0, "steady")
    assert 'cannot be inverted: its pivots are further apart than 1e12, or not finite, with method' in again["reason"]
    assert all(line["factors"] == "double" for line in run.log())  # begun anew, from step 0
    double = tf.run(cavity(1e-50, precision="double"), tmp_path / "double")
    assert run.log()[-1]["bodies"] == double.log()[-1]["bodies"]


@pytest.mark.slow
def test_a_checkpoint_goes_on_with_another_precision_of_factors(tmp_path):
    with pytest.warns(UserWarning, match="not steady"):
        tf.run(cavity(1.0, 4), tmp_path / "run")
    _as_of_an_earlier_build(tmp_path / "run" / "checkpoints" / "step-000000004")
    run = tf.run(cavity(1.0, precision="double"), tmp_path / "run", resume=True)
    assert (run.report["resumed"]["step"], run.report["ended"]) == (4, "steady")
    first, *_, last = run.log()
    assert ("factors" in first, last["factors"]) == (False, "double")


def _as_of_an_earlier_build(checkpoint: Path) -> None:
    """Take the numbers from a checkpoint that it would not have had."""
    body = manifest(checkpoint)
    for name in march.ADDED:
        del body["state"]["scalars"][f"implicit.{name}"]
    (checkpoint / MANIFEST).write_bytes(sealed(body))


def test_a_state_has_no_factors_and_bears_another_precision_of_them():
    old, new = (tomllib.loads(cavity(1.0, **how).to_toml()) for how in ({}, {"precision": "double"}))
    assert list(changes(old, new)) == []
    (line,) = changes(old, tomllib.loads(cavity(1.0, vectors=7, precision="double").to_toml()))
    assert line.startswith("method.linear")


def test_equations_that_fail_twice_are_an_error_that_double_precision_avoids():
    begun = march.Ramp().begin({}) | {"change": math.nan}
    single, double = (RunSetup(cavity(1.0, precision=p), (1, 1, 1)).model for p in ("single", "double"))
    once = begun | single._shared(begun)
    assert (once["broken"], once["share"]) == (1.0, 0.0)
    with pytest.raises(Avoidable, match="solved twice to numbers that are not finite") as told:
        single._shared(once)
    assert told.value.changes == DOUBLE
    assert double._shared(once)["broken"] == 2.0
    assert double._shared(once | {"change": 0.1})["broken"] == 0.0


def test_a_singular_block_may_be_one_of_single_precision_alone():
    charts, at = (Box.of((8, 8, 1)),), {"cell": 3.0}
    with pytest.raises(Avoidable, match=r"cell \(4, 1, 1\)") as told:
        factor.refuse_singular(charts, True, at)
    assert told.value.changes == DOUBLE
    with pytest.raises(RunFailed, match="give a lower") as final:
        factor.refuse_singular(charts, False, at)
    assert not isinstance(final.value, Avoidable)
