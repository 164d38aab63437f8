"""A noise has the spectrum that was asked for and no divergence, and is the same whatever it is computed on."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.cases.formulas.noise import SPECTRA, RandomVelocity
from taskflow.flow import StaggeredGrid
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.device import cpu, gpu
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.regions import Box
from taskflow.systems.initial.fields import InitialFields, initial_profiles
from tests.flows import VELOCITY, Lengths, compute

TAU = 2 * np.pi
RMS = 0.3
CELLS, LENGTHS = (14, 12, 9), (TAU, 5.0, 4.0)


def drawn(cells=CELLS, lengths=LENGTHS, periodic=(True,) * 3, wavenumber=2.0, spectrum="passot-pouquet", seed=7):
    grid = StaggeredGrid(cells, lengths, periodic=periodic)
    return RandomVelocity(grid, RMS, wavenumber, SPECTRA[spectrum], seed).drawn()


def velocity(waves) -> list[np.ndarray]:
    return [waves.values(axis, waves.lattice.grid.box) for axis in range(3)]


def squares(components: list[np.ndarray]) -> float:
    return sum(float((q**2).mean()) for q in components)


@pytest.mark.parametrize("cells", [CELLS, (14, 1, 12), (3, 12, 8)])
@pytest.mark.parametrize("periodic", list(product((True, False), repeat=3)))
def test_no_divergence_no_flow_through_walls_and_the_rms(cells, periodic):
    waves = drawn(cells, periodic=periodic)
    components, grid = velocity(waves), waves.lattice.grid
    divergence = np.zeros(cells[::-1])
    for axis, q in enumerate(components):
        across = np.moveaxis(q, 2 - axis, 0)
        after = np.roll(across, -1, axis=0)
        if not periodic[axis]:
            after[-1] = 0.0  # the high wall
            assert not across[0].any()
        divergence += np.moveaxis(after - across, 0, 2 - axis) / grid.spacing[axis]
        if cells[axis] <= 4:
            assert not q.any()
    assert abs(divergence).max() < 2e-15 * max(abs(q).max() for q in components) / min(grid.spacing)
    assert np.sqrt(squares(components) / len(waves.lattice.dimensions)) == pytest.approx(RMS, rel=1e-12)
    np.testing.assert_allclose([q.mean() for q in components], 0, atol=1e-15)


@pytest.mark.parametrize(("spectrum", "peak", "most"), [("passot-pouquet", 2.5, 10.0), ("von-karman", 1.2, 9.6)])
def test_every_wave_has_the_energy_of_the_spectrum(spectrum, peak, most):
    """In a periodic cube: |u_k|^2 ~ E(k) / k^2."""
    n = 24
    components = velocity(drawn((n,) * 3, (TAU,) * 3, wavenumber=peak, spectrum=spectrum))
    energy = sum(abs(np.fft.fftn(q) / q.size) ** 2 for q in components)
    k = np.sqrt(sum(part**2 for part in np.meshgrid(*[np.fft.fftfreq(n, 1 / n)] * 3)))
    inside = (k > 0) & (k <= most)
    x = k[inside] / peak
    shape = x**4 * np.exp(-2 * x**2) if spectrum == "passot-pouquet" else x**4 / (1 + 2.4 * x**2) ** (17 / 6)
    result = energy[inside] / (shape / k[inside] ** 2)
    np.testing.assert_allclose(result, result.mean(), rtol=1e-8)
    assert energy[~inside].max() < 1e-30


def test_the_spectrum_between_walls():
    """Waves cos(pi n x / L), half as long: in two dimensions |u_k|^2 ~ E(k) / k for each of them."""
    n, peak = 20, 3.0
    u, _, w = velocity(drawn((n, 1, n), (np.pi, 0.1, np.pi), (False, True, False), peak))
    at, faces = np.arange(n) + 0.5, np.arange(n)
    number = np.arange(1, 12)
    cosine, sine = np.cos(np.pi / n * np.outer(number, at)), np.sin(np.pi / n * np.outer(number, faces))
    energy = (cosine @ u[:, 0] @ sine.T) ** 2 + (sine @ w[:, 0] @ cosine.T) ** 2
    k = np.hypot(number[:, None], number)
    inside = k <= 4 * peak
    result = energy[inside] / (k**3 * np.exp(-2 * (k / peak) ** 2))[inside]
    np.testing.assert_allclose(result, result.mean(), rtol=1e-8)


def test_the_seed_says_which():
    one, same, other = (velocity(drawn(seed=seed)) for seed in (7, 7, 8))
    for axis in range(3):
        np.testing.assert_array_equal(one[axis], same[axis])
        assert abs(np.corrcoef(one[axis].ravel(), other[axis].ravel())[0, 1]) < 0.3


def test_more_cells_show_the_same_waves():
    """Every third cell has its faces and centres where the coarse ones were: what differs is k~, of second order."""
    differences = []
    for n in (16, 32):
        coarse, fine = (velocity(drawn((m, 1, m), (TAU, 1.0, TAU)))[0] for m in (n, 3 * n))
        differences.append(abs(coarse - fine[1::3, :, ::3]).max())
    assert differences[0] < 0.1 * RMS
    assert differences[0] / differences[1] == pytest.approx(4, rel=0.3)


@pytest.mark.parametrize("on", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("periodic", [(True, True, False), (False, True, True)])
def test_any_part_has_the_same_bits(periodic, on):
    waves = drawn(periodic=periodic)
    whole, box = velocity(waves), Box((3, 2, 1), (9, 12, 4))
    device = gpu() if on == "gpu" else cpu(1)
    for axis in range(3):
        part = device.to_host(waves.values(axis, box, device.xp))
        np.testing.assert_array_equal(part, whole[axis][box.slices((0, 0, 0))])


def case(**initial) -> Case:
    return Case(
        grid={"cells": [12, 8, 10], "lengths": [1.0, 0.8, 1.1]},
        fluid={"viscosity": 0.01},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"},
        initial={"noise": {"rms": RMS, "wavenumber": 14.0}, **initial},
        time={"steps": 1},
    )


def test_a_noise_is_added_to_the_initial_velocity():
    flow = compute(case(velocity=[1.0, "z", 0.0]), clock=Lengths(()))  # no steps
    waves = flow.setup.system.noise.drawn()
    for axis, name in enumerate(VELOCITY):
        values = [1.0, flow.points("v")[2], 0.0][axis]
        expected = values + waves.values(axis, flow.setup.grid.box)
        np.testing.assert_allclose(flow[name], expected, rtol=0, atol=1e-13)  # what the projection leaves
    without = RunSetup(case(noise=None, velocity=[1.0, "z", 0.0]), (1, 1, 1))
    assert flow.setup.system.advective_rate > without.system.advective_rate


@pytest.mark.parametrize("blocks", [(1, 1, 3), (2, 2, 2)])
def test_any_blocks_have_the_same_bits(blocks, monkeypatch):
    """In as many pieces as it takes."""
    monkeypatch.setattr("taskflow.systems.initial.fields.WAVES", 100)
    setup = RunSetup(case(), blocks)
    fields = InitialFields(setup.grid.points, initial_profiles(setup.case), Path(), setup.system.noise)

    def job(shard):
        fields.fill(shard)
        return {name: (shard.cells, shard.read(name)) for name in VELOCITY}

    waves = setup.system.noise.drawn()
    whole = [waves.values(axis, setup.grid.box) for axis in range(3)]
    for share in run_threads(setup.partition, job, cpu(1)):
        for axis, (box, values) in enumerate(share.values()):
            np.testing.assert_array_equal(values, whole[axis][box.slices((0, 0, 0))])


def test_the_case_file_has_it(tmp_path):
    (tmp_path / "case.toml").write_text(case().to_toml())
    assert Case.load(tmp_path / "case.toml").initial == case().initial
    assert case().initial.noise.written() == {
        "rms": RMS, "wavenumber": 14.0, "spectrum": "passot-pouquet", "seed": 1,
    }  # fmt: skip
