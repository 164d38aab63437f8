"""Short versions of the examples with two phases, on few cells: each does what its page says one should look at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from tests.flows import Flow, compute

EXAMPLES = Path(__file__).parents[2] / "examples"


def short(name: str, cells: str, end: float, *settings: str) -> Flow:
    """An example on other cells to another time; the volume is kept."""
    flow = compute(tf.Case.load(EXAMPLES / f"{name}.toml", [f"grid.cells={cells}", f"time.end={end}", *settings]))
    assert abs(flow.setup.monitor.numbers(flow.scalars)["volume_change"]) <= 1e-10
    return flow


def centre(flow: Flow, axis: int, share: np.ndarray) -> float:
    """The mean place along an axis of what has a share of each cell."""
    return float((share * flow.points("f")[axis]).sum() / share.sum())


def height(flow: Flow) -> np.ndarray:
    """How much of phase 1 is above each point of the floor [y, x], as a length."""
    return flow["f"].sum(axis=0) * flow.setup.grid.spacing[2]


def crossing(flow: Flow, axis: int, share: np.ndarray) -> float:
    """The last place along an axis at which the share in a row of cells falls through 1/2, linear between cells."""
    place, (*_, last) = flow.points("f")[axis].ravel(), np.flatnonzero((share[:-1] > 0.5) & (share[1:] <= 0.5))
    part = (share[last] - 0.5) / (share[last] - share[last + 1])
    return float(place[last] + part * (place[last + 1] - place[last]))


@pytest.mark.slow
def test_rising_bubble():
    """By then its centre is at 0.5546 in the benchmark."""
    flow = short("rising_bubble", "[32, 1, 64]", 0.5)
    assert centre(flow, 2, 1 - flow["f"]) == pytest.approx(0.5546, abs=0.002)


@pytest.mark.slow
def test_bubble_torus():
    """The bottom rises through the middle, and faster than the top: a jet."""
    flow = short("bubble_torus", "[24, 24, 24]", 0.06)
    water = flow["f"][:, 11:13, 11:13].mean(axis=(1, 2))
    bottom, top = crossing(flow, 2, water), crossing(flow, 2, 1 - water)
    assert bottom - 0.03 > 1.5 * (top - 0.09) > 0


@pytest.mark.slow
def test_droplet_splash():
    """A rim around the droplet stands above the film, which is at rest far from it."""
    flow = short("droplet_splash", "[40, 40, 20]", 0.6)
    x, y, _ = flow.points("f")
    r, film = np.hypot(x[0] - 2, y[0] - 2), height(flow)
    assert film[(r > 0.6) & (r < 0.9)].max() > 0.26
    assert film[r > 1.6] == pytest.approx(0.2, abs=0.01)


@pytest.mark.slow
def test_dam_break():
    """The front is where it is on finer cells."""
    flow = short("dam_break", "[64, 1, 40]", 0.12)
    assert crossing(flow, 0, flow["f"][0, 0]) == pytest.approx(0.164, abs=0.004)


@pytest.mark.slow
def test_rayleigh_taylor():
    """Bubble and spike amid their ways, to a cell."""
    flow = short("rayleigh_taylor", "[16, 1, 64]", 2.0)
    light = 1 - flow["f"][:, 0]
    assert crossing(flow, 2, light[:, 0]) == pytest.approx(4 * 0.599, abs=0.0625)
    assert crossing(flow, 2, light[:, 8]) == pytest.approx(4 * 0.361, abs=0.0625)


@pytest.mark.slow
def test_sessile_droplet():
    """It is as high as the segment of a circle with its angle and area."""
    flow = short("sessile_droplet", "[32, 1, 12]", 8.0)
    assert height(flow).max() == pytest.approx(0.3436, rel=0.02)


def test_capillary_wave():
    """Half a period later crests are where troughs were, and lower."""
    wave = height(short("capillary_wave", "[16, 1, 48]", 0.3))[0] - 1.5
    assert wave[8] == pytest.approx(-wave[0], rel=0.02)
    assert wave[8] == pytest.approx(0.0073, abs=0.0012)  # Prosperetti's, of 0.01


@pytest.mark.slow
def test_sloshing():
    """Half a period later the middle is low, by what theory says."""
    middle = height(short("sloshing", "[32, 1, 20]", 2.0))[0, 15:17].mean() - 1
    assert middle == pytest.approx(-0.0035, abs=0.0004)


@pytest.mark.slow
def test_sloshing_baffle():
    """Over a baffle the water comes later to the other side."""
    free = short("sloshing_baffle", "[64, 1, 40]", 1.6, "obstacles=[]")
    held = short("sloshing_baffle", "[64, 1, 40]", 1.6)
    solid = np.abs(held.points("f")[0]) + 0 * held["f"] < 0.03
    assert centre(free, 0, free["f"]) < -0.005
    assert centre(held, 0, np.where(solid, 0, held["f"])) > 0.005
