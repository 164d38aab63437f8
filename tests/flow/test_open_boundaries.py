"""Open boundaries: flows known exactly, what enters and leaves, a vortex that leaves, heat that passes."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.opening import balance, opening
from taskflow.flow.boundaries.outflow import QUANTA
from taskflow.flow.boundaries.sides import temperature_ghosts
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.grid import on_face
from taskflow.flow.operators.rates import exact_sum
from taskflow.flow.time.step_clock import CELL as CLOCK
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.tasks import Roles
from tests.flow.byhand import ByHand
from tests.flows import Flow, compute, norms, orders

BY_PRESSURE = {"type": "outflow", "pressure": 0}
ADVECTED = {"type": "outflow", "pressure": "advected"}
OUTFLOWS, KINDS = ["outflow", BY_PRESSURE, ADVECTED], ["convective", "pressure", "advected"]
SOLVERS = {"fft": {"solver": "fft"}, "multigrid": {"solver": "multigrid"},
           "jacobi": {"solver": "jacobi", "tolerance": 1e-6, "max_iterations": 9000}}  # fmt: skip
PAIRS = list(permutations("xyz", 2))


def formula(text: str, **names: str) -> str:
    """A formula in s and c, as one in coordinates."""
    for name, axis in names.items():
        text = text.replace(name, axis)
    return text


def channel(along: str, across: str, outflow, speed: str, *, backward: bool = False, n: int = 6, **tables) -> Case:
    """Between walls, 2 long and 1 wide; thin and periodic in the third direction. `speed` in `across`, both ways."""
    sign = "-" if backward else ""
    velocity = [f"{sign}({speed})" if axis == along else 0 for axis in "xyz"]
    enters = {"type": "inflow", "velocity": velocity}
    first, last = (outflow, enters) if backward else (enters, outflow)
    [thin] = set("xyz") - {along, across}
    size = {along: (2 * n, 2.0), across: (n, 1.0), thin: (1, 0.1)}
    return Case(
        grid={"cells": [size[axis][0] for axis in "xyz"], "lengths": [size[axis][1] for axis in "xyz"]},
        boundaries={f"{along}_min": first, f"{along}_max": last, thin: "periodic",
                    f"{across}_min": "wall", f"{across}_max": "wall"},
        **{"fluid": {"viscosity": 0.2}, "initial": {"velocity": velocity}, "time": {"steps": 30}, **tables},
    )  # fmt: skip


def through(flow: Flow, face: str) -> float:
    """The volume that passes a side in unit time, counted along its axis."""
    setup, axis = flow.setup, "xyz".index(face[0])
    over = on_face(face, setup.grid.constants)
    values = flow.padded["uvw"[axis]][over.slices(setup.partition.region.bounds.lo)]
    return float(values.sum()) * setup.grid.area(axis)


# ------------------------------------------------------------------------------------- flows known exactly on the grid


@pytest.mark.fast("advected-True-ab2")
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("outflow", OUTFLOWS, ids=KINDS)
def test_poiseuille_flow_passes_through(outflow, backward, scheme):
    """The parabola of the grid, 6 z (1 - z) + 3/2 h^2, stays what it is from the inflow to the outflow, to rounding."""
    n = 6
    speed = f"6*z*(1-z) + {1.5 / n**2}"
    flow = compute(channel("x", "z", outflow, speed, backward=backward, time={"steps": 30, "scheme": scheme}))
    z = flow.points("u")[2]
    expected = (-1 if backward else 1) * (6 * z * (1 - z) + 1.5 / n**2)
    np.testing.assert_allclose(flow["u"], np.broadcast_to(expected, flow["u"].shape), atol=1e-13)
    assert np.abs(flow["w"]).max() < 1e-13
    gradient = np.diff(flow["p"], axis=2) / flow.setup.grid.spacing[0]
    np.testing.assert_allclose(gradient, (1 if backward else -1) * 12 * 0.2, atol=1e-10)


@pytest.mark.fast("y-z-convective")
@pytest.mark.parametrize("outflow", OUTFLOWS, ids=KINDS)
@pytest.mark.parametrize(("along", "across"), PAIRS)
def test_all_directions_are_alike(along, across, outflow):
    """A flow that develops from a uniform inflow: the same numbers along x, y and z, and backward."""
    speed = formula("1 + 0.3*sin(5*c)", c=across)
    one = compute(channel("x", "z", outflow, formula("1 + 0.3*sin(5*c)", c="z")))
    for backward in (False, True):
        flow = compute(channel(along, across, outflow, speed, backward=backward))
        a, b = "xyz".index(along), "xyz".index(across)
        result = np.moveaxis(flow.padded["uvw"[a]], (2 - b, 2 - a), (0, 1))[1:-1, 1:, 0]
        expected = one.padded["u"][1:-1, 0, 1:]
        np.testing.assert_allclose(-result[:, ::-1] if backward else result, expected, atol=1e-12)


@pytest.mark.fast("pressure")
@pytest.mark.parametrize("outflow", OUTFLOWS, ids=KINDS)
def test_developing_flow_is_of_second_order(outflow):
    """From a uniform inflow to the parabola, exact at the outflow."""
    errors, sizes = [], (8, 16)
    for n in sizes:
        fluid, time = {"viscosity": 0.2}, {"end": 3.0, "steady": 1e-4, "diffusion": 0.24}
        flow = compute(channel("x", "z", outflow, "1", n=n, fluid=fluid, time=time))
        z = flow.points("u")[2][:, :, 0]
        errors.append(norms(flow["u"][:, :, -1] - 6 * z * (1 - z))[0])
    assert orders(errors, sizes)[0] > 1.9
    assert errors[-1] < 5e-3


@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.fast("ab2")
def test_given_velocities_that_change_in_time_are_of_second_order(scheme):
    """Decaying vortices, of which a cut-out is computed from what they are on both its ends; an angle apart there."""
    errors, sizes = [], (8, 16)
    fade, viscosity = "exp(-8*pi**2*0.02*t)", 0.02
    for n in sizes:
        velocity = [f"sin(2*pi*x + 0.5)*cos(2*pi*z)*{fade}", 0, f"-cos(2*pi*x + 0.5)*sin(2*pi*z)*{fade}"]
        enters = {"type": "inflow", "velocity": velocity}
        case = Case(
            grid={"cells": [n, 1, n], "lengths": [0.8, 0.1, 1.0]}, fluid={"viscosity": viscosity},
            boundaries={"x_min": enters, "x_max": enters, "y": "periodic", "z": "periodic"},
            initial={"velocity": [text if text == 0 else text.replace("*t)", "*0)") for text in velocity]},
            time={"end": 0.4, "cfl": 0.4, "scheme": scheme},
        )  # fmt: skip
        flow = compute(case)
        x, _, z = flow.points("w")
        exact = -np.cos(2 * np.pi * x + 0.5) * np.sin(2 * np.pi * z) * np.exp(-8 * np.pi**2 * viscosity * 0.4)
        errors.append(norms(flow["w"] - exact)[0])
    assert orders(errors, sizes)[0] > 1.95
    assert errors[-1] < 0.01


# ----------------------------------------------------------------------------------------------------------- balances


@pytest.mark.fast("pressure-multigrid", "advected-fft")
@pytest.mark.parametrize("solver", ["fft", "multigrid", "jacobi"])
@pytest.mark.parametrize("outflow", OUTFLOWS, ids=KINDS)
def test_as_much_leaves_as_enters(outflow, solver):
    """What enters changes in time and from place to place, and a part of it goes backward."""
    tables = {"pressure": SOLVERS[solver], "initial": {"velocity": ["0.4", 0, "0.2*sin(3*x)"]},
              "time": {"steps": 12, "step": 0.02}, "fluid": {"viscosity": 0.01}}  # fmt: skip
    flow = compute(channel("x", "z", outflow, "0.5 + sin(6*z)*cos(9*t)", **tables))
    entered, left = through(flow, "x_min"), through(flow, "x_max")
    assert abs(entered) > 0.03
    exact = outflow == "outflow" or solver == "fft"
    assert left == pytest.approx(entered, abs=1e-15 if outflow == "outflow" else 1e-14 if exact else 1e-6)
    assert flow.scalars["divergence"] < (1e-12 if solver == "fft" else 1e-4)
    assert flow.scalars["residual"] <= 1e-12 * flow.scalars["norm"]


def test_sums_of_what_leaves_do_not_depend_on_their_order():
    hand = ByHand((37, 3, 29)).fill("q", seed=5)
    hand.scalars["sum_bound"] = 2.0**-20
    grid = hand.staggered.constants
    face = on_face("y_min", grid)
    result = set()
    for turned in (False, True):
        for threads in (1, 2, 3):
            if turned:
                hand.fields["q"] = hand.fields["q"][::-1, :, ::-1].copy()
            hand.run(
                exact_sum(
                    "q", over=face, bound="sum_bound", scale=QUANTA, grid=grid, axis=1, layer=True, total="total"
                ),
                threads=threads,
            )
            result.add(tuple(hand.scalars[f"total.0.{part}"] for part in ("total", "rest", "last")))
    assert len(result) == 1
    assert sum(result.pop()) == pytest.approx(math.fsum(hand.values("q", face).ravel()), abs=1e-12)


def test_a_balance_gives_the_mean():
    hand = ByHand((5, 4, 6)).fill("u")
    hand.scalars |= {"sum_bound": 2.0**-20, "outflow_speed": 0.7}
    for face, sign in (("x_min", -1), ("x_max", 1)):
        grid = hand.staggered.constants
        over = on_face(face, grid)
        before = hand.values("u", over).copy()
        hand.run(exact_sum("u", over=over, total="sum", bound="sum_bound", scale=QUANTA, grid=grid, axis=0, layer=True))
        about = opening(BoxSide(face, grid))
        hand.run(balance("u", over=over, total="sum", outflow_speed="outflow_speed", opening=about))
        after = hand.values("u", over)
        assert after.mean() == pytest.approx(sign * 0.7, rel=1e-14)
        assert np.ptp(after - before) < 1e-14


@pytest.mark.fast("ab2-convective", "rk3-advected")
@pytest.mark.parametrize("outflow", OUTFLOWS, ids=KINDS)
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
def test_nothing_is_read_before_it_is_written(outflow, scheme):
    tables = {"time": {"steps": 3, "scheme": scheme}, "heat": {"diffusivity": 0.1}, "initial": {}}
    case = channel("x", "z", outflow, "1 + z*t", **tables)
    clean, dirty = compute(case), compute(case, garbage=np.nan)
    for name in clean.setup.model.state:
        np.testing.assert_array_equal(dirty[name], clean[name])


# ----------------------------------------------------------------------------------------------------- what enters


@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
@pytest.mark.fast("rk3")
def test_what_enters_follows_time_and_place(scheme):
    """Values on the faces, at the end of the last step: of the velocities and of the temperature."""
    enters = {"type": "inflow", "velocity": ["1 + 0.2*z*t", "0.1*sin(y)", "0.3*z + t"], "temperature": "x + y + z*t"}
    case = Case(
        grid={"cells": [5, 4, 6], "lengths": [1.0, 0.8, 1.2], "origin": [0.3, 0.0, -0.2]},
        fluid={"viscosity": 0.01}, heat={"diffusivity": 0.02},
        boundaries={"x_min": enters, "x_max": "outflow", "y": "periodic", "z_min": "slip", "z_max": "wall"},
        time={"steps": 3, "step": 0.02, "scheme": scheme},
    )  # fmt: skip
    flow, t = compute(case), 0.06
    grid, x = flow.setup.grid, 0.3
    y, z = grid.coordinates("c", 1)[None, :], grid.coordinates("c", 2)[:, None]
    low, high = flow.padded["u"][1:-1, :, :2].transpose(2, 0, 1)
    np.testing.assert_allclose(high, np.broadcast_to(1 + 0.2 * z * t, high.shape), rtol=1e-13)
    expected = {"v": 0.1 * np.sin(y - 0.1), "w": 0.3 * (z - 0.1) + t, "T": x + y + z * t}
    for name, values in expected.items():
        low, high = flow.padded[name][1:-1, :, :2].transpose(2, 0, 1)
        inside = np.s_[1:] if name == "w" else np.s_[:]  # the lowest w is on the boundary below
        np.testing.assert_allclose(
            ((low + high) / 2)[inside], np.broadcast_to(values, low.shape)[inside], rtol=1e-12, atol=1e-13
        )


# ------------------------------------------------------------------------------------------------- a vortex leaves


def stream(length: float, outflow, end: float, n: int = 16, swirl: float = 0.3) -> Case:
    """A Taylor vortex of radius 0.2, its fastest fluid at `swirl`, at (1, 1) in a stream of speed 1, 2 wide."""
    turn, r2 = swirl / 0.2 * math.exp(0.5), "((x-1)**2 + (z-1)**2) / 0.04"
    return Case(
        grid={"cells": [round(length * n), 1, 2 * n], "lengths": [length, 0.1, 2.0]}, fluid={"viscosity": 1e-3},
        boundaries={"x_min": {"type": "inflow", "velocity": [1, 0, 0]}, "x_max": outflow, "y": "periodic",
                    "z_min": "slip", "z_max": "slip"},
        initial={"velocity": [f"1 - {turn}*(z-1)*exp(-{r2}/2)", 0, f"{turn}*(x-1)*exp(-{r2}/2)"]},
        time={"end": end} if end else {"steps": 1, "step": 1e-9},
    )  # fmt: skip


def disturbance(flow: Flow, other: Flow | None = None, n: int = 16) -> float:
    """Twice the energy of what is not the stream, or another flow, where the short domain is."""
    u, w = (other["u"], other["w"]) if other else (np.ones(2 * n), np.zeros(2 * n))
    change = [flow["u"][:, :, : 2 * n] - u[..., : 2 * n], flow["w"][:, :, : 2 * n] - w[..., : 2 * n]]
    return float(sum((part**2).mean() for part in change))


@pytest.mark.parametrize(("outflow", "most"), [("outflow", 3e-4), (BY_PRESSURE, 5e-3), (ADVECTED, 3e-4)], ids=KINDS)
@pytest.mark.fast("convective")
def test_a_vortex_leaves(outflow, most):
    """What the outflow sends back, found beside a domain twice as long, which the vortex has not left: little."""
    before = disturbance(compute(stream(2.0, outflow, 0.0)))
    short, whole = compute(stream(2.0, outflow, 2.0)), compute(stream(4.0, outflow, 2.0))
    assert np.abs(whole["w"]).max() > 0.1
    assert disturbance(short, whole) < most * before


@pytest.mark.fast("advected")
@pytest.mark.parametrize("outflow", OUTFLOWS, ids=KINDS)
def test_a_vortex_faster_than_the_stream_leaves(outflow):
    """Where it crosses the outflow the fluid comes in for a while."""
    before = disturbance(compute(stream(2.0, outflow, 0.0, swirl=1.5)))
    flow = compute(stream(2.0, outflow, 4.0, swirl=1.5))
    assert disturbance(flow) < 0.02 * before


# ----------------------------------------------------------------------------------------------------------------- heat


@pytest.mark.fast("2")
@pytest.mark.parametrize("axis", range(3))
def test_heat_transfer_through_both_walls_of_a_slab(axis):
    """The exact solution: conduction in series with what passes the walls; linear, so exact on the grid."""
    k, h_low, h_high, inner, outer = 0.4, 0.7, 0.2, 5.0, -1.0
    outside = ((h_low, inner), (h_high, outer))
    sides = [{"type": "wall", "heat_transfer": h, "outside_temperature": T} for h, T in outside]
    name, cells = "xyz"[axis], [1, 1, 1]
    cells[axis] = 6
    case = Case(
        grid={"cells": cells, "lengths": [1.5, 1.5, 1.5]}, fluid={"viscosity": 0.1}, heat={"diffusivity": k},
        boundaries={f"{name}_min": sides[0], f"{name}_max": sides[1], **{a: "periodic" for a in "xyz" if a != name}},
        time={"end": 120.0, "diffusion": 0.25},
    )  # fmt: skip
    flow = compute(case)
    flux = (inner - outer) / (1 / h_low + 1.5 / k + 1 / h_high)
    s = flow.setup.grid.coordinates("c", axis)
    np.testing.assert_allclose(flow["T"].ravel(), inner - flux / h_low - flux / k * s, atol=1e-10)


def test_heat_transfer_and_flux_are_those_of_the_ghosts():
    hand = ByHand((5, 4, 3)).fill("T")
    walls = {face: Wall(heat_flux=0.3, heat_transfer=0.8, outside_temperature=2.0) for face in hand.faces()}
    hand.run(*temperature_ghosts("T", walls, hand.staggered.constants, 0.07))
    for axis, spacing in enumerate(hand.staggered.spacing):
        for side in (0, 1):
            ghost, inside = (hand.values("T", hand.box.layer(axis, side, n, n + 1)) for n in (-1, 0))
            entering = 0.07 * (ghost - inside) / spacing
            np.testing.assert_allclose(entering, 0.3 + 0.8 * (2.0 - (ghost + inside) / 2), atol=1e-14)


@pytest.mark.parametrize("outflow", OUTFLOWS, ids=KINDS)
@pytest.mark.fast("advected")
def test_warm_fluid_fills_the_domain(outflow):
    """What enters warm has replaced all that was cold, and none of it warmer than that."""
    case = Case(
        grid={"cells": [12, 1, 2], "lengths": [1.0, 0.1, 0.2]}, fluid={"viscosity": 0.01}, heat={"diffusivity": 0.02},
        boundaries={"x_min": {"type": "inflow", "velocity": [1, 0, 0], "temperature": 3.0}, "x_max": outflow,
                    "y": "periodic", "z_min": "slip", "z_max": "slip"},
        initial={"velocity": [1, 0, 0]}, time={"end": 4.0},
    )  # fmt: skip
    flow = compute(case)
    np.testing.assert_allclose(flow["T"], 3.0, atol=1e-4)
    np.testing.assert_allclose(flow["u"], 1.0, atol=1e-12)


# ------------------------------------------------------------------------------------------------------ what it costs


def test_a_closed_flow_has_no_launch_for_openings():
    """Nor regions."""
    case = channel("x", "z", "outflow", "1", initial={})
    sides = {"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall", "z_max": "wall"}
    closed = RunSetup(Case(**{**dict(case), "boundaries": sides}), (1, 1, 1))
    both = (closed, RunSetup(case, (1, 1, 1)))
    count = [Counter(launch.task.name for launch in setup.step_cost.launches) for setup in both]
    wall = {"impose": 4, "mirror_two_x_min": 1, "mirror_two_x_max": 1, "mirror_two_z_min": 1, "mirror_two_z_max": 1}
    kernels = dict.fromkeys(("momentum", "divergence", "correct", "advective_rate"), 1)
    roles = Roles.of(tuple(closed.partition.fields))
    solving = Counter(launch.task.name for launch in closed.model.pressure.solve(roles))
    assert count[0] == Counter(wall) + Counter(kernels) + solving
    of_openings = [home for home in closed.partition.beside if set(home.region.fields) != {CLOCK}]
    assert len(of_openings) == len(closed.model.pressure.partitions(closed.partition))
    more = count[1] - count[0]
    assert more == {"impose_values": 1, "reflect_x_min": 2, "convect_x_max": 3, "exact_sum": 1, "balance": 1}
