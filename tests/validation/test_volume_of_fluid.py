"""Two phases as a volume of fluid, against benchmarks and theory. docs/validation/two_phase.md has the numbers."""

from __future__ import annotations

import tomllib
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from numpy import pi, sin

import taskflow as tf
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.machine.device import gpu
from tests.flow.phases import compute, two_phase
from tests.validation.test_two_phase import DATA, error_of_a_capillary_wave, series, squares, table
from tests.validation.test_two_phase_interface import STILL, carried, deformed, turning_back

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def vortex(cells: int):
    """The stream of Rider and Kothe (1998) by differences of its stream function: without divergence in any cell."""
    h = 1 / cells

    def stream(x, z):
        return sin(pi * x) ** 2 * sin(pi * z) ** 2 / pi

    return (
        lambda x, y, z: -(stream(x, z + h / 2) - stream(x, z - h / 2)) / h + 0 * y,
        STILL,
        lambda x, y, z: (stream(x + h / 2, z) - stream(x - h / 2, z)) / h + 0 * y,
    )


def assert_kept_within_bounds(flow) -> None:
    assert abs(flow.lost) <= 1e-13
    assert -1e-12 <= flow.ended.min() <= flow.ended.max() <= 1 + 1e-12


@pytest.mark.parametrize(("cells", "period", "error"), [(64, 8.0, 0.018), (128, 8.0, 2.0e-3), (64, 2.0, 8e-4)])
def test_a_circle_in_a_vortex(cells, period, error):
    """V1."""
    circle = lambda x, y, z: 0.15 - np.hypot(x - 0.5, z - 0.75) + 0 * y  # noqa: E731
    flow = carried((cells, 1, cells), circle, vortex(cells), period, factor=turning_back(period), vof=True)
    assert_kept_within_bounds(flow)
    assert flow.error <= error


def test_the_order_in_a_vortex():
    """V1: T = 2, from 32 to 128 cells."""
    circle = lambda x, y, z: 0.15 - np.hypot(x - 0.5, z - 0.75) + 0 * y  # noqa: E731
    coarse, fine = (
        carried((n, 1, n), circle, vortex(n), 2.0, factor=turning_back(2.0), vof=True).error for n in (32, 128)
    )
    assert np.log2(coarse / fine) / 2 >= 1.8


def test_a_slotted_disk_turns_once():
    """V2: Zalesak (1979)."""
    def disk(x, y, z):
        return np.minimum(0.15 - np.hypot(x - 0.5, z - 0.75), np.maximum(abs(x - 0.5) - 0.025, z - 0.85)) + 0 * y

    turning = (lambda x, y, z: 2 * pi * (0.5 - z), STILL, lambda x, y, z: 2 * pi * (x - 0.5))
    flow = carried((128, 1, 128), disk, turning, 1.0, vof=True)
    assert flow.error <= 1.5e-3


@pytest.mark.parametrize(("cells", "error"), [
    (32, 8.5e-3), (64, 2.8e-3), pytest.param(128, 8.8e-4, marks=pytest.mark.gpu)])  # fmt: skip
def test_a_ball_is_deformed(cells, error):
    """V3: on 128^3 cells the error is at most a third of that on 64^3."""
    flow = deformed(cells, gpu() if cells > 64 else None, vof=True)
    assert_kept_within_bounds(flow)
    assert flow.error <= error


@pytest.mark.parametrize(("cells", "error"), [(16, 0.028), (32, 0.009), (64, 0.0035)])
def test_a_capillary_wave_decays_as_prosperetti_has_it(cells, error):
    """V7: the amplitude of the first mode, compared at t - dt/2."""
    n, omega = cells, np.sqrt((2 * np.pi) ** 3 / 2)
    mu = np.sqrt(1 / 3000)
    phases, sides = Phases(1, 1, mu, mu, 1.0), {"periodic": (True, True, False)}
    model = two_phase((n, 1, 3 * n), (1.0, 1 / n, 3.0), phases, **sides, vof=True)
    assert error_of_a_capillary_wave(model, omega, lambda shard: shard.read("f")[:, 0, :].sum(axis=0) / n) <= error


def on_gpu(wanted: bool) -> tuple[str, ...]:
    return ("machine.device=gpu",) if wanted else ()


def time_of_peak(time: np.ndarray, speed: np.ndarray) -> float:
    """The time of the maximum of a quartic through the highest 3 %. The top is flat: speeds are within 0.2 % of the
    highest one for a ninth of its time, and the highest sample on 32 cells is 1 % later.
    """
    near = speed > 0.97 * speed.max()
    curve = np.polynomial.Polynomial.fit(time[near], speed[near], 4)
    fine = np.linspace(time[near][0], time[near][-1], 10001)
    return float(fine[curve(fine).argmax()])


@pytest.mark.parametrize(("cells", "peak", "height", "rms", "circularity"), [
    (32, 0.008, 0.01, 0.015, 0.01), (64, 0.008, 0.01, 0.01, 0.01),
    pytest.param(160, 0.005, 0.004, 0.01, 0.005, marks=pytest.mark.gpu),
])  # fmt: skip
def test_a_bubble_rises_as_in_the_benchmark(tmp_path, cells, peak, height, rms, circularity):
    """V10: case 1 of Hysing et al., at h = 1/160 on a GPU."""
    often = "phases=[{name='bubble', phase=2, every={steps=2}}]", "two_phase.method=vof"
    bubble = series(tmp_path, "rising_bubble", "bubble", *often, *squares(cells), *on_gpu(cells > 64))
    known = tomllib.loads((DATA / "hysing2009_rising_bubble.toml").read_text())["case1"]
    speed, time = bubble.velocity_z.values, bubble.time.values
    assert speed.max() == pytest.approx(known["rise_velocity_max"][2], rel=peak)
    assert time_of_peak(time, speed) == pytest.approx(known["t_rise_velocity_max"][2], rel=0.02)
    assert bubble.centre_z.values[-1] == pytest.approx(known["y_centre_t3"][2], rel=height)
    assert bubble.circularity.values.min() == pytest.approx(known["circularity_min"][2], rel=circularity)
    np.testing.assert_allclose(bubble.volume, bubble.volume[0], rtol=1e-12)
    rows = table("hysing2009_case1_moonmd_series.csv")
    reference = np.interp(time, *(np.array([float(row[name]) for row in rows]) for name in ("t", "rise_velocity")))
    assert np.sqrt(((speed - reference) ** 2).mean()) <= rms * reference.max()


@pytest.mark.parametrize("cells", [32, pytest.param(64, marks=pytest.mark.gpu)])
def test_a_bubble_at_1000_to_1(tmp_path, cells):
    """V11: case 2 of Hysing et al. to t = 3, with its skirts; also at h = 1/32 within the bounds of 1/64."""
    bubble = series(
        tmp_path, "rising_bubble", "bubble", *squares(cells), *on_gpu(cells > 32), "two_phase.method=vof",
        "two_phase.density=[1000.0,1.0]", "two_phase.viscosity=[10.0,0.1]", "two_phase.surface_tension=1.96",
        "phases=[{name='bubble', phase=2, every={steps=2}}]",
    )  # fmt: skip
    early = bubble.time.values < 1.4
    first, second = (bubble.velocity_z.values[part].max() for part in (early, ~early))
    assert 0.985 * 0.2502 <= first <= 1.015 * 0.2524
    assert 0.96 * 0.2393 <= second <= 1.04 * 0.2440
    assert bubble.centre_z.values[-1] == pytest.approx(1.1376, rel=0.01)


@cache
def swinging_droplet() -> tuple[np.ndarray, np.ndarray]:
    """V9: a quarter of a droplet of 25.6 cells per diameter, 1000 : 1, without friction: the times at which it is
    round, and its largest departures from a circle between them.
    """
    n, radius = 64, 0.1
    phases, plane = Phases(1.0, 1e-3, 0.0, 0.0, 1.0), (False, True, False)
    model = two_phase((n, 1, n), (0.5, 0.5 / n, 0.5), phases, periodic=plane, vof=True)

    def ellipse(x, y, z):
        return radius * (1 + 0.05 * np.cos(2 * np.arctan2(z, x))) - np.hypot(x, z) + 0 * y

    def longer(shard, time, dt):
        f = shard.read("f")[:, 0]
        return f[0].sum() - f[:, 0].sum()

    flow = compute(model, ellipse, end=1.0, look=longer, every=2)
    time, shape = np.array(flow.history.times), np.array(flow.history.values)
    (last,) = np.nonzero(shape[:-1] * shape[1:] < 0)
    zeros = time[last] + (time[last + 1] - time[last]) * shape[last] / (shape[last] - shape[last + 1])
    return zeros, np.array([abs(shape[low:high]).max() for low, high in pairwise(last)])


def test_a_droplet_swings_as_rayleigh_has_it():
    zeros, _ = swinging_droplet()
    assert pi * (len(zeros) - 1) / (zeros[-1] - zeros[0]) == pytest.approx(np.sqrt(6 / (1.001 * 0.1**3)), rel=0.01)


@pytest.mark.xfail(strict=True, reason="the energy falls as exp(-0.86 t): volumes less than half full lag")
def test_a_droplet_keeps_its_energy():
    """It loses at most as exp(-0.5 t)."""
    zeros, swings = swinging_droplet()
    assert abs(2 * np.polyfit((zeros[1:] + zeros[:-1]) / 2, np.log(swings), 1)[0]) <= 0.5


def test_two_droplets_rest():
    """Radii of 4.5 and 13 cells, 1000 : 1, in a periodic box: each keeps its volume, and its place to 1e-3 cells."""
    n, centres, radii = 64, ((52.0, 50.0), (24.0, 26.0)), (4.5, 13.0)
    phases, sides = Phases(1.0, 1e-3, 0.1, 1e-4, 1.0), {"periodic": (True, True, True)}
    model = two_phase((n, 1, n), (n, 1.0, n), phases, **sides, tolerance=1e-6, vof=True)

    def inside(number, x, z):
        return radii[number] - np.hypot(x - centres[number][0], z - centres[number][1])

    def droplets(x, y, z):
        return np.maximum(inside(0, x, z), inside(1, x, z)) + 0 * y

    begun, ended = (compute(model, droplets, steps=steps).fields["f"][:, 0] for steps in (0, 4000))
    z, x = np.indices(begun.shape) + 0.5
    for number, centre in enumerate(centres):
        own = inside(number, x, z) > inside(1 - number, x, z)
        assert ended[own].sum() == pytest.approx(begun[own].sum(), rel=1e-12)
        place = [(ended * q)[own].sum() / ended[own].sum() for q in (x, z)]
        assert np.hypot(*np.subtract(place, centre)) <= 1e-3


def test_a_raindrop_falls(tmp_path):
    """Water in air, 3 mm, 8 m/s, 16 cells per diameter, 2 ms: one droplet, hardly faster, which only loses energy."""
    centre, radius, speed = 3e-3, 1.5e-3, 8.0
    inside = f"{radius} - sqrt((x - {centre})**2 + (y - {centre})**2 + (z - {centre})**2)"
    drop = tf.Case(
        grid={"cells": [32] * 3, "lengths": [2 * centre] * 3}, boundaries=dict.fromkeys("xyz", "periodic"),
        two_phase={
            "density": [1000.0, 1.2], "viscosity": [1e-3, 1.8e-5], "surface_tension": 0.072, "initial": inside,
            "method": "vof",
        },
        initial={"velocity": [0, 0, f"where({inside} > 0, -{speed}, 0)"]}, time={"end": 2e-3},
        monitor={"every": {"steps": 5}}, output={"every": 5e-4}, machine={"threads": 1},
    )  # fmt: skip
    run = tf.run(drop, tmp_path / "run", progress=lambda _: None)
    energy = [line["kinetic_energy"] + line["surface_energy"] for line in run.log()]
    assert (np.diff(energy) < 0).all()
    flow = run.dataset()
    assert flow.flow.droplets(phase=1).sizes["droplet"] == 1
    for number, name in enumerate("wvu"):
        f = flow.f.values[1:]
        liquid = f + np.roll(f, 1, axis=1 + number) > 1
        assert abs(flow[name].values[1:][liquid]).max() <= 1.1 * speed
