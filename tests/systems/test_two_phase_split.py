"""FFT with a split gradient, for densities that differ by up to a factor of 10."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from tests.cases.two_phases import case

RISING = Path(__file__).parents[2] / "examples" / "rising_bubble.toml"
SWIRL = {"velocity": ["sin(5*x) + z", 0, "cos(7*z)"]}
SOLVERS = {"fft": {}, "multigrid": {"tolerance": 1e-11}}


def drop(folder: Path, solver: str = "fft", resume: bool = False, **tables) -> xr.Dataset:
    """A droplet in a liquid 10 times lighter, in a flow that is not free of divergence at first."""
    pressure = {"outer": None, "iterations": None, "solver": solver, **SOLVERS[solver]}
    flow = case(pressure=pressure, two_phase={"density": [10.0, 1.0]}, initial=SWIRL, phases=[], **tables)
    return tf.run(flow, folder, resume=resume, progress=lambda _: None).dataset().drop_attrs()


@pytest.mark.parametrize(("n", "method"), [
    (16, "levelset"), *(pytest.param(32, method, marks=pytest.mark.slow) for method in ("levelset", "vof")),
])  # fmt: skip
def test_a_bubble_rises_as_with_multigrid(tmp_path, n, method):
    """Case 1 of Hysing et al., of a ratio of 10, to the peak of the velocity: within 0.1 %."""
    keys = (
        f"grid.cells=[{n},1,{2 * n}]", f"grid.lengths=[1.0,{1 / n},2.0]", "time.end=1.0", "machine.device=cpu",
        f"two_phase.method={method}", "phases=[{name='bubble', phase=2, every={steps=1}}]",
    )  # fmt: skip
    split, whole = (
        tf.run(tf.Case.load(RISING, (*keys, f"pressure.solver={solver}")), tmp_path / solver, progress=lambda _: None)
        for solver in SOLVERS
    )
    peak, expected = (run.dataset("bubble").velocity_z.values.max() for run in (split, whole))
    assert peak == pytest.approx(expected, rel=1e-3)
    assert max(line["divergence"] for line in split.log()) <= 1e-11


@pytest.mark.slow
def test_the_difference_from_multigrid_falls_with_the_square_of_the_step(tmp_path):
    def difference(steps: int) -> float:
        time, output = {"steps": steps, "step": 0.024 / steps}, {"every": {"steps": steps}}
        split, whole = (
            drop(tmp_path / f"{solver}{steps}", solver, time=time, output=output).isel(time=-1) for solver in SOLVERS
        )
        return max(float(abs(split[q] - whole[q]).max() / abs(whole[q]).max()) for q in "uvw")

    assert difference(1) <= 1e-4  # the first step iterates
    assert difference(8) / difference(16) >= 3.5


def test_a_ratio_of_more_than_ten_is_refused():
    pressure = {"outer": None, "iterations": None, "solver": "fft"}
    words = r'pressure.solver = "fft": it is for densities of a ratio up to 10, and theirs is 11; give "multigrid"'
    with pytest.raises(tf.BadInput, match=words):
        case(pressure=pressure, two_phase={"density": [1.0, 11.0]})


@pytest.mark.parametrize("top", ["slip", {"type": "outflow", "pressure": 0}], ids=["closed", "open"])
def test_a_tank_stays_at_rest(tmp_path, top):
    sides = dict.fromkeys(("x_min", "x_max", "z_min"), "slip") | {"y": "periodic", "z_max": top}
    tank = tf.Case(
        grid={"cells": [6, 1, 16], "lengths": [0.6, 0.1, 1.6]}, body={"gravity": [0, 0, -10]},
        two_phase={"density": [10, 1], "viscosity": [1e-3, 2e-5], "initial": "0.8 - z"}, boundaries=sides,
        time={"steps": 20}, pressure={"solver": "fft"}, output={"precision": "double"},
    )  # fmt: skip
    fields = tf.run(tank, tmp_path / "run", progress=lambda _: None).dataset().isel(time=-1)
    assert abs(fields.u).max() <= 1e-11
    assert abs(fields.w).max() <= 1e-11


@pytest.mark.slow
def test_threads_and_a_stop_change_no_bit_and_blocks_only_rounding(tmp_path):
    whole = drop(tmp_path / "whole")
    drop(tmp_path / "parts", time={"steps": 3})
    xr.testing.assert_identical(drop(tmp_path / "parts", resume=True), whole)
    xr.testing.assert_identical(drop(tmp_path / "threads", machine={"threads": 2}), whole)
    blocks = drop(tmp_path / "blocks", machine={"blocks": [1, 2, 2]})
    for name in "uvwpf":
        np.testing.assert_allclose(blocks[name], whole[name], rtol=0, atol=1e-12)
