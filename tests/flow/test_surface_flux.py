"""Fluxes through faces against NumPy, and balances of volumes: to rounding, whatever carries."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow import CENTRAL, QUICK, Fluid
from taskflow.flow.measures.surface_flux import (
    BoundedDiffusion,
    Diffusion,
    FaceLayer,
    SurfaceFlux,
    momentum_flux,
    momentum_flux_bound,
    scalar_flux,
    scalar_flux_bound,
)
from taskflow.flow.scalars.transport import Transport, bounded_euler, transport
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Task, reduced
from tests.flow.byhand import DT, ByHand, momentum_with, scalar_with, variant
from tests.flow.test_stretched import Uneven
from tests.flows import compute
from tests.runs.test_restart import stirred


def measured(case: Case, side: FaceLayer, blocks=(1, 1, 1), **options) -> dict[str, float]:
    """The fluxes in the final state."""
    flux = SurfaceFlux(RunSetup(case, (1, 1, 1)).model, side)
    numbers = flux.numbers(compute(case, blocks, after=flux, **options).scalars)
    return dict(zip(flux.names, numbers, strict=True))


def shifted(values: np.ndarray, axis: int, n: int = 1) -> np.ndarray:
    """Of the neighbours so many cells further along x, y or z (0, 1, 2)."""
    return np.roll(values, -n, 2 - axis)


def expected(case: Case, side: FaceLayer, viscosity: np.ndarray) -> dict[str, float]:
    """The same from all fields with a layer beyond walls."""
    flow, a = compute(case), side.axis
    (box,) = side.cells
    grid, cells = flow.setup.grid, box.slices(flow.setup.partition.region.bounds.lo)
    fields = {name: flow.padded[name] for name in ("u", "v", "w", "p", "T")}
    velocity, dx = [fields[name] for name in "uvw"], grid.spacing
    area, q = side.outward * np.prod(dx) / dx[a], velocity[a]
    result = {"volume_flux": q}
    for b in range(3):
        r = velocity[b]
        if b == a:
            mean, stretching = (q + shifted(q, a)) / 2, (shifted(q, a) - q) / dx[a]
            cell = mean**2 + fields["p"] - 2 * viscosity * stretching
            result[f"momentum_flux_{'xyz'[b]}"] = (cell + shifted(cell, a, -1)) / 2
        else:
            speed, value = (q + shifted(q, b, -1)) / 2, (r + shifted(r, a, -1)) / 2
            shear = (r - shifted(r, a, -1)) / dx[a] + (q - shifted(q, b, -1)) / dx[b]
            edge = speed * value - viscosity * shear
            if not grid.periodic[b]:  # nothing is looked for on its ends
                np.moveaxis(edge, 2 - b, 0)[[1, grid.cells[b] + 1]] = 0
            result[f"momentum_flux_{'xyz'[b]}"] = (edge + shifted(edge, b)) / 2
    T, before = fields["T"], shifted(fields["T"], a, -1)
    result["flux_T"] = q * (T + before) / 2 - 0.02 * (T - before) / dx[a]
    return {name: area * values[cells].sum() for name, values in result.items()}


@pytest.mark.parametrize("side", [
    FaceLayer((Box((3, 0, 0), (4, 5, 9)),), 0), FaceLayer((Box((1, 2, 2), (5, 3, 7)),), 1, -1),
    FaceLayer((Box((2, 1, 4), (7, 4, 5)),), 2),
])  # fmt: skip
def test_it_is_what_numpy_finds(side):
    case = stirred()
    desired = expected(case, side, 0.01)
    for name, value in measured(case, side).items():
        assert value == pytest.approx(desired[name], rel=1e-12, abs=1e-14), name


# ------------------------------------------------------------------------------------------------------------- balances

BOXES = [Box((0, 0, 0), (6, 5, 7)), Box((0, 1, 2), (3, 5, 6)), Box((2, 2, 3), (4, 3, 7))]
FLOWING, CARRIED = ("volume", "x", "y", "z"), ("c",)


def prepared(stretched: bool) -> ByHand:
    """Random fields between walls, which what is measured knows by names of its own."""
    hand = (Uneven if stretched else ByHand)((6, 5, 7), (True, True, True), ghost=2)
    scalar = scalar_with(transport, eddies=True).fields
    hand.fill({**momentum_with(eddies=True).fields, **scalar, "p": None, "c": None, "q_new": None})
    hand.fields["c"] = hand.fields["q"]
    hand.fields |= {f"{name}_sides": hand.fields[name] for name in "uvw"}
    hand.fields |= {f"{name}_new": hand.fields[name] for name in "uvw"}  # a step in the velocity of now
    return hand


def flowing(eddies: bool) -> tuple[Task, Task]:
    """The tasks for the bound and the sum of the fluxes of volume and momentum."""
    without = "" if eddies else "nu_t"
    return variant(momentum_flux_bound, without), variant(momentum_flux, without)


def carried(eddies: bool) -> tuple[Task, Task]:
    """Those of what the flow carries."""
    without = "" if eddies else "nu_t prandtl"
    return variant(scalar_flux_bound, without), variant(scalar_flux, without)


def leaving(hand: ByHand, box: Box, tasks, constants: dict, names: tuple[str, ...]) -> dict[str, float]:
    """The fluxes through the sides of a box, outward."""
    result, grid = dict.fromkeys(names, 0.0), hand.staggered.constants
    for axis in range(3):
        for end, sign in ((0, -1), (1, 1)):
            high = end == 1 and box.hi[axis] == hand.cells[axis]
            over = box.layer(axis, end, 0, 1) if end == 0 or high else box.layer(axis, 1, -1, 0)
            for task in tasks:
                hand.run(hand.launch(task, {"grid": grid, "axis": axis, "high": high, **constants}, over))
            for name, value in zip(names, reduced(hand.scalars, "flux"), strict=False):
                result[name] += sign * hand.staggered.area(axis) * value
    return result


def volumes(hand: ByHand) -> np.ndarray:
    x, y, z = (hand.staggered.widths(axis) for axis in range(3))
    return z[:, None, None] * y[:, None] * x


@pytest.mark.slow
@pytest.mark.parametrize("stretched", [False, True])
@pytest.mark.parametrize("eddies", [False, True])
@pytest.mark.parametrize("advection", [CENTRAL, QUICK], ids=["central", "quick"])
def test_a_volume_gains_the_momentum_that_passes_its_sides(advection, eddies, stretched):
    """In a velocity that is not even free of divergence: the whole stress is there without eddies, too."""
    hand, fluid = prepared(stretched), Fluid(0.03, advection=advection)
    grid = hand.staggered.constants
    hand.fields["nu_t"] *= eddies
    tendency = dict(zip("xyz", ("h_u", "h_v", "h_w"), strict=True))
    hand.run(hand.launch(momentum_with(eddies=True), {"grid": grid, "fluid": fluid}))
    gained = {}
    for a, (axis, name) in enumerate(tendency.items()):
        p, n = hand.shifted("p")[0], hand.cells[a]
        along = [-1 if d == 2 - a else 1 for d in range(3)]
        distance = np.array([grid.distance(a, face) for face in range(n)]).reshape(along)
        H = np.moveaxis(hand.values(name) - (p() - p(-1, a)) / distance, 2 - a, 0)
        H[0] = 0  # what is given on boundaries stays
        gained[axis] = volumes(hand) * np.moveaxis((H + np.concatenate([H[1:], 0 * H[:1]])) / 2, 0, 2 - a)
    for box in BOXES:
        result = leaving(hand, box, flowing(eddies), {"fluid": fluid}, FLOWING)
        for axis, item in gained.items():
            present = item[box.slices((0, 0, 0))]
            assert abs(present.sum() + result[axis]) < 1e-13 * abs(present).sum(), (box, axis)


@pytest.mark.slow
@pytest.mark.parametrize("stretched", [False, True])
@pytest.mark.parametrize("eddies", [False, True])
@pytest.mark.parametrize("bounded", [False, True])
def test_a_volume_gains_the_scalar_that_passes_its_sides(bounded, eddies, stretched):
    hand, about, diffusion = prepared(stretched), Transport(0.02), (BoundedDiffusion if bounded else Diffusion)(0.02)
    grid = hand.staggered.constants
    more = {"prandtl": 0.7} if eddies else {}
    if bounded:
        hand.run(hand.launch(scalar_with(bounded_euler, eddies=eddies), {"grid": grid, "transport": about, **more}))
        gained = volumes(hand) * (hand.values("q_new") - hand.values("q")) / DT
    else:
        hand.run(hand.launch(scalar_with(transport, eddies=eddies), {"grid": grid, "transport": about, **more}))
        gained = volumes(hand) * hand.values("h_q")
    for box in BOXES:
        result = leaving(hand, box, carried(eddies), {"diffusion": diffusion, **more}, CARRIED)["c"]
        present = gained[box.slices((0, 0, 0))]
        assert abs(present.sum() + result) < 1e-12 * abs(present).sum(), box


def test_where_profiles_are_linear_all_schemes_carry_the_same():
    """As the lines through two values are the parabolas through three, and the limiter is 1."""
    hand = prepared(False)
    z, y, x = np.meshgrid(*(np.arange(n, dtype=float) for n in hand.memory.shape[::-1]), indexing="ij")
    for n, name in enumerate("uvw"):
        hand.fields[f"{name}_sides"] = hand.fields[name] = 1 + n + 0.1 * x - 0.2 * y + 0.3 * z
    hand.fields["c"] = 2 + 0.3 * x + 0.1 * y - 0.4 * z
    inside, result = Box((1, 1, 1), (5, 4, 6)), []
    for advection, diffusion in ((CENTRAL, Diffusion(0.02)), (QUICK, BoundedDiffusion(0.02))):
        fluid = Fluid(0.03, advection=advection)
        flow = leaving(hand, inside, flowing(False), {"fluid": fluid}, FLOWING)
        scalar = leaving(hand, inside, carried(False), {"diffusion": diffusion}, CARRIED)
        result.append([*flow.values(), *scalar.values()])
    np.testing.assert_allclose(*result, rtol=1e-12)
    np.testing.assert_array_less(1e-3, np.abs(result[0]))


@pytest.mark.parametrize("precision", ["double", pytest.param("single", marks=pytest.mark.slow)])
def test_the_bits_do_not_depend_on_the_blocks(precision):
    case = stirred(machine={"device": "cpu", "threads": 1, "precision": precision})
    side = FaceLayer((Box((0, 0, 4), (8, 5, 5)),), 2)
    assert measured(case, side, (2, 1, 3)) == measured(case, side)


@pytest.mark.slow
@pytest.mark.parametrize("side", [
    FaceLayer((Box((8, 0, 0), (9, 5, 9)),), 0), FaceLayer((Box((0, 0, 0), (8, 5, 1)),), 2, -1),
])  # fmt: skip
def test_the_bits_do_not_depend_on_the_blocks_with_all_schemes(side):
    """Nor on what memory held before, where the domain ends, too."""
    scalar = {"name": "smoke", "diffusivity": 0.01, "initial": "x", "scheme": "koren"}
    case = stirred(fluid={"viscosity": 0.01, "scheme": "quick"}, turbulence={"model": "wale"}, scalars=[scalar])
    result = measured(case, side, garbage=np.nan)
    assert np.isfinite([*result.values()]).all()
    assert measured(case, side, (2, 1, 3), garbage=0.5) == result


def couette(**changes) -> Case:
    """u = z between walls, on cells of different heights, with T = z."""
    tables = {
        "grid": {"cells": [4, 4, 8], "lengths": [1.0, 1.0, 1.0], "stretching": {"z": {"tanh": 1.5}}},
        "fluid": {"viscosity": 0.1},
        "heat": {"diffusivity": 0.3},
        "boundaries": {
            "x": "periodic", "y": "periodic", "z_min": {"type": "wall", "temperature": 0.0},
            "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0], "temperature": 1.0},
        },
        "initial": {"velocity": ["z", 0, 0], "temperature": "z"},
        "time": {"steps": 1},
        "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    return Case(**(tables | changes))


@pytest.mark.parametrize("plane", [0, 3, 8])
def test_shear_and_conduction_are_the_same_at_all_heights(plane):
    """Where the domain ends, too: momentum -viscosity du/dz and heat -diffusivity dT/dz per area."""
    result = measured(couette(), FaceLayer((Box((0, 0, plane), (4, 4, plane + 1)),), 2))
    assert result["momentum_flux_x"] == pytest.approx(-0.1, rel=1e-11)
    assert result["flux_T"] == pytest.approx(-0.3, rel=1e-11)
    assert result["volume_flux"] == 0.0


def test_eddies_carry_momentum_and_heat():
    """nu_t = (C d)^2 |du/dz| everywhere, as the shear is 1."""
    eddies = {"model": "smagorinsky", "constant": 0.2, "damping": "none", "prandtl": 0.5}
    uniform = {"cells": [4, 4, 8], "lengths": [1.0, 1.0, 1.0]}
    result = measured(couette(turbulence=eddies, grid=uniform), FaceLayer((Box((0, 0, 3), (4, 4, 4)),), 2))
    nu_t = 0.2**2 * (1 / 4 / 4 / 8) ** (2 / 3)
    assert result["momentum_flux_x"] == pytest.approx(-0.1 - nu_t, rel=1e-9)
    assert result["flux_T"] == pytest.approx(-0.3 - nu_t / 0.5, rel=1e-9)


def test_an_inflow_beside_walls_reads_no_cell_that_nothing_fills():
    """Whatever memory held before."""
    walls = dict.fromkeys(("y_min", "y_max", "z_min", "z_max"), "wall")
    inflow = {"type": "inflow", "velocity": [1.0, 0.1, 0.2]}
    case = Case(
        grid={"cells": [4, 3, 3], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 0.1}, time={"steps": 1},
        boundaries={"x_min": inflow, "x_max": "outflow", **walls},
    )  # fmt: skip
    flux = SurfaceFlux(RunSetup(case, (1, 1, 1)).model, FaceLayer((Box((0, 0, 0), (1, 3, 3)),), 0))
    assert np.isfinite(flux.numbers(compute(case, after=flux, garbage=np.nan).scalars)).all()
