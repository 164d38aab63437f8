"""S6: what enters a steady flow on charts leaves it, mass and momentum, by the very fluxes of a stage."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow.models.artificial_compressibility.forces import Force, Forces
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.machine.threads import run_threads
from taskflow.systems.initial.fields import InitialFields
from tests.cases.on_charts import CYLINDER, case

ENTERS = {"type": "inflow", "velocity": ["24*y*(0.5 - y)", 0.0, 0.0]}
STEP = {
    **CYLINDER,
    "grid": {"shape": "step", "cells": [16, 8, 1], "height": 0.5, "channel": 0.5, "downstream": 4.0, "upstream": 1.0},
    "fluid": {"viscosity": 0.05},
    "boundaries": {
        "inlet": ENTERS, "outlet": {"type": "outflow", "pressure": 0.0}, "lower": "wall", "upper": "wall",
        "step": "wall", "ends": "symmetry",
    },
    "initial": {"velocity": [0.5, 0.0, 0.0]},
}  # fmt: skip
PIPE = {
    **CYLINDER,
    "grid": {"shape": "pipe", "cells": [4, 4, 6], "radius": 0.5, "length": 1.0},
    "boundaries": {
        "inlet": {"type": "inflow", "velocity": [0.0, 0.0, "2 - 8*(x*x + y*y)"]},
        "outlet": {"type": "outflow", "pressure": 0.0}, "wall": "wall",
    },
    "initial": {"velocity": [0.0, 0.0, 1.0]},
}  # fmt: skip


def through_sides(flow: Case, steps: int) -> dict[str, Force]:
    """What passes the sides of a case after so many outer iterations."""
    setup = RunSetup(flow, (1, 1, 1))
    model = setup.model
    forces = Forces(model, model.sides, {})

    def job(shard: Shard) -> dict[str, float]:
        InitialFields(setup.domain.points, setup.system.initial, Path()).fill(shard)
        setup.system.constants.fill(shard)
        shard.run(model.start, dt=1.0)
        for _ in range(steps):
            shard.run(model.step, **model.scalars(1.0, 1.0))
        shard.run(forces.measure)
        return dict(shard.scalars)

    (scalars,) = run_threads(setup.partition, job, cpu(1))
    return {side.name: forces.of(scalars, side) for side in model.sides}


@pytest.mark.parametrize(("tables", "steps", "along"), [
    pytest.param(STEP, 35, 0, id="step"), pytest.param(PIPE, 35, 2, id="pipe", marks=pytest.mark.slow),
])  # fmt: skip
def test_mass_and_momentum_of_a_steady_flow(tables, steps, along):
    """The sum of mass fluxes is 0 to 1e-12; forces on walls are what the fluxes through inlet and outlet lack, to 1e-8.
    """
    passing = through_sides(case(tables, method__march="implicit"), steps)
    assert passing["inlet"].mass < -0.4
    assert abs(sum(force.mass for force in passing.values())) < 1e-12
    open_ones = sum(passing[name].force for name in ("inlet", "outlet"))
    walls = sum(force.force for name, force in passing.items() if name not in ("inlet", "outlet"))
    assert np.abs(open_ones + walls).max() < 1e-8 * abs(walls[along])
