"""Flows around immersed bodies: their order, what is conserved, that blocks and solvers do not matter."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.special import j0, j1

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.flow.bodies import cuts
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import Box
from tests.flows import VELOCITY, Flow, compute, flags, orders
from tests.systems.test_bodies import (
    DIRECT,
    PERIODIC,
    assert_same_on_blocks,
    box,
    followed,
    obstructed,
    slabs,
    through,
    vector,
)

IMMERSED = {"treatment": "immersed"}
QUICK = {"fluid": {"viscosity": 0.02, "scheme": "quick"}}


def immersed(pressure: dict, **changes) -> Case:
    """A warm wind around a ball, blocks over the seam and a cylinder, none of them on faces of cells."""
    bodies = [
        {"type": "sphere", "centre": [0.8, 0.5, 0.6], "radius": 0.31, "name": "ball", "temperature": 1.0},
        box([-0.1, 0.23, -1.0], [0.29, 0.6, 0.51], name="block"),
        box([1.41, 0.23, -1.0], [2.0, 0.6, 0.51], name="block"),
        {"type": "implicit", "inside": "(x-1.3)**2 + (z-1.1)**2 - 0.03"},
    ]
    return obstructed(pressure, **{"bodies": IMMERSED, "obstacles": bodies, **changes})


@cache
def direct() -> Flow:
    return compute(immersed(DIRECT))


def closed(flow: Flow, axis: int) -> np.ndarray:
    solids, at = flow.setup.bodies.solids, ("fx", "fy", "fz")[axis]
    return solids.numbers(flow.setup.grid.box, at) > 0


def in_centres(flow: Flow, name: str) -> np.ndarray:
    """The velocity in the centres of faces: on cut ones what is stored is its share of the open area."""
    axis = "xyz"["uvw".index(name[0])]
    return flow[name] * (1 + flags(flow.setup).get(f"blockage_{axis}", 0.0))


# ------------------------------------------------------------------------------------------------------------- order


def floor(n: int, **grid: object) -> float:
    """The largest error of Poiseuille flow over a floor that cuts the cells at another place on every grid."""
    height = 0.25 + 0.1 / 3
    case = Case(
        grid={"cells": [1, 1, n], "lengths": [1.0, 1.0, 1.0], **grid}, fluid={"viscosity": 1.0},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"}, body={"force": [8.0, 0, 0]},
        time={"end": 0.7, "scheme": "rk3", "diffusion": 0.55}, pressure={"iterations": 1},
        obstacles=[box([-1, -1, -1], [2, 2, height])], bodies=IMMERSED,
    )  # fmt: skip
    result = compute(case)
    z = result.points("u")[2].ravel()
    return float(np.abs(in_centres(result, "u").ravel() - 4 * (z - height) * (1 - z))[z > height].max())


def test_poiseuille_flow_over_a_floor_between_cells():
    """Of second order; over stair steps it is of first: `test_bodies`."""
    sizes = (6, 12, 24)
    errors = [floor(n) for n in sizes]
    assert np.mean(orders(errors, sizes)) > 1.9, errors


RADIUS, X0, Z0 = 0.5, 0.57, 0.54
WAVE = 3.8317059702075125 / RADIUS  # where J1 is 0 first
VISCOSITY, END = 0.05, 0.2


def swirl(x, y, z, axis: int):
    r = np.sqrt((x - X0) ** 2 + (z - Z0) ** 2) + 0 * y
    speed = np.where(r < RADIUS, j1(WAVE * r) / np.maximum(r, 1e-12), 0)
    return (z - Z0) * speed if axis == 0 else (X0 - x) * speed


def pot(n: int, treatment: str = "immersed", scheme: str = "central") -> Case:
    """Fluid that turns in a round pot and comes to rest, u = J1(k r) exp(-viscosity k^2 t)."""
    return Case(
        grid={"cells": [n, 1, n], "lengths": [1.1, 1.0, 1.1]}, fluid={"viscosity": VISCOSITY, "scheme": scheme},
        boundaries={"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        initial={"velocity": [lambda x, y, z: swirl(x, y, z, 0), 0, lambda x, y, z: swirl(x, y, z, 2)]},
        pressure={"solver": "multigrid", "tolerance": 1e-8}, bodies={"treatment": treatment},
        obstacles=[{"type": "implicit", "inside": f"{RADIUS**2}-(x-{X0})**2-(z-{Z0})**2", "name": "pot"}],
        time={"end": END, "scheme": "rk3", "diffusion": 0.4},
    )  # fmt: skip


def swirling(n: int, treatment: str, scheme: str = "central") -> tuple[float, float]:
    """In the pot, the mean error of the velocity over the largest one, and the error of the moment on it."""
    flow = compute(pot(n, treatment, scheme))
    left, errors = np.exp(-VISCOSITY * WAVE**2 * END), []
    for axis, name in ((0, "u"), (2, "w")):
        x, y, z = flow.points(name)
        inside = np.broadcast_to((x - X0) ** 2 + (z - Z0) ** 2 + 0 * y < RADIUS**2, flow[name].shape)
        errors.append(np.abs(in_centres(flow, name) - left * swirl(x, y, z, axis))[inside])
    moment = 2 * np.pi * RADIUS**2 * VISCOSITY * WAVE * left * j0(WAVE * RADIUS)
    return float(np.concatenate(errors).mean() / left), abs(followed(flow)["pot"]["moment"][1] / moment) - 1


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["central", pytest.param("quick", marks=pytest.mark.slow)])
def test_fluid_that_turns_in_a_pot(scheme):
    """With convection and pressure, along a surface in all directions."""
    (coarse, _), (fine, moment) = (swirling(n, "immersed", scheme) for n in (12, 24))
    steps, _ = swirling(24, "flagged")
    assert np.log2(coarse / fine) > 1.9
    assert fine < steps / 3
    assert abs(moment) < 0.01


@pytest.mark.slow
def test_fluid_that_turns_in_a_pot_on_finer_grids():
    """1.88 from 24 to 48 cells, 1.58 from 48 to 96: fluxes, see `test_cut_faces`."""
    sizes = (24, 48, 96)
    result = [swirling(n, "immersed") for n in sizes]
    assert np.mean(orders([error for error, _ in result], sizes)) > 1.7
    assert abs(result[-1][1]) < 1e-3


@pytest.mark.slow
def test_a_round_pipe_with_a_temperature():
    """Flow and heat in a pipe that lies askew to the cells: both have the profile R^2 - r^2."""
    errors, sizes = [], (10, 20, 40)
    for n in sizes:
        case = Case(
            grid={"cells": [2, n, n], "lengths": [0.2, 1.1, 1.1]}, fluid={"viscosity": 0.5}, boundaries=PERIODIC,
            body={"force": [1.0, 0, 0]}, heat={"diffusivity": 0.5, "source": 0.3}, bodies=IMMERSED,
            obstacles=[{"type": "implicit", "inside": "0.25-(y-0.57)**2-(z-0.54)**2", "temperature": 2.0}],
            time={"end": 1.5, "scheme": "rk3", "diffusion": 0.5}, pressure={"iterations": 1},
        )  # fmt: skip
        flow = compute(case)
        x, y, z = flow.points("u")
        left = np.broadcast_to(0.25 - (y - 0.57) ** 2 - (z - 0.54) ** 2 + 0 * x, flow["u"].shape)
        u, T = np.abs(in_centres(flow, "u") - left / 2)[left > 0], np.abs(flow["T"] - 2 - 0.15 * left)[left > 0]
        errors.append((u.max(), T.max()))
    for result in zip(*errors, strict=True):
        assert np.mean(orders(result, sizes)) > 2, errors


# ------------------------------------------------------------------------------------------------- what must not change


@pytest.mark.parametrize("tables", [{}, pytest.param(QUICK, marks=pytest.mark.slow, id="quick")])
def test_blocks_and_overlap_do_not_change_a_bit(tables):
    """Bodies cut by the sides of blocks, and surfaces next to them, included."""
    assert_same_on_blocks(immersed({"iterations": 4}, time={"steps": 3}, **tables))


CORNER = Box((11, 0, 8), (12, 1, 9))  # where no body is near


def test_what_is_known_of_parts_is_that_of_the_whole():
    setup = RunSetup(immersed(DIRECT), (1, 1, 1))
    whole = flags(setup)
    assert set(whole) == {
        "solid", "T_faces", "owner_x", "owner_y", "owner_z", "owner_T", "conductance_T", "warm_T",
        "friction_x", "friction_y", "friction_z", "blockage_x", "blockage_y", "blockage_z",
    }  # fmt: skip
    for part in (Box((0, 0, 0), (3, 8, 9)), Box((9, 3, 2), (12, 7, 5)), Box((4, 4, 4), (10, 5, 6)), CORNER):
        for name, values in flags(setup, part).items():
            np.testing.assert_array_equal(values, whole[name][part.slices((0, 0, 0))], err_msg=name)


def test_distances_of_a_ball():
    """1 / share - 1 from where the formula of the sphere has its surface."""
    setup = RunSetup(immersed(DIRECT), (1, 1, 1))
    grid, result = setup.grid, flags(setup)["friction_x"]
    x, y, z = grid.points("fx", grid.box)
    off = np.sqrt((x - 0.8) ** 2 + (y - 0.5) ** 2 + (z - 0.6) ** 2)
    k, j, i = 4, 3, int(np.flatnonzero(off[4, 3] < 0.31)[0]) - 1
    expected = 0.0
    for axis, at, centre in ((0, x[0, 0, i], 0.8), (1, y[0, j, 0], 0.5), (2, z[k, 0, 0], 0.6)):
        other = off[k, j, i] ** 2 - (at - centre) ** 2
        if other < 0.31**2:
            share = (abs(at - centre) - np.sqrt(0.31**2 - other)) / grid.spacing[axis]
            if share < 1:
                expected += (1 / share - 1) / grid.spacing[axis] ** 2
    assert expected > 0
    assert result[k, j, i] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("pressure", [
    pytest.param({"solver": "multigrid", "outer": "none", "tolerance": 1e-10}, marks=pytest.mark.slow),
    pytest.param({"solver": "jacobi", "tolerance": 1e-10, "max_iterations": 9000}, marks=pytest.mark.slow),
    pytest.param({"solver": "fft", "forcing": 150}, marks=pytest.mark.slow),
], ids=["multigrid", "jacobi", "fft"])  # fmt: skip
def test_solvers_agree(pressure):
    reference, flow = direct(), compute(immersed(pressure), (1, 1, 2))
    for name in (*VELOCITY, "T"):
        np.testing.assert_allclose(flow[name], reference[name], rtol=0, atol=1e-8, err_msg=name)


def test_nothing_flows_through_closed_faces_and_none_is_lost():
    flow = direct()
    assert flow.scalars["divergence"] < 1e-9
    for axis, name in enumerate(VELOCITY):
        assert flow[name].any()
        assert not flow[name][closed(flow, axis)].any()


@pytest.mark.parametrize("tables", [{}, {"turbulence": {"model": "vreman", "constant": 0.5}}, QUICK],
                         ids=["", "eddies", "quick"])  # fmt: skip
@pytest.mark.fast("eddies")
def test_bodies_and_walls_take_what_drives_the_flow(tables):
    """The momentum of the fluid changes by what is given to it and what bodies and walls take."""
    case = immersed(DIRECT, heat=None, **tables, time={"steps": 40, "step": 1e-8}, obstacles=[
        box([0.4, 0.21, -1.0], [0.91, 0.7, 0.5], name="block"),
        {"type": "sphere", "centre": [1.2, 0.5, 0.9], "radius": 0.25, "name": "ball"},
    ], initial={"velocity": ["0.5+0.3*sin(2*pi*z)", "0.2*cos(2*pi*x/1.6)", "0.1"]})  # fmt: skip
    flow = compute(case)
    assert "turbulence" not in tables or flow["nu_t"].max() > 0.002
    result, grid = followed(flow), flow.setup.grid
    for axis, name in enumerate("uv"):
        gain = (flow[name] - flow[f"{name}_new"]).sum() * grid.volume / 1e-8
        friction = 2 * 0.02 / grid.spacing[2] * flow[name][0].sum() * grid.area(2)  # of the wall below
        bodies = sum(body["force"][axis] for body in result.values())
        fluid = 1.6 * 1.0 * 1.4 - 0.51 * 0.49 * 0.5 - 4 / 3 * np.pi * 0.25**3
        assert gain == pytest.approx(case.body.force[axis] * fluid - friction - bodies, rel=1e-6), name


@pytest.mark.parametrize("across", [pytest.param("x", marks=pytest.mark.slow),
                                    pytest.param("y", marks=pytest.mark.slow), "z"])  # fmt: skip
def test_forces_and_heat_balance_in_a_steady_channel(across):
    """What drives the fluid is what the bodies take, and heat from the one goes into the other."""
    along = {"x": "y", "y": "z", "z": "x"}[across]
    cells = [12 if axis == across else 2 for axis in "xyz"]
    bodies = [{**body, "temperature": T} for body, T in zip(slabs(across), (1.0, 0.0), strict=True)]
    n, h = "xyz".index(across), 0.125
    bodies[0]["high"][n], bodies[1]["low"][n] = 1.7 * h, 10.2 * h
    case = Case(
        grid={"cells": cells, "lengths": [n * h for n in cells]}, fluid={"viscosity": 0.5}, boundaries=PERIODIC,
        heat={"diffusivity": 0.5}, body={"force": vector(**{along: 0.3})}, time={"end": 9.0},
        pressure={"iterations": 1}, obstacles=bodies, bodies=IMMERSED,
    )  # fmt: skip
    flow = compute(case)
    result, axis = followed(flow), "xyz".index(along)
    driven = 0.3 * 4 * h * h * 8.5 * h  # of the true volume of the fluid
    assert sum(body["force"][axis] for body in result.values()) == pytest.approx(driven, rel=1e-9)
    flux = 0.5 / (8.5 * h) * 4 * h * h  # conduction over the true width
    assert result["low"]["heat_flux"] == pytest.approx(flux, rel=1e-9)
    assert result["high"]["heat_flux"] == pytest.approx(-flux, rel=1e-9)


def between(bodies: bool) -> Flow:
    """A steady channel with eddies and heat: eight cells between walls, or between bodies that end on faces."""
    cells, h, warm = 12 if bodies else 8, 0.125, {"type": "wall", "temperature": 1.0}
    result = [{**body, "temperature": T} for body, T in zip(slabs("z"), (1.0, 0.0), strict=True)]
    result[0]["high"][2] += 1e-12  # a face on the surface is closed
    case = Case(
        grid={"cells": [1, 1, cells], "lengths": [0.3, 0.2, cells * h]}, fluid={"viscosity": 0.05},
        boundaries={"x": "periodic", "y": "periodic", "z_min": warm, "z_max": {"type": "wall", "temperature": 0.0}},
        heat={"diffusivity": 0.05}, body={"force": [0.3, 0, 0]}, time={"end": 60.0, "scheme": "rk3", "diffusion": 0.4},
        turbulence={"model": "smagorinsky", "damping": "none"}, pressure={"iterations": 1},
        obstacles=result if bodies else [], **({"bodies": IMMERSED} if bodies else {}),
    )  # fmt: skip
    return compute(case)


def test_eddies_meet_a_surface_as_they_meet_a_wall():
    bodies, walls = between(True), between(False)
    assert walls["nu_t"].max() > 0.002
    for name in ("u", "T", "nu_t"):
        np.testing.assert_allclose(bodies[name][2:10], walls[name], rtol=0, atol=1e-8, err_msg=name)
    result = followed(bodies)
    assert sum(body["force"][0] for body in result.values()) == pytest.approx(0.3 * 0.3 * 0.2 * 1.0, rel=1e-8)
    assert result["low"]["heat_flux"] == pytest.approx(-result["high"]["heat_flux"], rel=1e-8)


@pytest.mark.parametrize(
    "outflow", ["outflow", pytest.param({"type": "outflow", "pressure": 0.0}, marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize("pressure", [
    DIRECT, pytest.param({"solver": "fft", "forcing": 150}, marks=pytest.mark.slow),
    pytest.param({"solver": "jacobi", "tolerance": 1e-9, "max_iterations": 20000}, marks=pytest.mark.slow),
], ids=["multigrid", "fft", "jacobi"])  # fmt: skip
def test_what_comes_in_leaves_around_a_body(outflow, pressure):
    def case(pressure: dict) -> Case:
        result = through(outflow, pressure)
        body = result.obstacles[0].model_copy(update={"low": (0.53, 0.27, -1.0), "high": (0.95, 0.7, 0.46)})
        return Case(**{**dict(result), "obstacles": [body], "bodies": IMMERSED})

    flow = compute(case(pressure), (2, 1, 1))
    assert flow.scalars["divergence"] < 1e-8
    last = flow.padded["u"][1:-1, :, -1]
    assert last.mean() == pytest.approx(1.0, abs=1e-8)
    assert np.ptp(last) > 0.01
    drag = followed(flow)["block"]["force"][0]
    assert drag == pytest.approx(followed(compute(case(DIRECT)))["block"]["force"][0], rel=1e-6)
    assert 0.05 < drag < 5


@pytest.mark.slow
@pytest.mark.parametrize("body", [
    box([0.4] * 3, [0.8] * 3),
    {"type": "implicit", "inside": "maximum(abs(x-0.6), maximum(abs(y-0.6), abs(z-0.6))) - 0.2"},
])  # fmt: skip
def test_surfaces_on_faces_of_cells_close_them_on_all_sides(body):
    """Also where a centre lies on a surface that faces up: forces are those on a body that is a little larger."""

    def flow(body: dict, blocks=(1, 1, 1)) -> Flow:
        case = Case(
            grid={"cells": [12] * 3, "lengths": [1.2] * 3}, fluid={"viscosity": 0.05}, boundaries=PERIODIC,
            body={"force": ["sin(9*t)", 0, 0]}, time={"steps": 8, "step": 0.01}, bodies=IMMERSED, pressure=DIRECT,
            scalars=[{"name": "c", "diffusivity": 0.1, "initial": "x*x"}], obstacles=[body | {"name": "body"}],
        )  # fmt: skip
        return compute(case, blocks)

    result, larger = flow(body), flow(box([0.4 - 1e-6] * 3, [0.8 + 1e-6] * 3))
    force = followed(larger)["body"]["force"]
    np.testing.assert_allclose(followed(result)["body"]["force"], force, rtol=1e-3, atol=1e-9)
    assert force[0] > 0.01
    inside = result["c"][4:8, 4:8, 4:8]
    np.testing.assert_allclose(inside, np.broadcast_to((0.05 + 0.1 * np.arange(4, 8)) ** 2, inside.shape), rtol=1e-12)
    np.testing.assert_allclose(flow(body, (2, 1, 2))["u"], result["u"], rtol=1e-10)


def test_surfaces_through_centres_of_cells_are_warm_on_all_sides():
    """The heat of a box whose faces have centres of cells is that of one that is a little larger."""

    def heat(beyond: float) -> float:
        body = box([0.35 - beyond] * 3, [0.75 + beyond] * 3, name="body", temperature=1.0)
        case = Case(
            grid={"cells": [11] * 3, "lengths": [1.1] * 3}, fluid={"viscosity": 0.05}, boundaries=PERIODIC,
            heat={"diffusivity": 0.05}, time={"steps": 4, "step": 0.01}, bodies=IMMERSED, obstacles=[body],
        )  # fmt: skip
        return followed(compute(case))["body"]["heat_flux"]

    assert heat(0.0) == pytest.approx(heat(1e-6), rel=1e-3)
    assert heat(-1e-9) == pytest.approx(heat(1e-6), rel=1e-3)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.fast("1")
def test_moments_and_bodies_along_the_grid_are_mirrored(axis):
    """One ends at the seam, the other one's middle is no face: moments are about the middles of bodies."""

    def bodies(sign: int) -> tuple[dict, np.ndarray]:
        ends = np.array([[[1.0, 0.3, 0.2], [1.4, 0.5, 0.6]], [[0.3, 0.5, 0.3], [0.6, 0.8, 0.7]]])
        if sign < 0:
            ends[:, ::-1, axis] = lengths[axis] - ends[:, :, axis]
        obstacles = [box(*map(np.ndarray.tolist, body), name=name) for body, name in zip(ends, "ab", strict=True)]
        case = Case(
            grid={"cells": [14, 10, 9], "lengths": lengths.tolist()}, fluid={"viscosity": 0.05}, boundaries=PERIODIC,
            body={"force": [0.7 * sign if n == axis else 0.3 for n in range(3)]}, time={"steps": 3, "step": 0.01},
            bodies=IMMERSED, pressure=DIRECT, obstacles=obstacles,
        )  # fmt: skip
        flow = compute(case)
        u = flow["uvw"[axis]]
        return followed(flow), u if sign > 0 else np.roll(np.flip(u, 2 - axis), 1, 2 - axis)

    lengths = np.array([1.4, 1.0, 0.9])
    (one, u), (other, turned) = bodies(1), bodies(-1)
    np.testing.assert_allclose(turned, -u, atol=1e-9)
    signs = np.where(np.arange(3) == axis, -1, 1)
    for name in "ab":
        np.testing.assert_allclose(other[name]["force"], signs * one[name]["force"], atol=1e-9)
        np.testing.assert_allclose(other[name]["moment"], -signs * one[name]["moment"], atol=1e-9)


def test_houses_along_the_grid_are_alike_from_both_sides(tmp_path):
    """Of a height map whose pixels are cells, and of the same one turned round: flags, friction and open shares."""
    heights, results = np.zeros((8, 10)), []
    heights[1:4, 3:7], heights[1:3, 4:6] = 0.4, 0.7
    for number, rows in enumerate((heights, heights[::-1])):
        np.save(tmp_path / f"{number}.npy", rows)
        case = Case(
            grid={"cells": [10, 8, 9], "lengths": [1.0, 0.8, 0.9]}, fluid={"viscosity": 1.0}, bodies=IMMERSED,
            boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"}, time={"steps": 1},
            obstacles=[{"type": "heights", "file": str(tmp_path / f"{number}.npy"), "interpolation": "nearest"}],
        )  # fmt: skip
        results.append(flags(RunSetup(case, (1, 1, 1), device="cpu")))
    for name in ("friction_x", "friction_y", "friction_z", "blockage_x", "blockage_y", "blockage_z"):
        one, other = (result[name] for result in results)
        turned = np.roll(other[:, ::-1], int(name[-1] == "y"), axis=1)
        np.testing.assert_allclose(turned, one, atol=1e-9, err_msg=name)
        assert one.any() == name.startswith("friction")


def test_scalars_stay_outside_and_are_not_lost():
    """Insulated bodies: the integral of a scalar over the fluid does not change; by either scheme it stays bounded."""
    scalars = [{"name": name, "diffusivity": 0.01, "scheme": name, "initial": "where(z > 0.7, 1, 0)"}
               for name in ("koren", "central")]  # fmt: skip
    case = immersed(DIRECT, heat=None, scalars=scalars, time={"steps": 6}, obstacles=[
        {"type": "sphere", "centre": [0.8, 0.5, 0.6], "radius": 0.31},
    ])  # fmt: skip
    flow, short = compute(case), compute(case.model_copy(update={"time": case.time.model_copy(update={"steps": 1})}))
    solid = flags(flow.setup)["solid"] & 64 > 0
    assert solid.any()
    for name in ("koren", "central"):
        before, after = short[name][~solid], flow[name][~solid]
        assert np.abs(after - before).max() > 1e-3
        assert after.sum() == pytest.approx(before.sum(), rel=1e-10)
    assert -1e-9 < flow["koren"].min() < flow["koren"].max() < 1 + 1e-9


def test_a_treatment_needs_bodies():
    with pytest.raises(BadInput, match=r'bodies\.treatment = "immersed": this case has no \[\[obstacles\]\]'):
        immersed(DIRECT, obstacles=[])
    with pytest.raises(BadInput, match=r'bodies\.treatment = "sharp"'):
        immersed(DIRECT, bodies={"treatment": "sharp"})


PLANE = "0.62*x + 0.53*y + 0.58*z - 0.97"


SPACED = {"z": {"faces": [0.0, 0.12, 0.25, 0.4, 0.58, 0.78, 0.95, 1.1]}}


@pytest.mark.parametrize("inside", [
    PLANE, f"-({PLANE})", "0.4 - abs(x-0.6) - 0*z", "3.2-(x+0.8)**2-(y+0.7)**2-(z+0.9)**2",
], ids=["plane", "back", "slab", "ball"])  # fmt: skip
@pytest.mark.parametrize("stretching", [None, SPACED], ids=["uniform", "stretched"])
def test_open_shares(inside, stretching):
    """Of faces that a surface cuts, those next to walls included: against points scattered over each face."""
    case = Case(
        grid={"cells": [5, 6, 7], "lengths": [1.1, 1.0, 1.1], "stretching": stretching}, time={"steps": 1},
        fluid={"viscosity": 1.0},
        boundaries={f"{axis}_{end}": "wall" for axis in "xyz" for end in ("min", "max")}, bodies=IMMERSED,
        obstacles=[{"type": "implicit", "inside": inside}],
    )  # fmt: skip
    setup = RunSetup(case, (1, 1, 1))
    grid, result = setup.grid, flags(setup)
    shape, at = setup.bodies.solids.shapes[0], (np.arange(64) + 0.5) / 64 - 0.5
    for axis, name in enumerate("xyz"):
        places = grid.points(("fx", "fy", "fz")[axis], grid.box)
        fine = [
            item.ravel() if n == axis else (item.ravel()[:, None] + at * grid.widths(n)[:, None]).ravel()
            for n, item in enumerate(places)
        ]
        open_ = ~shape.inside(*fine)
        for n in (2 - item for item in range(3) if item != axis):
            open_ = np.add.reduceat(open_, np.arange(0, open_.shape[n], 64), axis=n) / 64
        cut = result[f"friction_{name}"] > 0
        assert cut.any()
        np.testing.assert_allclose(1 / (1 + result[f"blockage_{name}"])[cut], open_[cut], rtol=0, atol=0.03)
        assert not result[f"blockage_{name}"][~cut].any()


def test_shares_have_a_least():
    assert cuts.blockage(np.array([0.0, 0.5, 1.0])) == pytest.approx([3.0, 1.0, 0.0])
    step, extent = np.array([0.1, 0.05]), np.array([0.1, 0.2])
    assert cuts.conductance(np.array([0.0, 0.5]), step, extent) == pytest.approx([1e8, 200.0])
    assert cuts.friction(np.array([1.0, 0.5]), step, extent) == pytest.approx([0.0, 100.0])
