"""A cylinder in a channel on five body-fitted charts, marched implicitly, against Schaefer & Turek (1996)."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.geometry.grids import quality, write_grid
from tests.validation.body_fitted import solved
from tests.validation.channel_cylinder import (
    CENTRE,
    Coefficients,
    case,
    channel,
    forces,
    pressure_difference,
    steady,
)
from tests.validation.cylinder import reference

slow = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.mark.parametrize(("n", "device", "most"), [
    pytest.param(16, "cpu", Coefficients(0.003, 0.0004, 0.009), marks=slow),
    pytest.param(32, "cpu", Coefficients(0.001, 0.0004, 0.005), marks=slow),
    pytest.param(64, "gpu", Coefficients(0.001, 0.0002, 0.002), marks=[*slow, pytest.mark.gpu]),
    pytest.param(96, "gpu", Coefficients(0.001, 0.0001, 0.001), marks=[*slow, pytest.mark.gpu]),
])  # fmt: skip
def test_steady_forces(n, device, most, tmp_path):
    """V18, 2D-1: drag and pressure within 0.5 %, lift within 0.001. Measured on 16, 32, 64 and 96 cells along each
    quarter: drag -0.22, +0.04, +0.05 and +0.04 %; lift -0.00029, -0.00032, -0.00013 and -0.00007; pressure -0.73,
    -0.25, -0.10 and -0.06 %.
    """
    known, of = reference("steady"), steady(n, tmp_path, device=device)
    assert of.drag == pytest.approx(known["Cd"], rel=most.drag)
    assert of.lift == pytest.approx(known["Cl"], abs=most.lift)
    assert of.pressure == pytest.approx(known["dp"], rel=most.pressure)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_largest_drag_of_a_pulse(tmp_path):
    """V18, 2D-3, to t = 4.2, in steps of 0.01: within 0.5 %. Measured: 2.9488 at t = 3.93, 0.07 % too small. The lift,
    which is largest later, takes finer cells: see below.
    """
    write_grid(tmp_path / "grid.xyz", channel(24))
    run = solved(case("pulse", tmp_path / "grid.xyz", {"step": 0.01, "end": 4.2}, device="cpu"), tmp_path / "run")
    time, drag, _ = forces(run, "pulse").T
    known, n = reference("pulse"), int(np.argmax(drag))
    assert drag[n] == pytest.approx(known["Cd_max"], rel=0.005)
    assert time[n] == pytest.approx(known["t_Cd_max"], abs=0.03)


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_forces_and_pressure_of_a_pulse(tmp_path):
    """V18, 2D-3, 80 cells along each quarter of the cylinder, steps of 0.005: drag within 0.5, lift within 3, pressure
    within 2 %. Measured: 2.9541, 0.4667 and -0.1110, +0.11, -2.4 and -0.5 %.
    """
    write_grid(tmp_path / "grid.xyz", channel(80))
    run = solved(case("pulse", tmp_path / "grid.xyz", {"step": 0.005, "end": 8.0}, device="gpu"), tmp_path / "run")
    _, drag, lift = forces(run, "pulse").T
    known = reference("pulse")
    assert drag.max() == pytest.approx(known["Cd_max"], rel=0.005)
    assert lift.max() == pytest.approx(known["Cl_max"], rel=0.03)
    assert pressure_difference(run) == pytest.approx(known["dp_t8"], rel=0.02)


def test_the_grid():
    """Its charts meet face to face, and its cells are all right; the walls are where they should be."""
    grid = channel(8)
    assert (len(grid.charts), len(grid.seams)) == (5, 5)
    assert set(grid.sides) == {"inlet", "outlet", "walls", "cylinder", "ends"}
    assert quality(grid).skewness.value < 0.55
    radii = [np.hypot(*(chart.vertices[:2, 0, 0] - CENTRE[:, None])) for chart in grid.charts[:4]]
    np.testing.assert_allclose(radii, 0.05, rtol=1e-12)
