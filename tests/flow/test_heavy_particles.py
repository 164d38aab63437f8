"""Particles with mass: the kernel against the reference, a fall that is exact, the order of the reference in time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from taskflow.runtime.machine.device import cpu
from tests.flow.test_particles import COUNT, HEAVY, by_kernel, directions, grid, random_places, steady, velocities
from tests.reference.particles import fallen
from tests.runtime.machine.devices import one_gpu


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_heavy_particles_have_the_bits_of_the_reference(device):
    staggered = grid()
    velocity, places, none = velocities(staggered, "f8"), random_places(staggered), np.full((COUNT, 3), np.nan)
    steps = [(0.11, 0.0), (0.07, 0.07 / 0.11), (0.4, 4.0)]
    here = one_gpu() if device == "gpu" else cpu(2)
    *result, _, _ = by_kernel(staggered, velocity, (places, none, none), steps, here, inertia=HEAVY)
    state = places, none, none
    for dt, ratio in steps:
        weights = dt * (1 + ratio / 2), dt * (ratio / 2), -math.expm1(-dt / HEAVY.time)
        state = fallen(directions(staggered), velocity, state, weights, HEAVY.time, HEAVY.settling)
    for one, other in zip(result, state, strict=True):
        np.testing.assert_array_equal(one, other)


def dropped(steps: int, end: float, flow, own) -> tuple[np.ndarray, np.ndarray]:
    """Place and velocity of a heavy particle at (1, 2) of a flow, after a time."""
    axes, velocity = steady(8, flow)
    state = np.array([[1.0, 2.0, 0.5]]), np.full((1, 3), np.nan), np.array([own])
    for step in range(steps):
        dt, ratio = end / steps, float(step > 0)
        weights = dt * (1 + ratio / 2), dt * (ratio / 2), -math.expm1(-dt / 0.2)
        state = fallen(axes, velocity, state, weights, 0.2, (0.0, -0.4, 0.0))
    return state[0][0], state[2][0]


@pytest.mark.parametrize("steps", [1, 7])
def test_what_falls_in_fluid_at_rest_is_exact_for_any_step(steps):
    """v = W (1 - exp(-t/tau)) and y = y0 + W (t - tau (1 - exp(-t/tau)))."""
    place, own = dropped(steps, 0.9, lambda x, y: (0 * x, 0 * y, 0.0), (0.0, 0.0, 0.0))
    gain = 1 - np.exp(-0.9 / 0.2)
    np.testing.assert_allclose(own, [0, -0.4 * gain, 0], atol=1e-15)
    np.testing.assert_allclose(place, [1, 2 - 0.4 * (0.9 - 0.2 * gain), 0.5], rtol=1e-14)


def test_heavy_particles_are_followed_in_second_order_of_time():
    """In a rotation: against many steps."""
    turning = lambda x, y: (np.pi - y, x - np.pi, 0.0)  # noqa: E731
    exact, coarse, fine = (dropped(n, 0.8, turning, (0.3, 0.0, 0.0))[0] for n in (640, 20, 40))
    assert np.log2(np.linalg.norm(coarse - exact) / np.linalg.norm(fine - exact)) == pytest.approx(2.0, abs=0.2)
