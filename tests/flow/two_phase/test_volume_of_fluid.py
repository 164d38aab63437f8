"""Flows with a volume of fluid: what stays exactly, boundaries, bodies, even and odd steps."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.operators.phases import Phases
from taskflow.runtime.tasks import Roles
from tests.flow.phases import compute, two_phase

PLANE = {"periodic": (False, True, False), "vof": True}


def circle(x0, z0, radius):
    return lambda x, y, z: radius - np.sqrt((x - x0) ** 2 + (z - z0) ** 2) + 0 * y


@pytest.mark.parametrize("ratio", [1e3, pytest.param(1e6, marks=pytest.mark.slow)])
def test_a_droplet_is_carried_by_a_uniform_stream(ratio):
    """V6: without surface tension the stream stays uniform, and phase 1 is kept."""
    n = 24
    phases = Phases(ratio, 1.0, 0.0, 0.0)
    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), phases, periodic=(True,) * 3, tolerance=1e-12, vof=True)
    flow = compute(model, circle(0.5, 0.5, 0.25), velocity=(1.0, 0.0, 0.5), steps=20)
    assert max(abs(flow.fields["u"] - 1.0).max(), abs(flow.fields["w"] - 0.5).max()) <= 1e-12
    f = flow.fields["f"]
    assert -1e-12 <= f.min() <= f.max() <= 1 + 1e-12
    assert f.mean() == pytest.approx(np.pi / 16, rel=1e-7)


@pytest.mark.parametrize("steps", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_at_rest_no_bit_of_the_shares_changes(steps):
    """A square and a circle, without forces."""
    n = 24
    phases = Phases(1000.0, 1.0, 1.0, 1e-3)

    def shapes(x, y, z):
        square = 0.2 - np.maximum(abs(x - 0.3), abs(z - 0.31))
        return np.maximum(square, circle(0.75, 0.7, 0.15)(x, y, z))

    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), phases, **PLANE)
    start, end = (compute(model, shapes, steps=count, fixed=0.01).fields["f"] for count in (0, steps))
    np.testing.assert_array_equal(end, start)


@pytest.mark.parametrize("steps", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_layers_at_rest_stay_at_rest(steps):
    """V17: 1000 : 1, flat, amid cells."""
    n = 24
    phases = Phases(1000.0, 1.0, 1.0, 1e-3, 0.0, (0.0, 0.0, -1.0))
    model = two_phase((n // 2, 1, n), (0.5, 1 / n, 1.0), phases, **PLANE, tolerance=1e-12)
    flow = compute(model, lambda x, y, z: 0.513 - z + 0 * x, steps=steps)
    assert max(abs(flow.fields[name]).max() for name in "uvw") <= 1e-9


@pytest.mark.parametrize("tension", [0.0, pytest.param(1.0, marks=pytest.mark.slow)])
def test_a_filament_thinner_than_a_cell_breaks(tension):
    """1000 : 1, 0.6 cells thick, folded by a shear flow: phase 1 is kept whatever becomes of it."""
    n = 24
    phases = Phases(1.0, 1e-3, 0.01, 1e-5, tension)
    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), phases, periodic=(True,) * 3, vof=True)

    def filament(x, y, z):
        return 0.3 / n - abs(z - 0.5 - 0.04 * np.sin(2 * np.pi * x)) + 0 * y

    shear = (lambda x, y, z: np.sin(2 * np.pi * z) + 0 * x, 0.0, lambda x, y, z: 0.2 * np.sin(2 * np.pi * x) + 0 * z)
    start, end = (compute(model, filament, velocity=shear, steps=steps) for steps in (0, 80))
    f, begun = end.fields["f"], start.fields["f"]
    assert begun.max() < 0.7
    assert abs(f - begun).max() > 0.3
    assert f.sum() == pytest.approx(begun.sum(), rel=1e-13)
    assert all(np.isfinite(values).all() for values in end.fields.values())


def test_odd_steps_go_the_other_way():
    """The axes of the sweeps of two steps, of one after another, and of one that goes on after an odd number."""
    phases = Phases(10.0, 1.0, 0.0, 0.0)
    model = two_phase((6, 5, 4), (1.0, 1.0, 1.0), phases, periodic=(True,) * 3, vof=True)

    def axes(roles: Roles) -> list[str]:
        launches = [one for one in model.interface.advance(roles) if one.task.base.name == "share_flux"]
        return [one.task.orientation for one in launches]

    roles = Roles.of(tuple(model.fields))
    assert axes(roles) == ["x", "y", "z"]
    list(model.step(roles))
    assert axes(roles) == ["z", "y", "x"]
    list(model.step(roles))
    assert axes(roles) == ["x", "y", "z"]
    for step, expected in ((4, "xyz"), (7, "zyx")):
        roles = Roles.of(tuple(model.fields))
        model.restarted(roles, step)
        assert "".join(axes(roles)) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("ratio", "most"), [(1.0, 1e-6), (1000.0, 5e-6)])
def test_a_droplet_at_rest_rests(ratio, most):
    """V4: a quarter of a droplet of 25.6 cells per diameter, La = 1200, one viscous time D^2 rho / mu."""
    n, diameter, laplace = 32, 0.8, 1200.0
    mu = np.sqrt(diameter / laplace)
    phases = Phases(1.0, 1 / ratio, mu, mu / ratio, 1.0)
    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), phases, **PLANE, tolerance=1e-12)
    flow = compute(model, circle(0.0, 0.0, diameter / 2), end=diameter**2 / mu)
    assert max(abs(flow.fields[name]).max() for name in "uvw") * mu <= most
    p = flow.fields["p"]
    assert p[0, 0, 0] - p[-1, 0, -1] == pytest.approx(2 / diameter, rel=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(("ratio", "tolerance"), [(1.0, 1e-12), (1000.0, 1e-8)])
def test_a_droplet_at_rest_in_space_rests(ratio, tolerance):
    """V5: an eighth of a droplet of 24 cells per diameter, La = 1200, 0.06 of the viscous time."""
    diameter, n = 0.8, 20
    mu, length = np.sqrt(diameter / 1200), diameter / 24 * n
    phases = Phases(1.0, 1 / ratio, mu, mu / ratio, 1.0)
    model = two_phase((n,) * 3, (length,) * 3, phases, vof=True, tolerance=tolerance)
    ball = lambda x, y, z: diameter / 2 - np.sqrt(x**2 + y**2 + z**2)  # noqa: E731
    flow = compute(model, ball, end=0.06 * diameter**2 / mu)
    assert max(abs(flow.fields[name]).max() for name in "uvw") * mu <= 1e-5
    p = flow.fields["p"]
    assert p[0, 0, 0] - p[-1, -1, -1] == pytest.approx(4 / diameter, rel=0.01)
