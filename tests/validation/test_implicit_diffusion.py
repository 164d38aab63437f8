"""Implicit diffusion between walls: exact oscillating flows on stretched cells with steps beyond the explicit
limit, and a turbulent channel whose steps convection alone bounds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from taskflow.runs.state.setup import RunSetup
from tests.flows import compute
from tests.validation.test_changing_in_time import FLOWS, orders

RESOLVED = Path(__file__).parent / "cases" / "channel_resolved.toml"
FINE, STEPS = 64, (10, 20, 40, 80)


def values(flow: str, cells: int, steps: int, scheme: str, axis: int = 2) -> tuple[np.ndarray, float]:
    """What oscillates across the planes at the end, on cells that get thinner towards them, and its largest error."""
    about, name = FLOWS[flow], "xyz"[axis]
    case = about.case(cells, 0.5 / steps, scheme, axis)
    changes = {
        "grid.stretching": {name: {"tanh": 1.5}},
        "grid.lengths": [1.0 if a == axis else 100.0 for a in range(3)],
        "time.implicit": [name],
    }
    ended = compute(case.replace(**changes))
    field = "T" if about.field == "T" else "uvw"[(axis + 1) % 3]
    result = np.moveaxis(ended[field], 2 - axis, 0)[:, 0, 0]
    places = ended.setup.grid.coordinates("c", axis, 0, cells)
    return result, float(abs(result - about.exact(places, 0.5)).max())


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.parametrize("flow", FLOWS)
def test_order_in_time(flow, scheme):
    """On 64 cells, against 1280 steps; explicit ones of ab2 would have to be 8400."""
    best, exact = values(flow, FINE, 1280, scheme)
    errors = [float(abs(values(flow, FINE, steps, scheme)[0] - best).max()) for steps in STEPS]
    print(flow, scheme, errors, orders(errors), exact)
    assert (orders(errors)[1:] > 1.8).all(), errors


@pytest.mark.slow
@pytest.mark.parametrize("flow", FLOWS)
def test_order_in_space(flow):
    errors = [values(flow, cells, 16 * cells, "ab2")[1] for cells in (16, 32, 64)]
    print(flow, errors, orders(errors))
    assert (orders(errors) > 1.8).all(), errors


@pytest.mark.slow
@pytest.mark.parametrize("axis", [0, 1])
def test_all_directions_are_alike(axis):
    result, expected = (values("stokes", 16, 20, "ab2", a)[0] for a in (axis, 2))
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_convection_alone_bounds_the_steps_of_a_channel(tmp_path):
    """Re_tau = 180 on few cells that are thin at the walls: explicit steps would be at most a fifth as long."""
    case = tf.Case.load(RESOLVED, ["machine.device=cpu"]).replace(**{
        "grid.cells": [32, 32, 48], "grid.stretching": {"z": {"tanh": 2.5}}, "time.implicit": ["z"], "time.end": 1.0,
        "statistics": None,
    })  # fmt: skip
    both = case, case.replace(**{"time.implicit": None})
    limits = [RunSetup(item, (1, 1, 1), device="cpu").clock.limit for item in both]
    run = tf.run(case, tmp_path / "channel")
    lines = [line for line in run.log() if line["step"]]
    dt, energy = (np.array([line[name] for line in lines]) for name in ("dt", "kinetic_energy"))
    implicit, explicit = (limit.bounds(0.0)["diffusion"] for limit in limits)
    print(f"steps of {dt.min():.4g} to {dt.max():.4g}; diffusion would allow {implicit:.4g}, explicit {explicit:.4g}")
    print(f"{lines[-1]['step']} steps, energies {energy.min():.4g} to {energy.max():.4g}")
    assert dt.max() < implicit
    assert np.median(dt) > 5 * explicit
    assert np.median([line["cfl"] for line in lines]) == pytest.approx(1.2, rel=0.02)  # that after the step
    assert (abs(energy / energy[0] - 1) < 0.2).all()
