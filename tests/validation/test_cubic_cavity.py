"""The lid-driven cube at Re = 1000: its centre lines are as near to a spectral solution as the cells allow."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.runtime.machine.device import Device, gpu
from tests.flows import VELOCITY, compute
from tests.validation.cavity import errors
from tests.validation.cubic_cavity import DIRECT, centre_lines, cube, differences, extrema

ALLOWED = {64: 0.026, 96: 0.012, 128: 0.007}


def assert_as_albensoeder(n: int, device: Device | None = None) -> None:
    flow = compute(cube(n), device=device, threads=2)
    profiles = centre_lines(flow)
    result = differences(profiles)
    print(f"{n}^3: {flow.tick.step} steps to t = {flow.tick.time:.1f}; largest differences {result};")
    print(f"{profiles.extrema}, errors {errors(profiles, extrema())}")
    assert flow.steady
    assert max(result.values()) < ALLOWED[n]


@pytest.mark.parametrize("pressure", [
    {"solver": "multigrid", "tolerance": 1e-6},
    {"solver": "multigrid", "tolerance": 1e-6, "outer": "none"},
    {"solver": "jacobi", "iterations": 30},
], ids=["gradients", "multigrid", "jacobi"])  # fmt: skip
@pytest.mark.slow
def test_the_steady_flow_is_that_of_any_solver(pressure):
    """Where nothing changes any more the last pressure is the solution. Changes of 1e-9 per unit of time decay within
    less than 10 units.
    """
    exact, result = (compute(cube(12, 400.0, 1e-9, solver)) for solver in (DIRECT, pressure))
    for flow in (exact, result):
        assert flow.steady
    for name in VELOCITY:
        np.testing.assert_allclose(result[name], exact[name], rtol=0, atol=1e-8, err_msg=name)
    assert exact.history[-1]["divergence"] < 1e-13


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_64_cells():
    """Two minutes."""
    assert_as_albensoeder(64)


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("n", ALLOWED)
def test_on_a_gpu(n):
    assert_as_albensoeder(n, gpu())
