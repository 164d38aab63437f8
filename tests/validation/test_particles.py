"""Particles in flows of which their paths are known: decaying vortices, a channel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import taskflow as tf
from tests.runs.going_on import found, go

pytestmark = pytest.mark.slow


def vortices(n: int) -> tf.Case:
    """Taylor-Green vortices that decay: where the stream function was c it is c exp(-2 nu t), on the same lines."""
    return tf.Case(
        grid={"cells": [n, n, 1], "lengths": [2 * np.pi, 2 * np.pi, 0.3]}, fluid={"viscosity": 0.02},
        boundaries={"x": "periodic", "y": "periodic", "z": "periodic"},
        initial={"velocity": ["sin(x)*cos(y)", "-cos(x)*sin(y)", 0]}, time={"end": 4.0, "step": 3.2 / n},
        output={"precision": "double"}, machine={"device": "cpu", "threads": 1},
        particles=[{"name": "orbits", "box": [[0.3, 0.3, 0.0], [2.8, 2.8, 0.3]], "lattice": [6, 6, 1], "every": 1.0}],
    )  # fmt: skip


def test_particles_stay_on_the_streamlines_of_decaying_vortices(tmp_path):
    errors = []
    for n in (16, 32, 64):
        go(vortices(n), tmp_path / str(n))
        ds = found(tmp_path / str(n), "orbits")
        line = np.sin(ds.x) * np.sin(ds.y)
        errors.append(float(np.abs(line - line[0]).max()))
    assert errors[-1] < 1e-3
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.35)


def channel(n: int) -> tf.Case:
    """A laminar channel, u = 4 y (1 - y)."""
    return tf.Case(
        grid={"cells": [4, n, 1], "lengths": [1.0, 1.0, 0.2]}, fluid={"viscosity": 0.1}, body={"force": [0.8, 0, 0]},
        boundaries={"x": "periodic", "y_min": "wall", "y_max": "wall", "z": "periodic"},
        initial={"velocity": ["4*y*(1 - y)", 0, 0]}, time={"end": 2.0, "step": 0.32 / n**2},
        output={"precision": "double"}, machine={"device": "cpu", "threads": 1},
        particles=[{"name": "line", "box": [[0, 0, 0], [1, 1, 0.2]], "lattice": [1, 256, 1], "every": 0.1}],
    )  # fmt: skip


def test_a_line_across_a_channel_is_dispersed_as_its_velocities_differ(tmp_path):
    """The mean way is 2/3 t and the variance of ways 4/45 t^2: without diffusion particles keep their velocities."""
    errors = []
    for n in (8, 16):
        go(channel(n), tmp_path / str(n))
        ds = found(tmp_path / str(n), "line")
        way = np.unwrap(ds.x.values, period=ds.x.attrs["period"], axis=0) - ds.x.values[0]
        np.testing.assert_allclose(ds.y, ds.y[0].broadcast_like(ds.y), rtol=0, atol=1e-12)
        errors.append((abs(way[-1].mean() / 2 - 2 / 3), abs(way[-1].var() / 4 - 4 / 45)))
    assert np.max(errors[1]) < 5e-3
    assert np.log2(errors[0][0] / errors[1][0]) == pytest.approx(2.0, abs=0.2)
    assert np.log2(errors[0][1] / errors[1][1]) == pytest.approx(2.0, abs=0.4)
