"""Large-eddy simulation: the kernels equal NumPy, the models do what their papers say, friction is what it must be."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow import (
    Boundaries,
    Buoyancy,
    Fluid,
    Slip,
    Smagorinsky,
    StaggeredGrid,
    Transport,
    Turbulence,
    Vreman,
    Wale,
    Wall,
)
from taskflow.flow.boundaries.rough_wall import KARMAN, heat_supplies, supply_ghosts
from taskflow.flow.closures.eddy_viscosity import eddy_viscosity
from taskflow.flow.scalars.transport import transport
from taskflow.runtime.tasks import FACES, Roles
from tests import reference
from tests.flow.byhand import DT, RATIO, ByHand, momentum_with, scalar_with
from tests.flows import Lengths, compute, orders
from tests.reference import turbulence as by_numpy

VELOCITY = ("u", "v", "w")
FIELDS = (*VELOCITY, "nu_t")
CELLS = [(7, 5, 6), (1, 4, 3), (4, 1, 2), (37, 3, 4)]
VISCOSITY = 0.003
MODELS = {
    "smagorinsky": Turbulence(Smagorinsky(0.2), damped=False), "damped": Turbulence(Smagorinsky(0.2)),
    "wale": Turbulence(Wale(0.6)), "vreman": Turbulence(Vreman(0.1)),
}  # fmt: skip
PAIRS = list(permutations(range(3), 2))
PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}


def smooth(hand: ByHand) -> Boundaries:
    """Smooth walls all around that move in their planes, opposite ones alike: some cells are as far from both."""
    return {face: Wall(tuple(0.3 * (a - 0.6) * ("xyz"[a] != face[0]) for a in range(3))) for face in hand.faces()}


def find(hand: ByHand, model: Turbulence, boundaries: Boundaries | None = None, viscosity: float = VISCOSITY) -> None:
    """nu_t with its ghosts, and the scalars."""
    sides = smooth(hand) if boundaries is None else boundaries
    grid = hand.staggered.constants
    hand.run(*eddy_viscosity(Roles(nu_t="nu_t"), VELOCITY, None, model, sides, grid, viscosity))


def damping(hand: ByHand) -> np.ndarray:
    """Van Driest's, from the nearest wall of `smooth`."""
    velocity, h = hand.shifted(*VELOCITY), hand.staggered.spacing
    middle = [reference.operators.mean(q(), q(1, a)) for a, q in enumerate(velocity)]
    nearest, speed = np.full(hand.cells[::-1], np.inf), np.zeros(hand.cells[::-1])
    for face, wall in smooth(hand).items():
        axis = "xyz".index(face[0])
        index = np.arange(hand.cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
        y = ((hand.cells[axis] - index if face.endswith("max") else index + 1) - 0.5) * h[axis] + np.zeros_like(speed)
        seen = np.sqrt(sum((q - moving) ** 2 for q, moving in zip(middle, wall.velocity, strict=True)))
        speed, nearest = np.where(y < nearest * (1 - 1e-9), seen, speed), np.minimum(y, nearest)
    return by_numpy.van_driest(nearest, speed, VISCOSITY)


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("walls", [(True, True, True), (False, True, False), (False, False, False)])
@pytest.mark.parametrize("name", MODELS)
def test_eddy_viscosity(name, walls, cells, real, device):
    """As the papers write it; rate and eddy are its maximum and that of the crossings."""
    hand = ByHand(cells, walls, real, **device).fill(FIELDS)
    velocity, h, model = hand.shifted(*VELOCITY), hand.staggered.spacing, MODELS[name]
    find(hand, model)
    g = by_numpy.gradient(velocity, h)
    expected = getattr(by_numpy, "smagorinsky" if name == "damped" else name)(g, h, model.model.constant)
    if name == "damped" and any(walls):
        expected = expected * damping(hand) ** 2
    assert expected.max() > 0
    np.testing.assert_allclose(hand.values("nu_t"), expected, rtol=0, atol=hand.tolerance * expected.max())
    assert hand.scalars["eddy"] == hand.values("nu_t").max()
    assert hand.scalars["rate"] == pytest.approx(reference.advective_rate(velocity, h).max(), rel=hand.tolerance)


def linear(hand: ByHand, gradient: np.ndarray) -> None:
    """u_i = gradient[i, j] x_j everywhere, ghost cells included."""
    h = hand.staggered.spacing
    index = [np.arange(hand.memory.lo[a], hand.memory.hi[a]) for a in range(3)]
    for i, name in enumerate(VELOCITY):
        x, y, z = ((n + 0.5 * (a != i)) * h[a] for a, n in enumerate(index))
        hand.fields[name][...] = (
            gradient[i, 0] * x + gradient[i, 1] * y[:, None] + gradient[i, 2] * z[:, None, None]
        )


def test_smagorinsky_of_a_linear_velocity():
    """(C Delta)^2 |S|, the same in all cells."""
    hand = ByHand((5, 4, 3), (False,) * 3).fill(FIELDS)
    gradient = np.array([[0.3, 1.1, -0.7], [0.2, -0.5, 0.4], [0.9, -0.6, 0.2]])
    linear(hand, gradient)
    find(hand, MODELS["smagorinsky"])
    S = (gradient + gradient.T) / 2
    dx, dy, dz = hand.staggered.spacing
    np.testing.assert_allclose(
        hand.values("nu_t"), 0.2**2 * (dx * dy * dz) ** (2 / 3) * np.sqrt(2 * (S * S).sum()), rtol=1e-13
    )


@pytest.mark.parametrize(("along", "across"), PAIRS)
def test_pure_shear_has_no_eddies(along, across, real):
    """Of WALE and Vreman, to the bit; Smagorinsky has."""
    hand = ByHand((5, 4, 3), (False,) * 3, real).fill(FIELDS)
    gradient = np.zeros((3, 3))
    gradient[along, across] = 1.7
    linear(hand, gradient)
    for name in ("wale", "vreman"):
        find(hand, MODELS[name])
        assert not hand.values("nu_t").any(), name
    find(hand, MODELS["smagorinsky"])
    assert hand.values("nu_t").min() > 0


def test_fluid_at_rest_has_no_eddies(real, device):
    for name, model in MODELS.items():
        hand = ByHand((5, 4, 3), real=real, **device).fill(FIELDS)
        for q in VELOCITY:
            hand.fields[q][...] = 0.0
        find(hand, model, dict.fromkeys(hand.faces(), Wall()))
        assert not hand.values("nu_t").any(), name


@pytest.mark.parametrize("scale", [1e-8, 1e6])
def test_eddies_grow_with_the_gradient(scale):
    """In single precision, too, no power of the gradient leaves the numbers that there are."""
    for name in ("smagorinsky", "wale", "vreman"):
        hand, scaled = (ByHand((5, 4, 3), (False,) * 3, "f4").fill(FIELDS) for _ in range(2))
        for q in VELOCITY:
            scaled.fields[q] *= np.float32(scale)
        find(hand, MODELS[name])
        find(scaled, MODELS[name])
        expected = scale * hand.values("nu_t").astype("f8")
        np.testing.assert_allclose(scaled.values("nu_t"), expected, rtol=1e-4, err_msg=name)


@dataclass
class Layer(ByHand):
    """A thin layer on a wall."""

    @property
    def staggered(self) -> StaggeredGrid:
        return StaggeredGrid(self.cells, (1.1, 0.002, 1.7), periodic=(True, False, True))


@pytest.mark.parametrize(("name", "order"), [("smagorinsky", 0.0), ("damped", 2.0), ("wale", 3.0)])
def test_eddies_fall_towards_a_wall(name, order):
    """nu_t ~ y^order, where u and w grow with y and v with y^2."""
    hand = Layer((6, 64, 5), (False, True, False)).fill(FIELDS)
    kx, kz = 2 * np.pi / 1.1, 2 * np.pi / 1.7

    def u(x, y, z):
        return y * (1 + 0.3 * np.sin(kx * x + kz * z))

    def v(x, y, z):  # no divergence
        return -0.5 * y**2 * (0.3 * kx * np.cos(kx * x + kz * z) + 0.2 * kz * np.sin(kx * x - kz * z))

    def w(x, y, z):
        return 0.2 * y * np.cos(kx * x - kz * z)

    for name_of, function in zip(VELOCITY, (u, v, w), strict=True):
        points = hand.staggered.points("f" + "xyz"[VELOCITY.index(name_of)], hand.memory)
        hand.fields[name_of][...] = function(*points)
    find(hand, MODELS[name], {"y_min": Wall(), "y_max": Slip()}, viscosity=1e-3)
    nu = hand.values("nu_t").mean((0, 2))
    assert np.log2((nu[31] + nu[32]) / (nu[15] + nu[16])) == pytest.approx(order, abs=0.1)


# ---------------------------------------------------------------------------------------------- friction, conduction

FLUID, HEAT, BUOYANCY = Fluid(0.03, (0.3, -0.2, 0.1)), Transport(0.07, 0.6), Buoyancy(1.3, 0.4, (0.5, -9.81, 2.0))
PRANDTL = 0.7


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("walls", [(True, True, True), (False, True, False)])
@pytest.mark.parametrize("warm", [False, True])
def test_momentum(warm, walls, cells, real, device):
    task = momentum_with(eddies=True, warm=warm)
    hand = ByHand(cells, walls, real, **device).fill(task.fields)
    velocity, (nu_t,), h = hand.shifted(*VELOCITY), hand.shifted("nu_t"), hand.staggered.spacing
    old = hand.shifted("h_u", "h_v", "h_w")
    constants = {"grid": hand.staggered.constants, "fluid": FLUID, **({"buoyancy": BUOYANCY} if warm else {})}
    hand.run(hand.launch(task, constants))
    for a, name in enumerate(VELOCITY):
        H = reference.momentum_tendency(velocity, a, h, 0.0) + FLUID.force[a]
        H += by_numpy.friction(velocity, nu_t, a, h, FLUID.viscosity)
        if warm:
            [T] = hand.shifted("T")
            H += reference.buoyancy(T, a, BUOYANCY.expansion, BUOYANCY.reference, BUOYANCY.gravity)
        index = np.arange(cells[a]).reshape([-1 if n == 2 - a else 1 for n in range(3)])
        on_wall = np.broadcast_to(walls[a] & (index == 0), cells[::-1])
        expected = reference.step(velocity[a], H, old[a], DT, RATIO)
        hand.assert_agrees(f"{name}_new", np.where(on_wall, velocity[a](), expected))
        hand.assert_agrees(f"h_{name}", np.where(on_wall, 0.0, H))


@pytest.mark.parametrize("cells", CELLS)
def test_heat(cells, real, device):
    task = scalar_with(transport, eddies=True)
    hand = ByHand(cells, real=real, **device).fill(task.fields)
    velocity, (T, nu_t, old), h = hand.shifted(*VELOCITY), hand.shifted("q", "nu_t", "h_q"), hand.staggered.spacing
    hand.run(hand.launch(task, {"grid": hand.staggered.constants, "transport": HEAT, "prandtl": PRANDTL}))
    H = reference.transport_tendency(T, velocity, h, 0.0) + HEAT.source
    H += by_numpy.conduction(T, nu_t, h, HEAT.diffusivity, PRANDTL)
    hand.assert_agrees("q_new", reference.step(T, H, old, DT, RATIO))
    hand.assert_agrees("h_q", H)


def curl(hand: ByHand) -> None:
    """A random velocity without divergence: the discrete curl of a vector that lives on edges."""
    potential = [hand.fields[name].copy() for name in VELOCITY]
    for a, name in enumerate(VELOCITY):
        b, d = (a + 1) % 3, (a + 2) % 3
        along = [
            (np.roll(potential[q], -1, 2 - other) - potential[q]) / hand.staggered.spacing[other]
            for q, other in ((d, b), (b, d))
        ]
        hand.fields[name] = along[0] - along[1]


def test_a_constant_eddy_viscosity_is_a_viscosity():
    """Where there is no divergence, the full stress of one viscosity is that of the Laplacian: to rounding."""
    eddies = momentum_with(eddies=True)
    hand = ByHand((7, 5, 6), (False,) * 3, ghost=2).fill([*eddies.fields, *scalar_with(transport, eddies=True).fields])
    curl(hand)
    hand.fields["nu_t"][...] = 0.02
    grid = {"grid": hand.staggered.constants}
    assert abs(reference.divergence(hand.shifted(*VELOCITY), hand.staggered.spacing)).max() < 1e-12
    laminar = ByHand(hand.cells, hand.walls, ghost=2, fields=dict(hand.fields))
    hand.run(hand.launch(eddies, {**grid, "fluid": Fluid(0.01)}))
    hand.run(hand.launch(scalar_with(transport, eddies=True), {**grid, "transport": Transport(0.01), "prandtl": 0.5}))
    laminar.run(laminar.launch(momentum_with(), {**grid, "fluid": Fluid(0.03)}))
    laminar.run(laminar.launch(scalar_with(transport), {**grid, "transport": Transport(0.05)}))
    for name in ("u_new", "v_new", "w_new", "q_new"):
        laminar.assert_agrees(name, hand.values(name))


class Waves:
    """Plane waves u_i, T and nu_t, and what friction and conduction make of them exactly."""

    k = np.array([[1, 2, -1], [2, -1, 1], [-1, 1, 2], [1, -1, 2], [2, 1, 1]])  # of u, v, w, T, nu_t
    length = 2 * np.pi

    def angle(self, n: int, x: list[np.ndarray]) -> np.ndarray:
        return sum(k * xa for k, xa in zip(self.k[n], x, strict=True)) + 0.4 * n

    def value(self, n: int, x: list[np.ndarray]) -> np.ndarray:
        return np.sin(self.angle(n, x)) * (0.4 if n == 4 else 1.0) + (0.5 if n == 4 else 0.0)

    def slope(self, n: int, j: int, x: list[np.ndarray]) -> np.ndarray:
        return self.k[n, j] * np.cos(self.angle(n, x)) * (0.4 if n == 4 else 1.0)

    def bend(self, n: int, i: int, j: int, x: list[np.ndarray]) -> np.ndarray:
        return -self.k[n, i] * self.k[n, j] * np.sin(self.angle(n, x))

    def convection(self, n: int, x: list[np.ndarray]) -> np.ndarray:
        """div(u q)"""
        q = self.value(n, x)
        return sum(self.slope(j, j, x) * q + self.value(j, x) * self.slope(n, j, x) for j in range(3))

    def friction(self, i: int, x: list[np.ndarray], viscosity: float) -> np.ndarray:
        nu, total = viscosity + self.value(4, x), 0.0
        for j in range(3):
            total = total + self.slope(4, j, x) * (self.slope(i, j, x) + self.slope(j, i, x))
            total = total + nu * (self.bend(i, j, j, x) + self.bend(j, i, j, x))
        return total

    def conduction(self, x: list[np.ndarray], diffusivity: float, prandtl: float) -> np.ndarray:
        total = sum(self.slope(4, j, x) * self.slope(3, j, x) for j in range(3)) / prandtl
        return total + (diffusivity + self.value(4, x) / prandtl) * sum(self.bend(3, j, j, x) for j in range(3))


def errors_of_waves(n: int) -> list[float]:
    """The largest errors of the tendencies of u, v, w and T, on n x 3n/2 x 5n/4 cells."""
    waves, cells = Waves(), (n, 3 * n // 2, 5 * n // 4)
    tasks = momentum_with(eddies=True), scalar_with(transport, eddies=True)
    hand = Box2Pi(cells, (False,) * 3).fill([name for task in tasks for name in task.fields])
    grid, result = hand.staggered, []
    for n_field, (name, place) in enumerate([("u", "fx"), ("v", "fy"), ("w", "fz"), ("q", "c"), ("nu_t", "c")]):
        hand.fields[name] = waves.value(n_field, list(grid.points(place, hand.memory)))
    constants = {"grid": grid.constants}
    hand.run(hand.launch(tasks[0], {**constants, "fluid": Fluid(0.2)}))
    carried = {"transport": Transport(0.1), "prandtl": PRANDTL}
    hand.run(hand.launch(scalar_with(transport, eddies=True), {**constants, **carried}))
    for a, name in enumerate("uvw"):
        x = list(grid.points("f" + "xyz"[a], hand.box))
        result.append(abs(hand.values(f"h_{name}") + waves.convection(a, x) - waves.friction(a, x, 0.2)).max())
    x = list(grid.points("c", hand.box))
    exact = waves.conduction(x, 0.1, PRANDTL) - waves.convection(3, x)
    return [*result, abs(hand.values("h_q") - exact).max()]


@dataclass
class Box2Pi(ByHand):
    """A box of the length of waves."""

    @property
    def staggered(self) -> StaggeredGrid:
        return StaggeredGrid(self.cells, (Waves.length,) * 3, periodic=(True, True, True))


def test_a_viscosity_that_varies_is_of_order_2():
    """Friction and conduction of plane waves, in all terms, with three spacings."""
    cells = [16, 32, 48]
    for errors in zip(*(errors_of_waves(n) for n in cells), strict=True):
        assert orders(errors, cells)[1] == pytest.approx(2.0, abs=0.1)


# -------------------------------------------------------------------------------------------------------- boundaries


@pytest.mark.parametrize("cells", [(5, 4, 3), (2, 3, 2)])
def test_beyond_boundaries(cells, real, device):
    """nu_t is 0 on smooth walls, and the same on both sides of a slip boundary."""
    hand = ByHand(cells, real=real, **device).fill(FIELDS)
    sides = {face: Wall() if n % 2 else Slip() for n, face in enumerate(hand.faces())}
    find(hand, MODELS["wale"], sides)
    for face, side in sides.items():
        axis, end = "xyz".index(face[0]), int(face.endswith("max"))
        ghost, inside = (hand.values("nu_t", hand.box.layer(axis, end, *at)) for at in ((-1, 0), (0, 1)))
        np.testing.assert_array_equal(ghost, -inside if isinstance(side, Wall) else inside)


@pytest.mark.parametrize(("face", "real"), [*((face, "f8") for face in FACES), ("y_max", "f4")])
def test_stress_of_a_rough_wall(face, real, device):
    """What momentum makes of the ghosts of u and nu_t is (kappa / log(1 + y / z_0))^2 |u| u, |u| being the mean of the
    two cells beside each face.
    """
    hand = ByHand((5, 4, 6), real=real, **device).fill(FIELDS)
    axis, end = "xyz".index(face[0]), int(face.endswith("max"))
    h, moving = hand.staggered.spacing, [0.3, -0.2, 0.1]
    moving[axis] = 0.0
    y, roughness, viscosity = h[axis] / 2, 0.011, 1e-4
    sides = {other: Wall() for other in hand.faces()} | {face: Wall(tuple(moving), roughness=roughness)}
    find(hand, MODELS["vreman"], sides, viscosity)
    inside, ghost = hand.box.layer(axis, end, 0, 1), hand.box.layer(axis, end, -1, 0)
    along = [a for a in range(3) if a != axis]
    middle = [
        reference.operators.mean(q(), q(1, a)) - moving[a]
        for a, q in zip(along, hand.shifted(*(VELOCITY[a] for a in along), box=inside), strict=True)
    ]
    drag = (KARMAN / np.log(1 + y / roughness)) ** 2 * np.sqrt(middle[0] ** 2 + middle[1] ** 2)
    on_wall = viscosity + reference.operators.mean(hand.values("nu_t", ghost), hand.values("nu_t", inside).astype("f8"))
    np.testing.assert_allclose(on_wall * 2 / h[axis], drag, rtol=20 * hand.tolerance)


def test_a_rough_wall_is_never_smoother_than_a_smooth_one():
    """Where the flow is too slow for the law, the viscosity of the fluid is left."""
    hand = ByHand((5, 4, 6)).fill(FIELDS)
    sides = dict.fromkeys(hand.faces(), Wall(roughness=0.001))
    find(hand, MODELS["vreman"], sides, viscosity=10.0)
    ghost, inside = (hand.values("nu_t", hand.box.layer(2, 0, *at)) for at in ((-1, 0), (0, 1)))
    np.testing.assert_array_equal(ghost, -inside)


def test_a_heat_flux_through_a_rough_wall(real, device):
    hand = ByHand((5, 4, 6), real=real, **device).fill([*FIELDS, "T"])
    sides = {
        face: Wall(roughness=0.01, heat_flux=0.1 * n - 0.25, heat_transfer=0.2 * (n > 3), outside_temperature=0.7)
        for n, face in enumerate(hand.faces())
    }
    find(hand, MODELS["wale"], sides)
    hand.run(*supply_ghosts("T", "nu_t", heat_supplies(sides, hand.staggered.constants), 0.02, PRANDTL))
    for face, wall in sides.items():
        axis, end = "xyz".index(face[0]), int(face.endswith("max"))
        layers = [hand.box.layer(axis, end, *at) for at in ((-1, 0), (0, 1))]
        (T, T_inside), (nu, nu_inside) = ([hand.values(q, box).astype("f8") for box in layers] for q in ("T", "nu_t"))
        flux = (0.02 + (nu + nu_inside) / 2 / PRANDTL) * (T - T_inside) / hand.staggered.spacing[axis]
        coming = wall.heat_flux + wall.heat_transfer * (0.7 - (T + T_inside) / 2)
        np.testing.assert_allclose(flux, coming, rtol=0, atol=10 * hand.tolerance)


# ------------------------------------------------------------------------------------------------------- whole flows


def channel(across: str, along: str, **tables) -> Case:
    """8 cells between rough walls, driven by a force; only the walls make eddies."""
    rough = {"type": "wall", "roughness": 0.01}
    return Case(
        grid={"cells": [8 if axis == across else 2 for axis in "xyz"], "lengths": [2.0, 2.0, 2.0]},
        fluid={"viscosity": 0.01},
        turbulence={"model": "smagorinsky", "constant": 0.0},
        boundaries={axis: "periodic" for axis in "xyz" if axis != across}
        | {f"{across}_min": rough, f"{across}_max": {**rough, "roughness": 0.03}},
        body={"force": [0.3 * (axis == along) for axis in "xyz"]},
        initial={"velocity": [7.0 * (axis == along) for axis in "xyz"]},
        time={"end": 3000.0, "steady": 1e-13, "diffusion": 0.25, "cfl": 2.0},
        pressure={"iterations": 1},
        **tables,
    )


@pytest.mark.parametrize(("along", "across"), [("x", "z"), ("z", "y")])
def test_a_channel_between_rough_walls(along, across):
    """In equilibrium the walls take what the force gives, by the logarithmic law, and the stress is linear between."""
    flow = compute(channel(across, along))
    u = np.moveaxis(flow["uvw"["xyz".index(along)]], 2 - "xyz".index(across), 0).reshape(8, -1)
    np.testing.assert_allclose(u, u[:, :1].repeat(u.shape[1], 1), rtol=1e-12)
    stresses = [(KARMAN / np.log(1 + 0.125 / z)) ** 2 * u[n, 0] ** 2 for n, z in ((0, 0.01), (-1, 0.03))]
    assert sum(stresses) == pytest.approx(0.3 * 2.0, rel=1e-9)
    np.testing.assert_allclose(
        0.01 * np.diff(u[:, 0]) / 0.25, stresses[0] - 0.3 * 0.25 * np.arange(1, 8), rtol=0, atol=1e-9
    )


def vortices(**tables) -> Case:
    """The Taylor-Green vortex in three dimensions on few cells."""
    side = 2 * np.pi
    return Case(
        grid={"cells": [12, 12, 12], "lengths": [side, side, side]}, boundaries=PERIODIC, fluid={"viscosity": 1e-3},
        initial={"velocity": ["sin(x)*cos(y)*cos(z)", "-cos(x)*sin(y)*cos(z)", 0.0]},
        **{"time": {"end": 3.0, "step": 0.05}, "pressure": {"solver": "fft"}, **tables},
    )  # fmt: skip


def test_energy_decays_faster_with_eddies():
    laminar = compute(vortices()).history[-1]["energy"]
    for name in ("smagorinsky", "wale", "vreman"):
        assert compute(vortices(turbulence={"model": name})).history[-1]["energy"] < 0.97 * laminar, name


def test_eddies_take_the_energy_that_they_must():
    """-dE/dt = mean of nu S_ij S_ij 2, at the edges and in the cells where the stresses are: with Smagorinsky's."""
    dt = 1e-4
    case = vortices(turbulence={"model": "smagorinsky"}, time={"steps": 1, "step": dt})
    flow = compute(case)
    before, after = flow.history
    start = compute(case, clock=Lengths(()))
    nu = 1e-3 + start["nu_t"]
    u = [start[q] for q in VELOCITY]
    h, power = 2 * np.pi / 12, 0.0
    for a in range(3):
        power = power + 2 * nu * ((np.roll(u[a], -1, 2 - a) - u[a]) / h) ** 2
        for b in range(a):
            around = sum(np.roll(nu, shift, (2 - a, 2 - b)) for shift in product((0, 1), repeat=2)) / 4
            shear = (u[a] - np.roll(u[a], 1, 2 - b) + u[b] - np.roll(u[b], 1, 2 - a)) / h
            power = power + around * shear**2
    assert (before["energy"] - after["energy"]) / dt == pytest.approx(power.mean(), rel=2e-3)


@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
def test_the_step_is_bounded_by_the_largest_viscosity(scheme):
    """In the last step, by what the state before it had."""
    tables = {"turbulence": {"model": "smagorinsky", "constant": 3.0, "prandtl": 0.5}, "heat": {"diffusivity": 0.002}}
    before, flow = (
        compute(vortices(**tables, time={"steps": n, "cfl": 9.0, "diffusion": 0.15, "scheme": scheme})) for n in (3, 4)
    )
    largest = before["nu_t"].max()
    assert largest > 0.1
    assert flow.tick.dt == pytest.approx(0.15 / ((0.002 + largest / 0.5) * 3 * (12 / (2 * np.pi)) ** 2), rel=1e-12)


def test_heat_is_conserved():
    """Eddies carry heat and scalars from cell to cell; they come through walls as they must, rough ones, too."""
    wall = {"type": "wall", "heat_flux": 0.2, "roughness": 0.005}
    case = Case(
        grid={"cells": [6, 5, 7], "lengths": [1.0, 0.8, 1.2]}, fluid={"viscosity": 0.002}, heat={"diffusivity": 0.003},
        turbulence={"model": "vreman"}, boundaries={"x": "periodic", "y_min": "wall", "y_max": "slip", "z_min": wall,
        "z_max": "wall"}, initial={"velocity": ["sin(6*y)*cos(5*z)", "cos(7*x)", "cos(4*y)"], "temperature": "x*z"},
        scalars=[{"name": "c", "diffusivity": 0.001, "scheme": "central", "initial": "y",
                  "boundaries": {"z_min": {"flux": 0.1}, "y_max": {"flux": 0.3}}}],
        time={"steps": 40, "step": 0.01},
    )  # fmt: skip
    flow = compute(case)
    x, _, z = flow.points("T")
    assert flow["nu_t"].max() > 1e-3
    assert flow["T"].mean() == pytest.approx((x * z + 0 * flow["T"]).mean() + 0.4 * 0.2 / 1.2, rel=1e-12)
    assert flow["c"].mean() == pytest.approx(0.4 + 0.4 * (0.1 / 1.2 + 0.3 / 0.8), rel=1e-12)


def test_heat_from_a_rough_wall_is_what_the_monitor_tells():
    """As much as the fluid gains in a step, of Euler's method."""
    hot = {"type": "wall", "temperature": 2.0, "roughness": 0.005}
    case = Case(
        grid={"cells": [6, 5, 7], "lengths": [1.0, 0.8, 1.2]}, fluid={"viscosity": 0.002}, heat={"diffusivity": 0.003},
        turbulence={"model": "vreman"}, boundaries={"x": "periodic", "y": "periodic", "z_min": hot, "z_max": "slip"},
        initial={"velocity": ["1 + sin(6*y)*cos(5*z)", "cos(7*x)", 0], "temperature": "x*z"},
        time={"steps": 1, "step": 0.001},
    )  # fmt: skip
    start, end = compute(case, clock=Lengths(())), compute(case)
    flux = start.history[0]["flux_z_min"] / 30
    assert flux > 1.1 * 0.003 * 2 / (1.2 / 7) * (2 - start["T"][0].mean())  # more than is conducted
    assert (end["T"].mean() - start["T"].mean()) * 1.2 == pytest.approx(0.001 * flux, rel=1e-9)


@pytest.mark.parametrize(("leaving", "pressure", "blocks"), [
    ({"type": "outflow"}, {"iterations": 5}, (2, 1, 1)),
    ({"type": "outflow", "pressure": 0}, {"solver": "fft"}, (1, 1, 1)),
])  # fmt: skip
def test_eddies_at_open_boundaries(leaving, pressure, blocks):
    """Nothing is read before it is written; the bits are the same on blocks."""
    case = Case(
        grid={"cells": [7, 4, 5], "lengths": [2.0, 0.8, 1.2]}, fluid={"viscosity": 0.002}, heat={"diffusivity": 0.003},
        turbulence={"model": "vreman"}, pressure=pressure,
        boundaries={
            "x_min": {"type": "inflow", "velocity": ["1 + 0.3*sin(4*z + t)", "0.1*cos(9*y)", "0.2"], "temperature": 1},
            "x_max": leaving, "y_min": "wall", "y_max": "slip", "z_min": {"type": "wall", "roughness": 0.01},
            "z_max": "wall",
        },
        initial={"velocity": ["1 + sin(6*y)*cos(5*z)", "cos(7*x)", "cos(4*y)"], "temperature": "x*z"},
        time={"steps": 3},
    )  # fmt: skip
    clean, dirty = compute(case, overlap="none"), compute(case, blocks, garbage=np.nan)
    assert clean["nu_t"].max() > 1e-5
    for field in ("u", "v", "w", "p", "T", "nu_t"):
        assert np.isfinite(clean[field]).all()
        np.testing.assert_array_equal(dirty[field], clean[field], err_msg=field)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["smagorinsky", "wale", "vreman"])
def test_nothing_is_read_before_it_is_written(name):
    """NaN everywhere before the start changes no bit of what is inside."""
    rough = {"type": "wall", "roughness": 0.01, "velocity": [0.2, 0.0, 0.0], "heat_flux": 0.1}
    case = Case(
        grid={"cells": [5, 4, 6], "lengths": [1.0, 0.8, 1.2]}, fluid={"viscosity": 0.002}, heat={"diffusivity": 0.003},
        turbulence={"model": name}, boundaries={"x_min": "wall", "x_max": "slip", "y_min": "wall",
        "y_max": {"type": "wall", "velocity": [0.5, 0.0, 0.1]}, "z_min": "wall", "z_max": rough},
        initial={"velocity": ["sin(6*y)*cos(5*z)", "cos(7*x)", "cos(4*y)"], "temperature": "x*z"}, time={"steps": 3},
    )  # fmt: skip
    clean, dirty = (compute(case, (2, 1, 1), garbage=garbage) for garbage in (None, np.nan))
    for field in clean.setup.model.fields:
        assert np.isfinite(clean[field]).all()
        np.testing.assert_array_equal(dirty[field], clean[field], err_msg=field)
