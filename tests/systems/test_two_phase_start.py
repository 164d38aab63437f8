"""What `taskflow check` says of two phases before anything is computed, and that it is so."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from taskflow.cases.formulas.expression import Expression
from taskflow.common.rows import Row
from taskflow.flow import StaggeredGrid
from taskflow.flow.operators.phases import Phases
from taskflow.output import LOG, read_log
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.host import look
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.systems.initial.fields import InitialFields
from taskflow.systems.two_phase.start import friction, initial_phases
from tests.cases.two_phases import case
from tests.flows import compute
from tests.runtime.machine.test_needs import Counting

HERE = look("this process")
BALL = "0.25 - sqrt((x - 0.5)**2 + (y - 0.5)**2 + (z - 0.5)**2)"


@pytest.mark.parametrize(("phi", "cells", "lengths", "share", "radius"), [
    (BALL, (64, 64, 64), (1, 1, 1), math.pi / 48, 16),
    (f"0.25**2 - (0.25 - ({BALL}))**2", (64, 64, 64), (1, 1, 1), math.pi / 48, 16),  # no distance
    (BALL, (256, 256, 256), (1, 1, 1), math.pi / 48, 64),  # looked at in larger cells
    ("0.25 - sqrt((x - 0.5)**2 + (z - 0.5)**2)", (64, 1, 64), (1, 1 / 64, 1), math.pi / 16, 16),
    ("0.25 - sqrt((x - 0.5)**2 + (z - 0.5)**2)", (64, 16, 64), (1, 0.25, 1), math.pi / 16, 16),
    ("0.3 - z", (20, 20, 20), (1, 1, 1), 0.3, math.inf),
    ("minimum(0.3 - z, 0.4 - x)", (80, 1, 80), (1, 1 / 80, 1), 0.12, math.inf),  # but for its corner
    (f"maximum(0.1 - z, {BALL} - 0.1)", (64, 64, 64), (1, 1, 1), 0.1 + 4 / 3 * math.pi * 0.15**3, 0.15 * 64),
])  # fmt: skip
def test_shares_and_the_smallest_radius(phi, cells, lengths, share, radius):
    result = initial_phases(Expression(phi), StaggeredGrid(cells, lengths, periodic=(False,) * 3))
    assert result.both
    assert result.share == pytest.approx(share, rel=0.01)
    assert result.radius == pytest.approx(radius, rel=0.02) or result.radius > 1e9


def test_a_saddle_is_as_round_as_its_sharper_curvature():
    """A torus of radii 0.3 and 0.1."""
    torus = Expression("0.1 - sqrt((sqrt((x - 0.5)**2 + (y - 0.5)**2) - 0.3)**2 + (z - 0.5)**2)")
    result = initial_phases(torus, StaggeredGrid((64, 64, 64), (1, 1, 1), periodic=(False,) * 3))
    assert result.radius == pytest.approx(6.4, rel=0.03)


@pytest.mark.parametrize("phases", [
    Phases(1000.0, 1.0, 1e-3, 1e-5), Phases(1.0, 100.0, 0.02, 0.5), Phases(50.0, 1.0, 0.1, 0.0),
    Phases(50.0, 1.0, 0.1, 0.01, arithmetic=True),
])  # fmt: skip
def test_friction_is_at_least_that_of_either_phase(phases):
    spacing = (0.1, 0.05, 0.2)
    rate = phases.kinematic_viscosity * sum(1 / h**2 for h in spacing)
    assert friction(phases, spacing, 0.3) >= 0.99 * rate
    assert friction(replace(phases, arithmetic=False), spacing, 0.3) <= 1.6 * rate


@pytest.mark.slow
def test_the_first_step_is_as_long_as_was_said(tmp_path):
    for name, tables in {"friction": {"two_phase": {"viscosity": [2.0, 0.2], "viscosity_mean": "arithmetic"}},
                         "waves": {"two_phase": {"surface_tension": 30.0}}}.items():  # fmt: skip
        drop = case(**tables)
        rows = RunSetup(drop, (1, 1, 1)).system.solver_rows()
        words = next(row.text for row in rows if row.label == "first step")
        length, bound = float(words.split()[1].strip(",")), words.split()[3].removeprefix("time.").strip(";")
        line = read_log(tf.run(drop, tmp_path / name).directory / LOG)[1]
        assert line["limit"] == bound == {"friction": "diffusion", "waves": "capillary"}[name]
        assert line["dt"] == pytest.approx(length, rel=0.1)


def test_check_says_what_the_phases_are():
    lines = list(estimate(case(two_phase={"surface_tension": 100.0})).rows())
    said = "\n".join(f"{row.label}: {row.text}" for row in lines)
    assert "phases: level set; ratio of densities 50; double precision" in said
    assert "phase 1 fills 0.08814 of the domain, phase 2 0.9119" in said
    assert "smallest radius about 2.97 cells: larger on 95 % of the interface" in said
    assert "warning: the smallest radius is 3 cells; give more cells: 4 or better ten" in said
    assert "pressure: multigrid, 3 iterations per solve" in said
    assert "first step: about 0.00223, by time.capillary; by time." in said
    assert "capillary waves make it 7.1 times as short" in said
    ending = case(two_phase={"surface_tension": 100.0}, time={"steps": None, "end": 1})
    assert estimate(ending).steps.basis == "time.capillary; a faster flow needs more"


@pytest.mark.fast("phases0-*")
@pytest.mark.parametrize(("phases", "words"), [
    ({"initial": "x + 1"}, ('two_phase.initial = "x + 1": phase 1 fills the domain; give an expression with both signs'
                            " in the domain, or the number 1 if that is meant",)),
    ({"initial": "-1 - x"}, ('two_phase.initial = "-1 - x": phase 2 fills the domain; give an expression with both'
                             " signs in the domain, or the number 0 if that is meant",)),
    ({"initial": None, "shapes": [{"type": "box", "low": [-1, -1, -1], "high": [9, 9, 9], "phase": 1}]},
     ("two_phase.shapes: phase 1 fills the domain; give shapes that leave room for the other",)),
    ({"initial": 1}, ()), ({"initial": 0}, ()), ({}, ()),
])  # fmt: skip
def test_one_sign_is_a_warning(phases, words, tmp_path):
    drop = case(two_phase=phases, time={"steps": 1})
    assert RunSetup(drop, (1, 1, 1)).system.warnings == words
    if words:
        assert Row("warning", *words, "warning") in list(estimate(drop).rows())


@pytest.mark.parametrize(("cells", "words"), [
    ([12, 8, 14], ()), ([12, 1, 14], ()), ([6, 8, 14], ()),
    ([4, 8, 14], ("grid.cells = [4, 8, 14]: cells are 3 times as long as wide, and both phases mix over 0.45, 1.5 of"
                  " the longest spacings on either side of the interface; give more cells along that, or a single"
                  " one",)),
])  # fmt: skip
def test_cells_much_longer_than_wide_are_a_warning(cells, words):
    assert RunSetup(case(grid={"cells": cells}), (1, 1, 1)).system.warnings == words


@pytest.mark.slow
def test_a_run_warns_of_one_sign_and_does_it(tmp_path):
    with pytest.warns(UserWarning, match=r'two_phase.initial = "x \+ 1": phase 1 fills the domain'):
        run = tf.run(case(two_phase={"initial": "x + 1"}, time={"steps": 1}), tmp_path / "run")
    assert float(run.dataset()["f"].min()) == 1.0


def test_what_is_not_finite_is_told_before_a_run():
    with pytest.raises(tf.BadInput, match=r"two_phase.initial: the expression 'log\(x - 0.3\)' is not finite at x ="):
        RunSetup(case(two_phase={"initial": "log(x - 0.3)"}), (1, 1, 1)).system.check()


def test_friction_alone_says_how_long_the_first_step_is():
    """A lid begins to move over layers at rest, which have neither weight nor surface tension."""
    sides = {"z_max": {"type": "wall", "velocity": [1, 0, 0]}}
    still = {"surface_tension": 0.0, "viscosity": [0.1, 0.01]}
    layers = case(two_phase=still, body={"gravity": [0, 0, 0]}, boundaries=sides)
    RunSetup(layers, (1, 1, 1)).system.check()
    ideal = case(two_phase={**still, "viscosity": [0, 0]}, body={"gravity": [0, 0, 0]}, boundaries=sides)
    with pytest.raises(tf.BadInput, match="no time step can be found"):
        RunSetup(ideal, (1, 1, 1)).system.check()


@pytest.mark.slow
@pytest.mark.parametrize("pressure", [
    {}, {"solver": "cg", "outer": None, "iterations": None, "tolerance": 1e-6},
    {"solver": "auto", "outer": None, "iterations": None},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 2)])
def test_blocks_hold_what_was_counted(shape, pressure):
    same = {"density": [2.0, 2.0]} if pressure.get("solver") == "auto" else {}
    sim = RunSetup(case(pressure=pressure, two_phase=same, phases=[]), shape)
    needs = MemoryEstimate(sim, [HERE] * len(sim.partition), "cpu").blocks
    devices = [Counting(1) for _ in needs]

    def job(shard):
        InitialFields(sim.grid.points, sim.system.initial, Path(), None).fill(shard)
        shard.run(sim.model.start, dt=1.0)
        shard.run(sim.monitor)
        for monitored in np.random.default_rng(1).integers(0, 2, 24):  # in whatever state fields are
            shard.run(sim.model.step, **sim.model.scalars(1e-3, 1.0))
            if monitored:
                shard.run(sim.monitor)
        return shard.memory

    result = run_threads(sim.partition, job, devices, Mapper("comm"))
    for device, memory, need in zip(devices, result, needs, strict=True):
        assert memory["fields"] == need.fields
        # a ring that has more than the usual number of buffers, so that blocks cannot wait in a circle, counts as usual
        assert 0 <= memory["buffers"] - need.buffers <= 0.01 * need.total
        # of what scalars are folded from, some is for states that this run did not come to
        assert abs(need.stepping - device.nbytes) <= 0.02 * need.total


@pytest.mark.parametrize(("cells", "centre", "part"), [
    (16, 0.0, 1 / 8), pytest.param(32, 2.0, 1.0, marks=pytest.mark.slow),
])  # fmt: skip
def test_a_ball_begins_with_its_volume_and_is_round(tmp_path, cells, centre, part):
    """Of 8 cells per radius, whole and between planes of symmetry."""
    ball = {"type": "sphere", "centre": [centre] * 3, "radius": 1.0, "phase": 1}
    run = tf.run(tf.Case(
        grid={"cells": [cells] * 3, "lengths": [cells / 8] * 3}, phases=[{"name": "ball", "phase": 1}],
        two_phase={"density": [1.0, 1.0], "viscosity": [0.01, 0.01], "shapes": [ball]},
        boundaries={f"{a}_{e}": "slip" for a in "xyz" for e in ("min", "max")}, time={"steps": 1, "step": 1e-6},
    ), tmp_path / "run", progress=lambda _: None)  # fmt: skip
    start = run.dataset("ball").isel(time=0)
    assert float(start.volume) == pytest.approx(part * 4 / 3 * math.pi, rel=1e-4)
    assert 0.998 < float(start.circularity) <= 1


def test_a_python_function_begins_with_its_volume_on_blocks(tmp_path):
    def ball(x, y, z):
        return 0.25 - np.sqrt((x - 0.5) ** 2 + (z - 0.5) ** 2) + 0 * y

    run = tf.run(tf.Case(
        grid={"cells": [32, 1, 32], "lengths": [1.0, 1 / 32, 1.0]}, phases=[{"name": "ball", "phase": 1}],
        two_phase={"density": [1.0, 1.0], "viscosity": [0.01, 0.01], "initial": ball}, time={"steps": 1, "step": 1e-6},
        boundaries=dict.fromkeys("xyz", "periodic"), machine={"blocks": [2, 1, 1]},
    ), tmp_path / "run", progress=lambda _: None)  # fmt: skip
    assert float(run.dataset("ball").volume[0]) == pytest.approx(math.pi / 16 / 32, rel=1e-4)


def test_surface_tension_rounds_a_box_with_its_sides_on_faces_of_cells():
    """It acts where the interface cuts cells, and such a box cut none: the fluid stayed at rest for ever."""
    box = {"phase": 1, "type": "box", "low": [0.25, -1, 0.25], "high": [0.75, 1, 0.5]}
    flow = compute(case(
        grid={"cells": [16, 1, 16], "lengths": [1, 0.0625, 1]}, time={"steps": 3}, body={"gravity": [0, 0, 0]},
        two_phase={"method": "vof", "initial": None, "shapes": [box]},
    ))  # fmt: skip
    assert flow["w"].max() > 1e-3
    assert flow["f"].mean() == pytest.approx(0.125, rel=1e-5)
