"""Von Neumann's analysis of the marches: at the usual CFL number no wave grows."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.models.artificial_compressibility.method import Method

B = 2.5  # compressibility, with reference speed 1
PHASES = np.concatenate([-np.linspace(0, np.pi, 9)[1:], np.linspace(0, np.pi, 9)])
SPEEDS = [(0.0, 0.0), (0.3, 0.0), (1.0, 0.0), (0.5, 0.5), (1.0, 0.2), (2.0, 1.0)]


def through(method: Method, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Differences of fluxes of a wave: of the mean of both sides of faces, and what the scheme adds to it."""
    e = np.exp(1j * phase)
    if method.flux == "central":
        return (e - 1 / e) / 2, method.fourth * (1 - 1 / e) * (e * e - 1 / e - 3 * (e - 1))
    k = {"third": 1 / 3, "second": -1.0, "first": None}[method.reconstruction]
    share = (0.0, 0.0) if k is None else ((1 - k) / 4, (1 + k) / 4)
    low = 1 + share[0] * (1 - 1 / e) + share[1] * (e - 1)
    high = e - share[0] * (e * e - e) - share[1] * (e - 1)
    return (1 - 1 / e) * (low + high) / 2, -(1 - 1 / e) * (high - low) / 2


def growth(method: Method, u: tuple[float, float], viscosity: float) -> float:
    """The largest factor in a step of any wave of (p, u, v) in a stream u on cells of size 1."""
    x, y = (axis.ravel() for axis in np.meshgrid(PHASES, PHASES))
    size, carried, added = 0.0, 0.0, 0.0
    for axis, phase in enumerate((x, y)):
        A = np.zeros((3, 3))
        A[0, 1 + axis], A[1 + axis, 0] = B, 1.0
        A[1:, 1:] += u[axis] * np.eye(2)
        A[1:, 1 + axis] += u
        fastest = abs(u[axis]) + np.sqrt(u[axis] ** 2 + B)
        speeds, vectors = np.linalg.eig(A)
        upwind = (vectors * abs(speeds)) @ np.linalg.inv(vectors)
        damped = fastest * np.diag([1.0, 1.0, 1.0] if method.damping == "jst" else [1.0, 0.0, 0.0])
        mean, more = through(method, phase)
        carried = carried + mean[:, None, None] * A
        added = added + more[:, None, None] * (damped if method.flux == "central" else upwind)
        added = added + viscosity * (2 - 2 * np.cos(phase))[:, None, None] * np.diag([0.0, 1.0, 1.0])
        size += fastest + 4 * viscosity
    state, kept = np.eye(3) + 0j, 0.0
    for fraction, fresh in zip(method.stages.fractions, method.stages.fresh, strict=True):
        kept = fresh * (added @ state) + (1 - fresh) * kept
        state = np.eye(3) - fraction * method.courant / size * (carried @ state + kept)
    return float(abs(np.linalg.eigvals(state)).max())


def worst(method: Method, *viscosities: float) -> float:
    return max(growth(method, u, viscosity) for u in SPEEDS for viscosity in viscosities)


@pytest.mark.parametrize("march", ["rk4", "rk5"])
@pytest.mark.parametrize("scheme", [
    {"reconstruction": "third"}, {"reconstruction": "second"}, {"reconstruction": "first"}, {"flux": "central"},
    {"flux": "central", "damping": "pressure"},
], ids=lambda keys: "-".join(keys.values()))  # fmt: skip
def test_no_wave_grows(march, scheme):
    """Without friction, with some, and with much."""
    assert worst(Method(march=march, **scheme), 0.0, 0.1, 1.0, 100.0) < 1 + 1e-9


def test_what_bore_too_long_steps():
    """Of what is shorter now than of the march: at its usual number waves grow."""
    for march, reconstruction in (("rk4", "second"), ("rk5", "second"), ("rk4", "first")):
        method = Method(march=march, reconstruction=reconstruction)
        assert worst(Method(march=march, reconstruction=reconstruction, cfl=method.stages.cfl), 0.0) > 1.1


@pytest.mark.parametrize("reconstruction", ["third", "second", "first"])
def test_three_stages_need_friction(reconstruction):
    """a_2 = 0.4, not 1/2, makes long waves grow by 0.1 (CFL phase)^2: friction has to damp them."""
    method = Method(march="rk3", reconstruction=reconstruction)
    assert worst(method, 0.3, 1.0, 100.0) < 1 + 1e-9
    if reconstruction != "first":
        assert 1 < worst(method, 0.0) < 1.1


def test_euler_steps_bear_central_fluxes_as_far_as_friction_damps_them():
    """Where the fastest wave c has a step <= viscosity / c^2."""
    c = 1.0 + (1 + B) ** 0.5
    for viscosity in (0.05, 0.2, 1.0):
        size = 2 * c + 8 * viscosity
        most = viscosity / c**2 * size
        for factor, grows in ((0.9, False), (5.0, True)):
            method = Method(march="euler", flux="central", damping="pressure", cfl=factor * most)
            found = max(growth(method, u, viscosity) for u in SPEEDS[:3])
            assert (found > 1 + 1e-9) is grows
