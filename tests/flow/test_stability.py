"""What is stable where a flow is carried and diffuses at once: against roots of polynomials, and against runs."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.common.errors import RunFailed
from taskflow.flow import StaggeredGrid
from taskflow.flow.stability import Waves, amplification
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, RUNGE_KUTTA
from tests.flow.test_schemes import integrate
from tests.flows import compute

GRID = StaggeredGrid((8, 8, 8), (1.0, 2.0, 3.0), periodic=(True, True, True)).constants
LINE = StaggeredGrid((32, 1, 1), (1.0, 1.0, 1.0), periodic=(True, True, True)).constants
SOME = np.random.default_rng(3).uniform(-2, 2, (200, 2)) @ np.array([1, 1j])


def test_adams_bashforth_has_the_roots_of_its_polynomial():
    expected = [max(abs(np.roots([1, -(1 + 1.5 * z), 0.5 * z]))) for z in SOME]
    np.testing.assert_allclose(amplification(ADAMS_BASHFORTH, SOME), expected, rtol=1e-12)


def test_runge_kutta_has_its_polynomial():
    np.testing.assert_allclose(amplification(RUNGE_KUTTA, SOME), abs(1 + SOME + SOME**2 / 2 + SOME**3 / 6), rtol=1e-12)


@pytest.mark.parametrize("scheme", [ADAMS_BASHFORTH, RUNGE_KUTTA])
def test_amplification_is_what_steps_do(scheme):
    for z in SOME[:20]:
        early, late = (abs(integrate(scheme, lambda q, z=z: z * q, 1.0, n, n)) for n in (40, 60))
        assert (late / early) ** (1 / 20) == pytest.approx(float(amplification(scheme, np.array(z))), rel=2e-2)


@pytest.mark.parametrize("scheme", [ADAMS_BASHFORTH, RUNGE_KUTTA])
@pytest.mark.parametrize("upwind", [False, True])
@pytest.mark.parametrize(("cfl", "diffusion"), [(0.4, 0.1), (0.6, 0.24), (1.5, 0.5), (0.9, 0.0), (0.0, 0.3)])
def test_the_worst_of_all_waves_and_directions(scheme, upwind, cfl, diffusion):
    """Waves and directions by chance, in three dimensions: none grows faster, some nearly as fast."""
    random = np.random.default_rng(0)
    angles = np.minimum(random.uniform(0, 1.4 * np.pi, (60_000, 3)), np.pi)  # waves of two cells are often the worst
    parts = random.dirichlet([0.2, 0.2, 0.2], len(angles)) * random.uniform(0, 1, (len(angles), 1)) ** 0.2
    carrying = np.exp(1j * angles)
    across = (3 * carrying + 3 - 7 / carrying + 1 / carrying**2) / 8 if upwind else (carrying - 1 / carrying) / 2
    weights = np.array([GRID.inverse_spacing_squared_along(axis) for axis in range(3)]) / GRID.inverse_spacing_squared
    z = -diffusion * 4 * (np.sin(angles / 2) ** 2 @ weights) - cfl * (parts * across).sum(axis=1)
    result = max(float(amplification(scheme, z).max()) - 1, 0.0)
    bound = Waves(scheme, GRID, upwind).growth(cfl, diffusion)
    assert result <= bound + 2e-3
    assert result >= 0.8 * bound - 1e-3


@pytest.mark.parametrize(("scheme", "cfl", "diffusion"), [(ADAMS_BASHFORTH, 0.5, 0.2), (RUNGE_KUTTA, 1.2, 0.4)])
def test_what_the_examples_have_is_stable_on_any_grid(scheme, cfl, diffusion):
    for lengths in ((1, 1, 1), (1, 100, 1), (1, 1, 100)):
        for share in np.linspace(0, 1, 11):
            assert Waves(scheme, StaggeredGrid((8, 8, 8), lengths).constants).stable(cfl, share * diffusion)


def test_limits():
    """Those of diffusion alone, and of convection alone, as the schemes say; waves need more than one cell."""
    for scheme in (ADAMS_BASHFORTH, RUNGE_KUTTA):
        assert Waves(scheme, GRID).longest(0.0, 1.0) == pytest.approx(scheme.diffusion, abs=0.01)
    assert Waves(RUNGE_KUTTA, GRID).longest(10.0, 0.0) == pytest.approx(RUNGE_KUTTA.cfl / 10, abs=1e-3)
    assert Waves(ADAMS_BASHFORTH, GRID).longest(10.0, 0.0) == pytest.approx(0.05, abs=1e-3)
    assert Waves(ADAMS_BASHFORTH, GRID).longest(0.3, 0.1) == 1.0
    alone = LINE.inverse_spacing_squared / LINE.inverse_spacing_squared_along(0)
    assert Waves(ADAMS_BASHFORTH, LINE).longest(0.0, 1.0) == pytest.approx(0.25 * alone, rel=1e-3)
    assert Waves(ADAMS_BASHFORTH, StaggeredGrid((1, 1, 1), (1, 1, 1)).constants).growth(9.0, 9.0) == 0.0


STEPS = 300


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.parametrize("fluid", ["central", "quick"])
@pytest.mark.parametrize("cell_reynolds", [1.0, 4.0, 1e4])
def test_runs_a_little_below_and_above(scheme, fluid, cell_reynolds):
    """A uniform stream along x with waves of all lengths, tiny: they fade, or grow, as the limit says."""
    n, kind = 16, {"ab2": ADAMS_BASHFORTH, "rk3": RUNGE_KUTTA}[scheme]
    h = 1.0 / n
    grid = StaggeredGrid((n, n, n), (1.0, 1.0, 1.0), periodic=(True, True, True)).constants
    nu = h / cell_reynolds
    numbers = 10.0 * 1.0, 10.0 * h * nu * grid.inverse_spacing_squared
    share = Waves(kind, grid, fluid == "quick").longest(*numbers)

    def speeds(part: float) -> float:
        noise = "1e-9 * sin(1e4 * sin(7.7 * x + 1.3) * cos(5.1 * y + 2.2) * sin(9.2 * z + 0.4))"
        case = Case(
            grid={"cells": [n, n, n], "lengths": [1, 1, 1]}, fluid={"viscosity": nu, "scheme": fluid},
            boundaries={"x": "periodic", "y": "periodic", "z": "periodic"},
            initial={"velocity": [1.0, noise, noise]}, pressure={"solver": "fft"},
            time={"steps": STEPS, "step": part * share * 10.0 * h, "scheme": scheme},
        )  # fmt: skip
        try:
            return float(np.abs(compute(case)["v"]).max())
        except RunFailed:
            return np.inf

    if scheme == "ab2" and cell_reynolds > 100 and fluid == "central":  # tolerated growth, and then more
        assert speeds(0.95) < 1e-9 * 1.027**STEPS < speeds(1.08)
    else:
        assert speeds(0.95) < 2e-9
        assert speeds(1.08) > 1e-8
