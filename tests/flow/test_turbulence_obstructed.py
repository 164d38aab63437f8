"""Eddies beside bodies: the kernels against NumPy, and what the fluid loses is what bodies get."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow import Buoyancy, Fluid, Smagorinsky, Transport, Turbulence, Vreman, Wale
from taskflow.flow.bodies import forces
from taskflow.flow.closures.eddy_viscosity import eddy_viscosity
from taskflow.flow.scalars.transport import transport
from taskflow.runtime.tasks import Roles
from tests import reference
from tests.flow.byhand import DT, FORCES, RATIO, ByHand, momentum_with, scalar_with
from tests.flow.test_obstacles import (
    PUSH,
    STEPS,
    TENDENCY,
    VELOCITY,
    WALLS,
    closed,
    near,
    on_wall,
    prepared,
    push_on_faces,
    solid_face,
    touched,
)
from tests.reference import turbulence as by_numpy

FLUID = Fluid(0.03, (0.3, -0.2, 0.1))
BUOYANCY = Buoyancy(1.3, 0.4, (0.5, -9.81, 2.0))
HEAT, PRANDTL = Transport(0.07, 0.6), 0.7
MODELS = {"smagorinsky": Smagorinsky(0.2), "wale": Wale(0.6), "vreman": Vreman(0.1)}


def stress(hand: ByHand, solid: np.ndarray, axis: int, viscosity: float) -> np.ndarray:
    """div(nu (grad u + grad u^T)) of a component, nu_t being 0 on edges that touch a body. Half a cell away from a face
    the fluid stands still where the next one is solid.
    """
    velocity, (nu_t,), h = hand.shifted(*VELOCITY), hand.shifted("nu_t"), hand.staggered.spacing
    q = velocity[axis]
    high, low = (viscosity + nu_t()) * (q(1, axis) - q()), (viscosity + nu_t(-1, axis)) * (q() - q(-1, axis))
    total = 2 * (high - low) / h[axis] ** 2
    for along in (a for a in range(3) if a != axis):
        r = velocity[along]
        for n, by in ((1, 1), (0, -1)):
            cells = nu_t(n, along), nu_t(n - 1, along), nu_t(n, along, -1, axis), nu_t(n - 1, along, -1, axis)
            nu = viscosity + np.where(touched(solid, axis, along, by), 0, sum(cells) / 4)
            shear = (q(n, along) - q(n - 1, along)) / h[along] + (r(n, along) - r(n, along, -1, axis)) / h[axis]
            total += by * nu * shear / h[along]
            total -= viscosity * solid_face(solid, axis, along, by) * q() / h[along] ** 2
    return total


@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("warm", [False, True])
def test_momentum(walls, warm, real, device):
    task = momentum_with(eddies=True, warm=warm, bodies=True)
    hand, numbers = prepared(walls, real, list(task.fields), **device)
    solid, grid, expected = numbers > 0, hand.staggered, []
    velocity, old = hand.shifted(*VELOCITY), hand.shifted("h_u", "h_v", "h_w")
    for axis, q in enumerate(velocity):
        H = reference.momentum_tendency(velocity, axis, grid.spacing, 0.0) + FLUID.force[axis]
        H = H + stress(hand, solid, axis, FLUID.viscosity)
        if warm:
            T = hand.shifted("T")[0]
            H = H + reference.buoyancy(T, axis, BUOYANCY.expansion, BUOYANCY.reference, BUOYANCY.gravity)
        shut, wall = closed(solid, axis), on_wall(hand, axis)
        moved = np.where(shut | wall, q(), reference.step(q, H, old[axis], DT, RATIO))
        expected.append((np.where(wall, 0, np.where(shut, old[axis](), H)), moved))
    hand.run(hand.launch(task, {"grid": grid.constants, "fluid": FLUID, **({"buoyancy": BUOYANCY} if warm else {})}))
    for name, (H, moved) in zip(VELOCITY, expected, strict=True):
        hand.assert_agrees(f"h_{name}", H)
        hand.assert_agrees(f"{name}_new", moved)


@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("name", MODELS)
def test_eddy_viscosity(name, walls, real, device):
    """0 in bodies. A neighbour in a body moves as a ghost cell does: on the face between both the fluid rests."""
    hand, numbers = prepared(walls, real, [*VELOCITY, "nu_t", "solid"], **device)
    velocity, h, model = hand.shifted(*VELOCITY), hand.staggered.spacing, MODELS[name]
    g = by_numpy.gradient(velocity, h)
    for i, q in enumerate(velocity):
        middle = reference.operators.mean(q(), q(1, i))
        for j in (j for j in range(3) if j != i):
            low, high = (reference.operators.mean(q(by, j), q(by, j, 1, i)) for by in (-1, 1))
            low = np.where(near(numbers, j, -1) > 0, -middle, low)
            g[i, j] = (np.where(near(numbers, j, 1) > 0, -middle, high) - low) / (2 * h[j])
    with np.errstate(invalid="ignore"):  # 0 / 0 in bodies
        expected = np.where(near(numbers) > 0, 0, getattr(by_numpy, name)(g, h, model.constant))
    grid = hand.staggered.constants
    hand.run(*eddy_viscosity(Roles(nu_t="nu_t"), VELOCITY, "solid", Turbulence(model), {}, grid, 0.01))
    result, scale = hand.values("nu_t"), expected.max() ** 2
    # squares, as near 0 the reference of Vreman's loses half the digits
    np.testing.assert_allclose(result.astype("f8") ** 2, expected**2, rtol=0, atol=2 * hand.tolerance * scale)
    assert hand.scalars["eddy"] == hand.values("nu_t").max()


@pytest.mark.parametrize("walls", WALLS)
def test_heat(walls, real, device):
    """Between cells of the fluid eddies conduct, into bodies they do not."""
    task = scalar_with(transport, eddies=True, bodies=True)
    hand, numbers = prepared(walls, real, list(task.fields), **device)
    T, nu_t, *velocity = hand.shifted("q", "nu_t", *VELOCITY)
    h, old = hand.staggered.spacing, hand.shifted("h_q")[0]
    H = reference.transport_tendency(T, velocity, h, 0.0) + HEAT.source
    for axis, side in STEPS:
        behind, eddies = near(numbers, axis, side), (nu_t() + nu_t(side, axis)) / 2 / PRANDTL
        weight = np.where(behind == 0, HEAT.diffusivity + eddies, np.where(behind == 2, 2 * HEAT.diffusivity, 0))
        H = H + weight * (T(side, axis) - T()) / h[axis] ** 2
    expected = np.where(near(numbers) > 0, T(), reference.step(T, H, old, DT, RATIO))
    hand.run(hand.launch(task, {"grid": hand.staggered.constants, "transport": HEAT, "prandtl": PRANDTL}))
    hand.assert_agrees("q_new", expected)


def test_the_force_on_bodies_is_what_the_fluid_loses(real, device):
    """Of eddies, without viscosity, in a periodic flow: the stress alone, as the rest is tested without eddies."""
    names = [*VELOCITY, "p", "nu_t", "solid", *TENDENCY, *PUSH, "owner_x", "owner_y", "owner_z"]
    hand, numbers = prepared((False,) * 3, real, names, **device)
    hand.fields["nu_t"] = np.where(numbers > 0, 0, abs(hand.fields["nu_t"])).astype(real)
    inner = hand.values("nu_t").copy()
    hand.fields["nu_t"] = np.ascontiguousarray(np.pad(inner, 1, mode="wrap"))
    values = np.zeros(3)
    for number in (1, 2):
        constants = {"grid": hand.staggered.constants, "target": forces.ForceTarget(number, (0.0,) * 3, stairs=1)}
        result = []
        for without in ("T buoyancy", "nu_t T buoyancy"):
            push_on_faces(hand, 1.0, 0.0, without=without)
            hand.run(hand.launch(forces.force_on_body, constants))
            result.append(np.array([hand.scalars[FORCES[f"friction_{axis}"]] for axis in "xyz"]))
        values += result[0] - result[1]
    for axis in range(3):
        taken = stress(hand, numbers > 0, axis, 0.0)[~closed(numbers > 0, axis)].sum()
        assert values[axis] == pytest.approx(-hand.staggered.volume * taken, abs=hand.tolerance)
        assert abs(values[axis]) > 0.1
