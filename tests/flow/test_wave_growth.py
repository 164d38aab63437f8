"""Von Neumann's analysis of the marches: at the usual CFL number no wave grows."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.models.artificial_compressibility.method import MethodOptions
from taskflow.flow.models.artificial_compressibility.stability import growth, longest

B = 2.5  # compressibility, with reference speed 1
PHASES = np.concatenate([-np.linspace(0, np.pi, 9)[1:], np.linspace(0, np.pi, 9)])
SPEEDS = [(0.0, 0.0), (0.3, 0.0), (1.0, 0.0), (0.5, 0.5), (1.0, 0.2), (2.0, 1.0)]


def worst(method: MethodOptions, *viscosities: float) -> float:
    return max(growth(method, PHASES, u, B, viscosity) for u in SPEEDS for viscosity in viscosities)


@pytest.mark.parametrize("march", ["rk4", "rk5"])
@pytest.mark.parametrize("scheme", [
    {"reconstruction": "third"}, {"reconstruction": "second"}, {"reconstruction": "first"}, {"flux": "central"},
    {"flux": "central", "damping": "pressure"},
], ids=lambda keys: "-".join(keys.values()))  # fmt: skip
def test_no_wave_grows(march, scheme):
    """Without friction, with some, and with much."""
    assert worst(MethodOptions(march=march, **scheme), 0.0, 0.1, 1.0, 100.0) < 1 + 1e-9


def test_what_bore_too_long_steps():
    """Of what is shorter now than of the march: at its usual number waves grow."""
    for march, reconstruction in (("rk4", "second"), ("rk5", "second"), ("rk4", "first")):
        method = MethodOptions(march=march, reconstruction=reconstruction)
        assert worst(MethodOptions(march=march, reconstruction=reconstruction, cfl=method.stages.cfl), 0.0) > 1.1


@pytest.mark.parametrize("reconstruction", ["third", "second", "first"])
def test_three_stages_need_friction(reconstruction):
    """a_2 = 0.4, not 1/2, makes long waves grow by 0.1 (CFL phase)^2: friction has to damp them."""
    method = MethodOptions(march="rk3", reconstruction=reconstruction)
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
            method = MethodOptions(march="euler", flux="central", damping="pressure", cfl=factor * most)
            result = max(growth(method, PHASES, u, B, viscosity) for u in SPEEDS[:3])
            assert (result > 1 + 1e-9) is grows


@pytest.mark.parametrize(("keys", "friction", "most"), [
    ({"march": "rk4"}, 0.0, 2.087), ({"march": "rk4"}, 100.0, 2.786), ({"march": "rk5"}, 0.0, 3.55),
    ({"march": "rk3"}, 0.0, 2.10), ({"march": "rk4", "reconstruction": "second"}, 0.0, 0.694),
    ({"march": "euler", "reconstruction": "first"}, 0.0, 1.0), ({"march": "rk4", "flux": "central"}, 0.0, 4.15),
    ({"march": "rk4", "flux": "central", "fourth": 0.25}, 0.0, 2.785 / (16 * 0.25)),
    ({"march": "euler", "flux": "central", "damping": "pressure"}, 0.1, 2 * 0.1 * 1.4),
])  # fmt: skip
def test_the_longest_steps_of_a_fluid_at_rest(keys, friction, most):
    """In two dimensions. Of single stages with central fluxes it is 2 r (1 + 4 r), with r = viscosity / (c h)."""
    assert longest(MethodOptions(cfl=9.0, **keys), 2, friction, friction) == pytest.approx(most, rel=0.02)
    shorter = MethodOptions(cfl=0.9 * most, **keys)
    assert longest(shorter, 2, friction, friction) == shorter.courant


@pytest.mark.parametrize("keys", [{}, {"march": "rk5"}, {"reconstruction": "second"}, {"flux": "central"}], ids=str)
def test_what_is_stable_in_three_dimensions(keys):
    """No less than in two, where steps are 2/3 as long in the direction of a wave."""
    flat, solid = (longest(MethodOptions(cfl=9.0, **keys), dims, 0.0, 0.0) for dims in (2, 3))
    assert flat <= solid <= 1.5 * flat
