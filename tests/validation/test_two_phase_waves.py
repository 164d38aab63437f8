"""Two phases: waves under gravity, and layers, against theory."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from taskflow.flow.operators.phases import Phases
from tests.flow.phases import WALL, compute, heights, two_phase
from tests.validation.viscous_wave import decayed

DATA = Path(__file__).parents[1] / "data"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def table(name: str, columns: tuple[str, ...], **chosen: str) -> np.ndarray:
    """Columns of a file of reference data, of the rows that have these entries."""
    lines = (line for line in (DATA / name).read_text().splitlines() if not line.startswith("#"))
    rows = [row for row in csv.DictReader(lines) if all(row[key] == value for key, value in chosen.items())]
    return np.array([[float(row[column]) for row in rows] for column in columns])


def heights_of(shard, z: np.ndarray, vof: bool) -> np.ndarray:
    """The heights of an interface over x, of planes or of a level set."""
    return shard.read("f")[:, 0].sum(axis=0) * (z[1] - z[0]) if vof else heights(shard.read("phi"), z)


@pytest.mark.parametrize(("cells", "error", "vof"), [
    (32, 0.0232, False), (64, 0.0069, False), (16, 0.045, True), (32, 0.012, True),
])  # fmt: skip
def test_a_wave_under_gravity_decays_as_prosperetti_has_it(cells, error, vof):
    """V8: density 10 : 1, half a wavelength, at t - dt/2."""
    mu, omega = 0.0182571749236, 16.032448313657
    phases = Phases(1.0, 0.1, mu, mu, 0.0, (0.0, 0.0, -50.0))
    model = two_phase((cells // 2, 1, 2 * cells), (0.5, 1 / cells, 2.0), phases, periodic=(False, True, False), vof=vof)
    x, z = (model.staggered.coordinates("c", axis) for axis in (0, 2))

    def amplitude(shard, time, dt):
        height = heights_of(shard, z, vof)
        return omega * (time - dt / 2), 2 * ((height - 1) * np.cos(2 * np.pi * x)).mean()

    def wave(x, y, z):
        return 1 + 0.01 * np.cos(2 * np.pi * x) - z + 0 * y

    flow = compute(model, wave, end=26.69 / omega, look=amplitude, every=5)
    time, height = np.array(flow.history.values).T
    tau, exact = table("prosperetti_gravity_wave_table.csv", ("tau", "abs_a"))
    measured = abs(np.interp(tau, [0, *time], [0.01, *height]))
    assert np.sqrt(((measured - exact) ** 2).mean()) / 0.01 <= error


def rolled_over(share: float, n: int = 64) -> tuple[np.ndarray, np.ndarray, float]:
    """Times, the amplitude of a wave of n cells under a fluid three times denser over its first one, and the square of
    its growth rate by theory; the wavenumber is this share of the largest that grows.
    """
    k, begun = 2 * np.pi, 0.002
    sigma = 2 * (share / k) ** 2
    phases = Phases(3.0, 1.0, 1e-6, 1e-6, sigma, (0.0, 0.0, -1.0))
    model = two_phase((n // 2, 1, 2 * n), (0.5, 1 / n, 2.0), phases, periodic=(False, True, False))
    x, z = (model.staggered.coordinates("c", axis) for axis in (0, 2))

    def amplitude(shard, time, dt):
        return time - dt / 2, 2 * ((heights(-shard.read("phi"), z) - 1) * np.cos(k * x)).mean() / begun

    flow = compute(model, lambda x, y, z: z - 1 - begun * np.cos(k * x) + 0 * y, end=1.6, look=amplitude)
    time, height = np.array(flow.history.values).T
    return time, height, k * (2 - sigma * k**2) / (4 / np.tanh(k))


@pytest.mark.parametrize(("share", "error"), [(0.0, 0.0215), (0.5, 0.0228)])
def test_a_small_wave_under_a_heavy_fluid_grows_as_theory_has_it(share, error):
    """V12: from rest it is that of cosh; the last amplitude is between four and seven times the first."""
    time, height, square = rolled_over(share)
    assert np.arccosh(height[-1]) / time[-1] == pytest.approx(np.sqrt(square), rel=error)


def test_surface_tension_holds_a_short_wave_under_a_heavy_fluid():
    """V12: 1.2 times as short as waves that grow, it swings. Weight and tension act over the width of the interface,
    and both lose the same share of omega^2, of first order. Their difference, which remains here, loses more.
    """
    errors = []
    for n in (16, 32, 64):
        time, height, square = rolled_over(1.2, n)
        assert abs(height).max() <= 1
        errors.append(abs(height - np.cos(np.sqrt(-square) * time)).max())
    assert errors[0] >= 2 * errors[1] >= 4 * errors[2]
    assert errors[2] <= 0.045


def sloshing(cells: int, viscosity: float, end: float, *, arithmetic=False, every=1, **method) -> np.ndarray:
    """Times, and over the first amplitude the height in the middle of a tank and the amplitude of its first mode."""
    phases = Phases(1.0, 0.001, viscosity, 1e-6 if viscosity else 0.0, 0.0, (0.0, 0.0, -1.0), arithmetic)
    shape = (cells, 1, 5 * cells // 4), (1.0, 1 / cells, 1.25)
    model = two_phase(*shape, phases, periodic=(False, True, False), tolerance=1e-6, **method)
    x, z = (model.staggered.coordinates("c", axis) for axis in (0, 2))

    def look(shard, time, dt):
        height = (heights_of(shard, z, method.get("vof", False)) - 1) / 0.01
        return time - dt / 2, (9 * height[0] - height[1]) / 8, 2 * (height * np.cos(np.pi * x)).mean()

    def wave(x, y, z):
        return 1 + 0.01 * np.cos(np.pi * x) - z + 0 * y

    return np.array(compute(model, wave, end=end, look=look, every=every).history.values).T


@pytest.mark.parametrize(("cells", "error", "vof"), [(32, 0.0114, False), (16, 0.01, True)])
def test_a_wave_in_a_tank_decays(cells, error, vof):
    """V14: half a tank, as deep as half its width, between slip sides, Re = 20."""
    time, height, _ = sloshing(cells, 0.05, 8.7, every=20, vof=vof)
    at, exact = table("carrica2007_sloshing.csv", ("t", "eta"), Re="20")
    at, exact = at[at < 8.7], -exact[at < 8.7]
    assert np.sqrt(((np.interp(at, [0, *time], [1, *height]) - exact) ** 2).mean()) <= error


@pytest.mark.parametrize(("cells", "error"), [(8, 0.011), (16, 0.0033), (32, 0.0005)])
def test_a_wave_on_a_very_viscous_liquid_decays_as_linear_theory_has_it(cells, error):
    """V14: Re = 2. Steps are so short that iterations after each of them move the interface more than the wave does,
    and with a harmonic mean its crest has no friction. The published curve, as digitised, is 0.005 off.
    """
    time, _, mode = sloshing(cells, 0.5, 8.7, every=20, arithmetic=True, reinitialise=0)
    exact = decayed(time, 0.5, np.pi, depth=1.0, g=1.0, gas=0.001, height=0.25)
    assert np.sqrt(((mode - exact) ** 2).mean()) <= error


@pytest.mark.parametrize(("vof", "error"), [(False, 0.002), (True, 0.0025)])
def test_the_frequency_of_a_wave_in_a_tank(vof, error):
    """V14: without friction."""
    time, _, mode = sloshing(32, 0.0, 20.0, vof=vof)
    (last,) = np.nonzero(mode[:-1] * mode[1:] < 0)
    zeros = time[last] + (time[last + 1] - time[last]) * mode[last] / (mode[last] - mode[last + 1])
    frequency = np.pi * (len(zeros) - 1) / (zeros[-1] - zeros[0])
    assert frequency == pytest.approx(np.sqrt(np.pi * np.tanh(np.pi)), rel=error)


def test_a_wave_in_a_tank_keeps_its_energy():
    """V14: without friction, 96 cells per wavelength: at most 1 % is lost in a period."""
    time, _, mode = sloshing(48, 0.0, 20.0, vof=True)
    size = abs(mode)
    crests = 1 + np.flatnonzero((size[1:-1] >= size[:-2]) & (size[1:-1] > size[2:]))
    rate = 2 * np.polyfit(time[crests], np.log(size[crests]), 1)[0]
    assert -0.01 <= np.expm1(rate * 2 * np.pi / np.sqrt(np.pi * np.tanh(np.pi))) <= 0


@pytest.mark.parametrize("vof", [False, True])
@pytest.mark.parametrize(("n", "at", "error"), [(8, 0.5, 0.075), (16, 0.5, 0.0182), (16, 0.5 + 1 / 32, 0.02)])
def test_two_layers_flow_past_each_other(n, at, error, vof):
    """V16: Poiseuille flow of viscosities 100 : 1, with the interface on a face, and amid cells: order 2."""
    mu_1, mu_2, force = 1.0, 0.01, 0.01
    matrix = np.array([[mu_1, -mu_2], [at, 1 - at]])
    right = np.array([force, force * at**2 / (2 * mu_1) - force * (at - 1) ** 2 / (2 * mu_2)])
    c_1, c_2 = np.linalg.solve(matrix, right)

    def exact(x, y, z):
        lower = -force * z**2 / (2 * mu_1) + c_1 * z
        upper = -force * (z - 1) ** 2 / (2 * mu_2) + c_2 * (z - 1)
        return np.where(z < at, lower, upper) + 0 * x

    phases = Phases(1.0, 1.0, mu_1, mu_2, 0.0, (force, 0.0, 0.0))
    sides = {"periodic": (True, True, False), "sides": {"z": WALL}}
    model = two_phase((4, 1, n), (4 / n, 1 / n, 1.0), phases, **sides, tolerance=1e-10, vof=vof)
    flow = compute(model, lambda x, y, z: at - z + 0 * x, velocity=(exact, 0.0, 0.0), end=10.0, diffusion=0.24)
    z = (np.arange(n) + 0.5) / n
    speed = exact(0.0, 0.0, z)
    assert abs(flow.fields["u"][:, 0, 0] - speed).max() <= error * speed.max()
