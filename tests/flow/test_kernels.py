"""Every kernel equals its NumPy reference, reads what its task declares, and gives the same bits however it is cut."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taskflow.flow import Buoyancy, Fluid, StaggeredGrid, Transport
from taskflow.flow.boundaries.sides import normal_velocity
from taskflow.flow.boundaries.slip import Slip
from taskflow.flow.closures import Closure
from taskflow.flow.closures import eddy_viscosity as turbulence
from taskflow.flow.grid import on_face
from taskflow.flow.measures import monitor
from taskflow.flow.operators import projection, rates
from taskflow.flow.poisson import operator, relaxation
from taskflow.flow.scalars.transport import transport
from taskflow.runtime.machine.device import gpu
from taskflow.runtime.machine.kernel import Layout, compiled
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Task, Variant
from tests import reference
from tests.flow.byhand import DT, RATIO, ByHand, momentum_with, scalar_with, variant
from tests.flows import plane_heat_flux

FLUID = Fluid(0.03, (0.3, -0.2, 0.1))
BUOYANCY = Buoyancy(1.3, 0.4, (0.5, -9.81, 2.0))
CORRECT = variant(projection.correct, "solid")
jacobi, jacobi_half = variant(relaxation.jacobi, "solid"), variant(relaxation.jacobi_half, "solid")
jacobi_twice = variant(relaxation.jacobi_twice, "solid near")
jacobi_twice_half = variant(relaxation.jacobi_twice_half, "solid near")
residual_square = variant(operator.residual_square, "solid b screen mesh")
rhs_sums = variant(operator.rhs_sums, "b screen cells mesh")
TRANSPORT, TRANSPORTED = Transport(0.07, 0.6), scalar_with(transport)
MIXING, PRANDTL = 0.03, 0.7
SMOOTH = turbulence.SmoothWalls(
    0.01, (0.1, 0.05, 9e9), (1.1, 9e9, 1.5), (0.0, 0.2, 0.1), (0.0, 0.0, 0.0), (0.3, 0.0, -0.2), (0.0, 0.0, 0.0),
    (0.0, 0.0, 0.0), (0.4, 0.1, 0.0),
)  # fmt: skip
CELLS = [(7, 5, 6), (1, 4, 3), (4, 1, 2), (3, 2, 1), (1, 1, 1), (2, 2, 4), (37, 3, 4)]
ROWS = [(15, 2, 2), (16, 1, 3), (33, 2, 2), (270, 3, 2)]  # around a vector, two, and more than is computed at once
WALLS = list(product((False, True), repeat=3))
VELOCITY = ("u", "v", "w")
TENDENCIES = ("h_u", "h_v", "h_w")


def modelled(kind: type[Closure], without: str) -> Task:
    """The eddy viscosity of a closure, without these parameters."""
    classes = frozenset({(Closure, kind)})
    return turbulence.eddies.of(Variant(classes=classes, absent=frozenset(without.split())))


STENCILS = [
    momentum_with(), momentum_with(warm=True), TRANSPORTED, projection.divergence, jacobi,
    jacobi_half, CORRECT,
    jacobi_twice, jacobi_twice_half, momentum_with(eddies=True), momentum_with(eddies=True, warm=True),
    scalar_with(transport, eddies=True),
    modelled(turbulence.Smagorinsky, "solid walls"), modelled(turbulence.Smagorinsky, "solid"),
    modelled(turbulence.Wale, "solid walls"), modelled(turbulence.Vreman, "solid width_square walls"),
]  # fmt: skip
SWEEPS = {jacobi: 1, jacobi_twice: 2}


def identity(task: Task) -> str:
    """The name of a task, with the closure that it is compiled for."""
    kind = task.constants.get("closure")
    return f"{task.name}-{kind.__name__}" if kind else task.name


@pytest.fixture(params=["f4", "f8"])
def real(request: pytest.FixtureRequest) -> str:
    """The precision of all fields: either, always, of these kernels, in which every flow is computed."""
    return request.param


def constants(task: Task, hand: ByHand) -> dict[str, object]:
    known = {
        "grid": hand.staggered.constants, "fluid": FLUID, "buoyancy": BUOYANCY, "transport": TRANSPORT,
        "prandtl": PRANDTL, "width_square": MIXING, "walls": SMOOTH,
    }  # fmt: skip
    if kind := task.constants.get("closure"):
        known["closure"] = kind(MIXING)
    return {name: known[name] for name in task.constants}


def names(task: Task) -> list[str]:
    return list(task.fields)


def ghost(task: Task) -> int:
    """Layers around the cells that a task reads."""
    return max(privilege.stencil.width for privilege in task.fields.values() if privilege.reads)


def on_wall(hand: ByHand, axis: int) -> np.ndarray:
    """Which faces across an axis lie on a low wall."""
    index = np.arange(hand.cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
    return np.broadcast_to(hand.walls[axis] & (index == 0), hand.cells[::-1])


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("warm", [False, True])
def test_momentum(cells, walls, warm, real, device):
    task = momentum_with(warm=warm)
    hand = ByHand(cells, walls, real, **device).fill(names(task))
    velocity, old = hand.shifted(*VELOCITY), hand.shifted(*TENDENCIES)
    hand.run(hand.launch(task, constants(task, hand)))
    h = hand.staggered.spacing
    for a in range(3):
        H = reference.momentum_tendency(velocity, a, h, FLUID.viscosity) + FLUID.force[a]
        if warm:
            [T] = hand.shifted("T")
            H += reference.buoyancy(T, a, BUOYANCY.expansion, BUOYANCY.reference, BUOYANCY.gravity)
        expected = reference.step(velocity[a], H, old[a], DT, RATIO)
        hand.assert_agrees(f"{VELOCITY[a]}_new", np.where(on_wall(hand, a), velocity[a](), expected))
        hand.assert_agrees(TENDENCIES[a], np.where(on_wall(hand, a), 0.0, H))


@pytest.mark.parametrize("cells", [*CELLS, (270, 3, 2)])
@pytest.mark.parametrize("walls", [(False, True, True), (True, False, False)])
def test_transport(cells, walls, real, device):
    hand = ByHand(cells, walls, real, **device).fill(names(TRANSPORTED))
    velocity, (q, old) = hand.shifted(*VELOCITY), hand.shifted("q", "h_q")
    hand.run(hand.launch(TRANSPORTED, constants(TRANSPORTED, hand)))
    H = reference.transport_tendency(q, velocity, hand.staggered.spacing, TRANSPORT.diffusivity) + TRANSPORT.source
    hand.assert_agrees("q_new", reference.step(q, H, old, DT, RATIO))
    hand.assert_agrees("h_q", H)


@pytest.mark.parametrize(
    "task", [momentum_with(), momentum_with(warm=True), TRANSPORTED], ids=["momentum", "buoyant", "transport"]
)
def test_the_first_step_is_eulers_whatever_the_old_tendency_holds(task, real, device):
    hand = ByHand((6, 5, 4), real=real, **device).fill(names(task))
    hand.scalars["ratio"] = 0.0
    old = [name for name in names(task) if name.startswith("h_")]
    for name in old:
        hand.fields[name][...] = np.nan
    hand.run(hand.launch(task, constants(task, hand)))
    for name in old:
        q, H = hand.values(name[2:]).astype("f8"), hand.values(name).astype("f8")
        hand.assert_agrees(f"{name[2:]}_new", q + DT * H)


@pytest.mark.parametrize("cells", CELLS + ROWS)
@pytest.mark.parametrize("walls", WALLS)
def test_pressure(cells, walls, real, device):
    hand = ByHand(cells, walls, real, **device).fill([*VELOCITY, "p", "rhs", "p_new"])
    h, grid = hand.staggered.spacing, {"grid": hand.staggered.constants}
    velocity, (p, rhs) = hand.shifted(*VELOCITY), hand.shifted("p", "rhs")
    hand.run(hand.launch(jacobi, grid))
    hand.assert_agrees("p_new", reference.jacobi(p, rhs, h, cells, walls))
    hand.run(hand.launch(jacobi_half, grid))
    hand.assert_agrees("p_new", (p() + reference.jacobi(p, rhs, h, cells, walls)) / 2)
    hand.run(hand.launch(rhs_sums, {"part": 1 / rhs().size, **grid}), hand.launch(residual_square, grid))
    residual = ((rhs() - rhs().mean() - reference.laplacian_with_walls(p, h, cells, walls)) ** 2).sum()
    assert hand.scalars["residual"] == pytest.approx(residual, rel=hand.tolerance)
    assert hand.scalars["norm"] == pytest.approx((rhs() ** 2).sum(), rel=hand.tolerance)
    assert hand.scalars["mean"] == pytest.approx(rhs().mean(), abs=hand.tolerance)
    hand.run(hand.launch(projection.divergence, grid))
    hand.assert_agrees("rhs", reference.divergence(velocity, h) / DT)
    hand.run(hand.launch(CORRECT, grid))
    for a, q in enumerate(velocity):
        hand.assert_agrees(VELOCITY[a], np.where(on_wall(hand, a), q(), reference.correct(q, p, a, h, DT)))


def test_an_exact_pressure_leaves_no_divergence(device):
    """Divergence, Laplacian and gradient belong together: what jacobi solves for makes `correct` a projection."""
    hand = ByHand((4, 3, 5), (True, True, True), **device).fill([*VELOCITY, "rhs"])
    for name in ("p", "p_new"):
        hand.fields[name] = np.zeros_like(hand.fields["rhs"])
    grid = {"grid": hand.staggered.constants}
    walls = dict.fromkeys(hand.faces(), Slip())
    hand.run(*normal_velocity(VELOCITY, walls, hand.staggered.constants))
    hand.run(hand.launch(projection.divergence, grid))
    for _ in range(500):
        hand.run(hand.launch(jacobi, grid))
        hand.fields["p"], hand.fields["p_new"] = hand.fields["p_new"], hand.fields["p"]
    hand.run(hand.launch(CORRECT, grid), hand.launch(monitor.divergence_max, grid))
    assert hand.scalars["divergence"] < 1e-8


@pytest.mark.parametrize("cells", CELLS + ROWS)
def test_no_pressure_beyond_walls_is_used(cells, real, device):
    hand = ByHand(cells, real=real, ghost=2, **device).fill(["p", "rhs", "p_new", *VELOCITY])
    beyond = np.ones_like(hand.fields["p"], dtype=bool)
    beyond[hand.box.slices(hand.memory.lo)] = False
    for name in ("p", "rhs"):
        hand.fields[name][beyond] = np.nan
    grid = {"grid": hand.staggered.constants}
    for task in (jacobi, jacobi_half, jacobi_twice, jacobi_twice_half, CORRECT, residual_square):
        hand.run(hand.launch(task, grid))
    for name in ("p_new", *VELOCITY):
        assert np.isfinite(hand.values(name)).all(), name
    assert np.isfinite(hand.scalars["residual"])


@pytest.mark.gpu
@pytest.mark.parametrize("planes", [1, 2, 5, 17, 40, 99])
def test_two_sweeps_have_the_same_bits_however_far_thread_blocks_march(planes, real):
    device, cells = gpu(), (70, 30, 40)
    values = np.random.default_rng(0).random((3, 44, 34, 74)).astype(real)
    layout, grid = Layout((-2, -2, -2), values[0].shape), StaggeredGrid(cells, (1.0, 1.0, 1.0)).constants
    result, slabs = [], [Box((0, 0, low), (70, 30, low + 8)) for low in range(0, 40, 8)]
    for tile, pieces in ((None, [Box.of(cells)]), ((62, 14, planes), [Box.of(cells)]), ((62, 14, planes), slabs)):
        arrays = [device.xp.asarray(item) for item in values]
        for box in pieces:
            kernel = compiled(jacobi_twice, real, device)
            kernel.bind(box, layout, arrays, {"grid": grid}, {}, tile=tile)()
        result.append(device.to_host(arrays[2]))
    for other in result[1:]:
        np.testing.assert_array_equal(other, result[0])


@pytest.mark.parametrize("cells", [(7, 5, 6), (1, 1, 1), (2, 2, 4), (130, 30, 67)])  # the last one in many tiles
@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize(("both", "second"), [(jacobi_twice, jacobi), (jacobi_twice_half, jacobi_half)])
def test_two_sweeps_in_one_pass_are_two_to_the_bit(both, second, cells, walls, real, device):
    once = ByHand(cells, walls, real, ghost=2, **device).fill(names(both))
    twice = ByHand(cells, walls, real, ghost=2, fields=dict(once.fields), **device)
    grid = {"grid": once.staggered.constants}
    once.run(once.launch(both, grid))
    twice.run(twice.launch(jacobi, grid, over=twice.box.grow(1)))
    twice.fields["p"] = twice.fields["p_new"]
    twice.run(twice.launch(second, grid))
    np.testing.assert_array_equal(once.values("p_new"), twice.values("p_new"))


@pytest.mark.parametrize("task", STENCILS, ids=identity)
@pytest.mark.parametrize("walls", [(True, True, True), (False, False, False), (True, False, True)])
@pytest.mark.parametrize("nx", [9, 275])
@pytest.mark.fast("f8-*", "f4-*-275-walls2-*")
def test_a_launch_in_pieces_gives_the_same_bits(task, walls, nx, real, device):
    whole, pieces = (ByHand((nx, 6, 11), walls, real, ghost=ghost(task), **device).fill(names(task)) for _ in range(2))
    whole.run(whole.launch(task, constants(task, whole)))
    middle = Box((1, 2, 3), (nx - 1, 6, 9))
    for box in (middle, *whole.box.subtract(middle)):
        pieces.run(pieces.launch(task, constants(task, pieces), over=box))
    for name in names(task):
        np.testing.assert_array_equal(whole.fields[name], pieces.fields[name])


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("cells", [(41, 23, 12), (270, 7, 5)])  # enough for the kernels to use threads
def test_any_number_of_threads_gives_the_same_bits(threads, cells, real):
    tasks = [*STENCILS, residual_square, monitor.kinetic_energy, rates.advective_rate]
    for task in tasks:
        one, many = (ByHand(cells, (True, False, True), real, ghost=ghost(task)).fill(names(task)) for _ in range(2))
        one.run(one.launch(task, constants(task, one)), threads=1)
        many.run(many.launch(task, constants(task, many)), threads=threads)
        for name in names(task):
            np.testing.assert_array_equal(one.fields[name], many.fields[name])
        assert one.scalars == many.scalars


@pytest.mark.parametrize("task", STENCILS, ids=identity)
def test_a_task_reads_exactly_what_it_declares(task):
    """Of one cell in the middle: NaN outside of the declared stencils changes nothing, each declared value does."""
    cell = Box((3, 3, 3), (4, 4, 4))
    clean = ByHand((7, 7, 7), (False, False, False), ghost=2).fill(names(task))
    written = [name for name, privilege in task.fields.items() if privilege.writes]

    def results(fields: dict[str, np.ndarray]) -> np.ndarray:
        hand = ByHand(clean.cells, clean.walls, ghost=2, fields=fields)
        hand.run(hand.launch(task, constants(task, hand), over=cell))
        return np.array([hand.values(name, cell) for name in written])

    expected = results(dict(clean.fields))
    poisoned = {}
    for name, privilege in task.fields.items():
        poisoned[name] = np.full_like(clean.fields[name], np.nan)
        for read in privilege.stencil.around(cell) if privilege.reads else []:
            where = read.slices(clean.memory.lo)
            poisoned[name][where] = clean.fields[name][where]
    np.testing.assert_array_equal(results(poisoned), expected)

    for name, privilege in task.fields.items():
        for z, y, x in product(range(1, 6), repeat=3):
            one = Box((x, y, z), (x + 1, y + 1, z + 1))
            distance = sum(abs(at - 3) for at in (x, y, z))
            if name == "p" and task in SWEEPS and (distance - SWEEPS[task]) % 2:
                continue  # needed beside walls alone
            if privilege.reads and any(one in box for box in privilege.stencil.around(cell)):
                changed = {**clean.fields, name: clean.fields[name].copy()}
                changed[name][one.slices(clean.memory.lo)] += 1.0
                assert (results(changed) != expected).any(), f"{name} is not needed at {(x - 3, y - 3, z - 3)}"


@pytest.mark.parametrize("cells", CELLS)
def test_the_rate_and_what_the_monitor_measures(cells, real, device):
    hand = ByHand(cells, real=real, **device).fill([*VELOCITY, "u_old", "v_old", "w_old"])
    h, grid, velocity = hand.staggered.spacing, {"grid": hand.staggered.constants}, hand.shifted(*VELOCITY)
    for task in (monitor.divergence_max, rates.advective_rate, monitor.kinetic_energy):
        hand.run(hand.launch(task, grid))
    for task in (monitor.largest_speed, monitor.velocity_change):
        hand.run(hand.launch(task, {}))
    change = max(
        abs(q() - old()).max() for q, old in zip(velocity, hand.shifted("u_old", "v_old", "w_old"), strict=True)
    )
    expected = {
        "divergence": abs(reference.divergence(velocity, h)).max(),
        "rate": reference.advective_rate(velocity, h).max(),
        "energy": reference.kinetic_energy(velocity).sum(),
        "speed": reference.largest_speed(velocity).max(),
        "change": change,
    }
    for name, value in expected.items():
        assert hand.scalars[name] == pytest.approx(value, rel=hand.tolerance), name


@pytest.mark.parametrize("place", [(0, 0, 0), (40, 22, 11), (17, 5, 3)])
@pytest.mark.parametrize(
    ("task", "name", "scalar"),
    [
        (monitor.divergence_max, "v", "divergence"),
        (rates.advective_rate, "w", "rate"),
        (monitor.velocity_change, "v", "change"),
        (monitor.largest_speed, "u", "speed"),
        (monitor.kinetic_energy, "w", "energy"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_single_nan_is_never_lost(place, task, name, scalar, real, device):
    hand = ByHand((41, 23, 12), real=real, **device).fill(names(task))
    x, y, z = place
    hand.fields[name][Box(place, (x + 1, y + 1, z + 1)).slices(hand.memory.lo)] = np.nan
    hand.run(hand.launch(task, constants(task, hand)))
    assert np.isnan(hand.scalars[scalar])


def test_a_reduction_over_no_cells_is_the_operators_identity(device):
    hand = ByHand((5, 4, 3), **device).fill(VELOCITY)
    nothing = Box((2, 2, 2), (2, 3, 3))
    hand.run(hand.launch(monitor.kinetic_energy, {"grid": hand.staggered.constants}, over=nothing))
    hand.run(hand.launch(monitor.largest_speed, {}, over=nothing))
    assert hand.scalars["energy"] == 0.0
    assert hand.scalars["speed"] == -np.inf


@pytest.mark.parametrize("axis", range(3))
def test_heat_flux_through_planes_and_walls(axis, real, device):
    hand = ByHand((6, 5, 4), real=real, **device).fill([*VELOCITY, "T"])
    grid, normal, h = hand.staggered.constants, VELOCITY[axis], hand.staggered.spacing
    n = hand.cells[axis]
    for plane in range(n + 1):
        faces = hand.box.layer(axis, 0, plane, plane + 1)
        T, q = hand.shifted("T", normal, box=faces)
        expected = reference.heat_flux(T, q, axis, h, 0.07).sum()
        hand.run(plane_heat_flux("T", normal, "flux", axis, plane, grid, 0.07))
        assert hand.scalars["flux"] == pytest.approx(expected, rel=hand.tolerance * 10)
        for end, at, sign in (("min", 0, 1.0), ("max", n, -1.0)):
            if plane == at:
                face = f"{'xyz'[axis]}_{end}"
                inward = monitor.Conduction(0.07 / grid.beside(face), 1 / grid.beside(face), sign)
                where = {"over": on_face(face, grid), "along": face[0], "grid": grid}
                hand.run(monitor.heat_flux("T", normal, None, flux="wall", face=inward, **where))
                assert hand.scalars["wall"] == pytest.approx(sign * expected, rel=hand.tolerance * 10)
