"""Kernels beside bodies on grids with cells of different sizes, against NumPy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taskflow.flow import Fluid, Transport
from taskflow.flow.bodies import cuts, forces, immersed, obstacles
from taskflow.flow.closures.eddy_viscosity import Turbulence, Wale, eddy_viscosity
from taskflow.flow.operators.projection import correct
from taskflow.flow.poisson.operator import residual_square
from taskflow.flow.poisson.relaxation import jacobi
from taskflow.flow.scalars.transport import transport
from taskflow.flow.time.schemes import StagePart
from taskflow.runtime.tasks import Roles
from tests.flow import test_immersed, test_obstacles
from tests.flow.byhand import DT, FORCES, MEAN, RATIO, momentum_with, scalar_with, variant
from tests.flow.test_obstacles import (
    FLAGS,
    PUSH,
    STEPS,
    TENDENCY,
    VELOCITY,
    WALLS,
    closed,
    near,
    on_wall,
    push_on_faces,
    solid_face,
)
from tests.flow.test_stretched import Uneven
from tests.reference.stretched import Metrics, shift
from tests.reference.surfaces import adhered

FLUID, HEAT = Fluid(0.03, (0.3, -0.2, 0.1)), Transport(0.07, 0.6)
OLD, NEW = ("h_u", "h_v", "h_w"), ("u_new", "v_new", "w_new")
OWNERS, FRICTION = ("owner_x", "owner_y", "owner_z"), ("friction_x", "friction_y", "friction_z")
BLOCKAGE = ("blockage_x", "blockage_y", "blockage_z")


class Bodies:
    """Random fields over a stretched grid and random solid cells; the reference's operators, in all cells."""

    def __init__(self, walls, real, names, **device):
        plain, self.numbers = test_obstacles.prepared(walls, real, [*names], **device)
        self.hand = Uneven(plain.cells, walls, real, **device)
        self.hand.fields = plain.fields
        self.solid, self.metrics = self.numbers > 0, Metrics(self.hand.staggered)

    def __getitem__(self, name):
        return self.hand.fields[name].astype("f8")

    @property
    def velocity(self):
        return [self[name] for name in VELOCITY]

    def inside(self, q):
        return np.broadcast_to(q, self.solid.shape)[1:-1, 1:-1, 1:-1]

    def run(self, task, **constants):
        known = {"grid": self.hand.staggered.constants, "fluid": FLUID, "transport": HEAT, **constants}
        self.hand.run(self.hand.launch(task, {name: known[name] for name in task.constants}))

    def assert_agrees(self, name, expected):
        self.hand.assert_agrees(name, expected)

    def volume(self, axis=None):
        """Of cells, or around low faces across an axis."""
        item = [self.metrics.D[a] if a == axis else self.metrics.W[a] for a in range(3)]
        return self.inside(item[0] * item[1] * item[2])

    def stopped(self, axis):
        """What solid neighbours take of the Laplacian more than those with 0: the fluid stands still half a cell away,
        -2 q / width^2.
        """
        q, W, D = self.velocity[axis], self.metrics.W, self.metrics.D
        total = np.zeros_like(self.inside(q))
        for b, by in product((b for b in range(3) if b != axis), (-1, 1)):
            distance = D[b] if by < 0 else shift(D[b], b)
            surplus = self.inside((2 / W[b] - 1 / distance) / W[b])
            total += np.where(solid_face(self.solid, axis, b, by), surplus * self.inside(q), 0)
        return total

    def drawn(self, axis):
        """The same as it comes to solid faces from the fluid beside them."""
        q, W, D = self.velocity[axis], self.metrics.W, self.metrics.D
        total = np.zeros_like(self.inside(q))
        for b, by in product((b for b in range(3) if b != axis), (-1, 1)):
            distance = D[b] if by < 0 else shift(D[b], b)
            surplus = self.inside((2 / shift(W[b], b, by) - 1 / distance) / W[b])
            total += np.where(solid_face(self.solid, axis, b, 0), surplus * self.inside(shift(q, b, by)), 0)
        return total


@pytest.mark.parametrize("walls", WALLS)
def test_momentum(walls, real, device):
    task = momentum_with(bodies=True)
    made = Bodies(walls, real, list(task.fields), **device)
    before, expected = [made.inside(made[name]) for name in OLD], []
    for a, q in enumerate(made.velocity):
        H = made.inside(made.metrics.momentum(made.velocity, a, FLUID.viscosity) + FLUID.force[a])
        H = H - FLUID.viscosity * made.stopped(a)
        shut, wall, here = closed(made.solid, a), on_wall(made.hand, a), made.inside(q)
        moved = here + DT * ((1 + RATIO / 2) * H - RATIO / 2 * before[a])
        expected.append((np.where(wall, 0, np.where(shut, before[a], H)), np.where(shut | wall, here, moved)))
    made.run(task)
    for a, (H, moved) in enumerate(expected):
        made.assert_agrees(OLD[a], H)
        made.assert_agrees(NEW[a], moved)


def conducted(made: Bodies, name: str) -> list[np.ndarray]:
    """What diffuses into cells through each of their six faces, over the diffusivity: body 2 is half a cell away."""
    T, result = made[name], []
    for axis, side in STEPS:
        W, D = made.metrics.W[axis], made.metrics.D[axis]
        fluid, body = 1 / (W * (D if side < 0 else shift(D, axis))), 2 / W**2
        behind = near(made.numbers, axis, side)
        weight = np.where(behind == 0, made.inside(fluid), np.where(behind == 2, made.inside(body), 0))
        result.append(weight * made.inside(shift(T, axis, side) - T))
    return result


@pytest.mark.parametrize("walls", WALLS)
def test_heat(walls, real, device):
    task = scalar_with(transport, bodies=True)
    made = Bodies(walls, real, list(task.fields), **device)
    old, T = made.inside(made["h_q"]), made.inside(made["q"])
    H = made.inside(made.metrics.transport(made["q"], made.velocity, 0.0)) + HEAT.source
    H = H + HEAT.diffusivity * sum(conducted(made, "q"))
    expected = np.where(near(made.numbers) > 0, T, T + DT * ((1 + RATIO / 2) * H - RATIO / 2 * old))
    made.run(task)
    made.assert_agrees("q_new", expected)


@pytest.mark.parametrize("walls", WALLS)
def test_heat_of_a_body(walls, real, device):
    made = Bodies(walls, real, ["T", "solid", *OWNERS], **device)
    expected = 0.0
    for (axis, side), into in zip(STEPS, conducted(made, "T"), strict=True):
        index = np.arange(made.hand.cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
        beyond = made.hand.walls[axis] & (index == (0 if side < 0 else made.hand.cells[axis] - 1))
        from_body = (near(made.numbers) == 0) & (near(made.numbers, axis, side) == 2) & ~beyond
        expected += HEAT.diffusivity * (made.volume() * into)[from_body].sum()
    made.run(forces.heat_from_body, number=2)
    assert made.hand.scalars["flux"] == pytest.approx(expected, rel=50 * made.hand.tolerance)


@pytest.mark.parametrize("walls", WALLS)
def test_projection(walls, real, device):
    for task in (correct, obstacles.force):
        made = Bodies(walls, real, [*VELOCITY, "p", "solid"], **device)
        expected = []
        for a, q in enumerate(made.velocity):
            here, push = made.inside(q), DT * made.inside(made.metrics.gradient(made["p"], a))
            shut, wall = closed(made.solid, a), on_wall(made.hand, a)
            moved = here - push if task is correct else push
            kept = shut | wall if task is correct else ~shut | wall
            expected.append(np.where(kept, here, moved))
        made.run(task)
        for name, values in zip(VELOCITY, expected, strict=True):
            made.assert_agrees(name, values)


@pytest.mark.parametrize("walls", WALLS)
def test_pressure(walls, real, device):
    """A sweep brings the residual of each cell to 0; faces that are closed, or on walls, let nothing through."""
    made = Bodies(walls, real, ["p", "rhs", "solid", "p_new"], **device)
    p, total, diagonal = made["p"], 0.0, 0.0
    for axis, side in STEPS:
        W, D = made.metrics.W[axis], made.metrics.D[axis]
        index = np.arange(made.hand.cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
        wall = made.hand.walls[axis] & (index == (0 if side < 0 else made.hand.cells[axis] - 1))
        shut = (near(made.numbers) > 0) | (near(made.numbers, axis, side) > 0) | wall
        weight = made.inside(1 / (W * (D if side < 0 else shift(D, axis))))
        total, diagonal = total + np.where(shut, 0, weight * made.inside(shift(p, axis, side) - p)), diagonal + weight
    left = total - made.inside(made["rhs"])
    made.run(jacobi)
    made.assert_agrees("p_new", made.inside(p) + left / diagonal)
    expected = (made.volume() * ((left + MEAN) ** 2))[near(made.numbers) == 0].sum() / made.hand.staggered.volume
    made.run(variant(residual_square, "b screen mesh"))
    assert made.hand.scalars["residual"] == pytest.approx(expected, rel=made.hand.tolerance)


@pytest.mark.parametrize("walls", WALLS)
def test_the_force_on_bodies_is_what_the_fluid_loses(walls, real, device):
    made = Bodies(walls, real, [*VELOCITY, "p", "solid", *TENDENCY, *PUSH, *OWNERS], **device)
    push_on_faces(made.hand, 1.0, FLUID.viscosity)
    result = {}
    for number in (1, 2):
        made.run(forces.force_on_body, target=forces.ForceTarget(number, (0.1, 0.2, 0.3), stairs=1))
        result[number] = dict(made.hand.scalars)
    p = made["p"]
    for a, name in enumerate("xyz"):
        H = made.inside(made.metrics.momentum(made.velocity, a, FLUID.viscosity))
        brought, shut = H + FLUID.viscosity * made.drawn(a), closed(made.solid, a)
        before, behind = near(made.solid, a, -1), near(made.solid)
        push = np.where(before, 0, made.inside(shift(p, a, -1))) - np.where(behind, 0, made.inside(p))
        push = push / made.inside(made.metrics.D[a])
        owner = np.where(near(made.numbers) > 0, near(made.numbers), near(made.numbers, a, -1))
        for number in (1, 2):
            mine = shut & (owner == number) & ~on_wall(made.hand, a)
            for kind, values in (("friction", brought), ("pressure", push)):
                expected = (made.volume(a) * values)[mine].sum()
                assert result[number][FORCES[f"{kind}_{name}"]] == pytest.approx(expected, abs=made.hand.tolerance)
        if not any(walls):
            kept = made.volume(a) * (H - FLUID.viscosity * made.stopped(a))
            inputs = sum(result[number][FORCES[f"friction_{name}"]] for number in (1, 2))
            assert inputs == pytest.approx(-kept[~shut].sum(), abs=made.hand.tolerance)


def test_the_moment_of_a_pressure(device):
    """Of p = z on a box: its moment is that of a force through the middle of its faces."""
    made = Bodies((True, True, True), "f8", [*PUSH, "p", "solid", *OWNERS], **device)
    made.numbers[...] = 0
    made.numbers[3:5, 2:5, 3:6] = 1
    inside, grid = made.hand.box.slices(made.hand.memory.lo), made.hand.staggered
    for name in ("solid", *OWNERS):
        made.hand.fields[name][inside] = FLAGS[name](made.numbers.astype("u1"))
    for name in PUSH:
        made.hand.fields[name][...] = 0
    made.hand.fields["p"][inside] = z = grid.points("c", made.hand.box)[2]
    about, (wide_x, wide_y) = np.array([0.2, 0.1, 0.4]), (grid.widths(a) for a in (0, 1))
    made.run(forces.force_on_body, target=forces.ForceTarget(1, tuple(about.tolist()), stairs=1))
    lift = z.ravel()[1] - z.ravel()[4]
    areas = wide_x[None, 2:5] * wide_y[1:4, None]
    x, y = grid.coordinates("c", 0)[None, 2:5] - about[0], grid.coordinates("c", 1)[1:4, None] - about[1]
    expected = {"pressure_z": lift * areas.sum(), "moment_x": lift * (areas * y).sum()}
    for name, value in {**expected, "moment_y": -lift * (areas * x).sum(), "pressure_x": 0, "moment_z": 0}.items():
        assert made.hand.scalars[FORCES[name]] == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("walls", WALLS)
def test_eddies_see_walls_half_a_cell_away(walls, real, device):
    """Beside solid cells as beside walls: mirrored cells, with minus the velocity."""
    made = Bodies(walls, real, [*VELOCITY, "nu_t", "solid"], **device)
    W, D, g = made.metrics.W, made.metrics.D, np.zeros((3, 3, *(n - 2 for n in made.solid.shape)))
    for i, q in enumerate(made.velocity):
        middle = (q + shift(q, i)) / 2
        for j in range(3):
            if i == j:
                g[i, j] = made.inside((shift(q, i) - q) / W[i])
                continue
            values, ways = [], []
            for by, distance in ((-1, D[j]), (1, shift(D[j], j))):
                solid = near(made.solid, j, by)
                values.append(np.where(solid, -made.inside(middle), made.inside(shift(middle, j, by))))
                ways.append(np.where(solid, made.inside(W[j]), made.inside(distance)))
            g[i, j] = (values[1] - values[0]) / (ways[0] + ways[1])
    S, squared = (g + g.swapaxes(0, 1)) / 2, np.einsum("ik...,kj...->ij...", g, g)
    Sd = (squared + squared.swapaxes(0, 1)) / 2 - np.eye(3)[:, :, None, None, None] * np.einsum("ii...", squared) / 3
    a, b = (S**2).sum((0, 1)), (Sd**2).sum((0, 1))
    with np.errstate(invalid="ignore"):  # 0 / 0 in bodies
        expected = (0.6**2 * made.volume() ** (2 / 3)) * b**1.5 / (a**2.5 + b**1.25)
    grid = made.hand.staggered.constants
    made.hand.run(*eddy_viscosity(Roles(nu_t="nu_t"), VELOCITY, "solid", Turbulence(Wale(0.6)), {}, grid, 0.01))
    made.assert_agrees("nu_t", np.where(near(made.solid), 0, expected))


class Immersed(Bodies):
    """Random faces in bodies."""

    def __init__(self, walls, real, names, **device):
        plain, self.faces = test_immersed.prepared(walls, real, names, **device)
        self.hand = Uneven(plain.cells, walls, real, **device)
        self.hand.fields = plain.fields
        self.solid, self.metrics = self.faces[0] > 0, Metrics(self.hand.staggered)
        for axis, (name, body) in enumerate(zip(VELOCITY, self.faces, strict=True)):
            shut = (near(body) > 0) & ~on_wall(self.hand, axis)
            self.hand.fields[name][self.hand.box.slices(self.hand.memory.lo)][shut] = 0


@pytest.mark.parametrize("walls", WALLS)
def test_immersed_bodies(walls, real, device):
    """Friction at cut faces, and what that takes, on the true volumes around faces."""
    made = Immersed(walls, real, [*VELOCITY, *NEW, *PUSH, "p", "solid", *FRICTION, *BLOCKAGE, *OWNERS], **device)
    p, velocity, expected = made["p"], made.velocity, []
    for a, q in enumerate(velocity):
        kept, added = adhered(made.metrics, q, made[FRICTION[a]], made[BLOCKAGE[a]], a, DT * FLUID.viscosity)
        result = kept * made[NEW[a]] + added + (1 - kept) * DT * made.metrics.gradient(p, a)
        result = np.where(near(made.faces[a]) > 0, 0, made.inside(result))
        expected.append(np.where(on_wall(made.hand, a), made.inside(made[NEW[a]]), result))
    new = [made.inside(made[name]) for name in NEW]
    made.run(immersed.apply_wall_friction, viscosity=FLUID.viscosity, stage=StagePart(1.0, 0.0))
    for name, values in zip(NEW, expected, strict=True):
        made.assert_agrees(name, values)
    for number in (1, 2):
        made.run(forces.force_on_body, target=forces.ForceTarget(number, (0.1, 0.2, 0.3)))
        for a, name in enumerate("xyz"):
            push = np.where(near(made.faces[a]) > 0, made.inside(-made.metrics.gradient(p, a)), 0)
            mine = (cuts.owners(made.faces[a]) == number) & ~on_wall(made.hand, a)
            for kind, values in (("friction", (new[a] - expected[a]) / DT), ("pressure", push)):
                force, scale = (made.volume(a) * values)[mine].sum(), 10 / DT if kind == "friction" else 1
                within = made.hand.tolerance * scale
                assert made.hand.scalars[FORCES[f"{kind}_{name}"]] == pytest.approx(force, abs=within)
