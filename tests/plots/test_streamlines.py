"""Streamlines follow the flow, keep their distance, stay out of bodies, and are closed where the flow is."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from taskflow.plots.streamlines import ALONG, NEAR, SHORT, draw_streamlines

X = np.linspace(0.0, 2.0, 81)
Y = np.linspace(-0.5, 0.5, 41)
DISTANCE = 2.0 / ALONG


def drawn(u, v, blocked=None):
    axes = Figure().subplots()
    free = np.zeros((len(Y), len(X)), dtype=bool)
    draw_streamlines(axes, X, Y, (u, v), free if blocked is None else blocked, 2.0)
    return [line for lines in axes.collections if isinstance(lines, LineCollection) for line in lines.get_segments()]


def test_a_uniform_flow_is_drawn_by_parallel_lines_from_end_to_end():
    lines = drawn(np.ones((41, 81)), np.zeros((41, 81)))
    assert ALONG / 2 - 2 <= len(lines) <= ALONG / 2 + 1
    for line in lines:
        assert np.ptp(line[:, 1]) < 1e-12
        assert np.ptp(line[:, 0]) > 2.0 - 2 * DISTANCE


def test_a_vortex_is_drawn_by_rings_that_go_round_once():
    """Solid-body rotation about (1, 0)."""
    x, y = np.meshgrid(X - 1.0, Y)
    lines = drawn(-y, x)
    assert len(lines) > 5
    for line in lines:
        radius = np.hypot(line[:, 0] - 1.0, line[:, 1])
        assert np.ptp(radius) < 0.1 * DISTANCE
        angle = np.unwrap(np.arctan2(line[:, 1], line[:, 0] - 1.0))
        assert np.ptp(angle) < 2 * np.pi
        assert max(np.ptp(line, axis=0)) >= (SHORT - 1e-9) * DISTANCE


def test_lines_keep_their_distance_and_stay_out_of_bodies():
    """A potential flow around a cylinder whose inside, where the formula goes on, is a body."""
    x, y = np.meshgrid(X - 0.7, Y)
    r2 = np.maximum(x**2 + y**2, 1e-3)
    u, v = 1 - 0.04 * (x**2 - y**2) / r2**2, -0.08 * x * y / r2**2
    lines = drawn(u, v, r2 < 0.04)
    for line in lines:
        assert np.hypot(line[:, 0] - 0.7, line[:, 1]).min() > 0.2 - 0.025
        stream = line[:, 1] * (1 - 0.04 / ((line[:, 0] - 0.7) ** 2 + line[:, 1] ** 2))
        assert np.ptp(stream) < 0.02
    for one, other in combinations(lines, 2):
        apart = np.hypot(*(one[:, None] - other[None]).transpose(2, 0, 1)).min()
        assert apart > (NEAR - 0.1) * DISTANCE


@pytest.mark.parametrize("speed", [0.0, np.nan])
def test_nothing_is_drawn_where_nothing_flows(speed):
    assert not drawn(np.full((41, 81), speed), np.zeros((41, 81)))
