"""Flows around bodies: what is known of them exactly, what is conserved, that blocks and solvers do not matter."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import Box
from taskflow.systems.bodies import Survey, survey
from tests.flows import VELOCITY, Flow, compute, flags, orders

H = 0.125
PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}
DIRECT = {"solver": "multigrid", "tolerance": 1e-11}


def box(low, high, **more) -> dict:
    return {"type": "box", "low": list(low), "high": list(high), **more}


def vector(**along: float) -> list[float]:
    return [along.get(axis, 0.0) for axis in "xyz"]


def slabs(across: str, **more) -> list[dict]:
    """Two cells of body below and above eight of fluid."""
    far = {axis: 9.0 for axis in "xyz" if axis != across}
    low = box(vector(**dict.fromkeys("xyz", -9.0)), vector(**{across: 2 * H}, **far), name="low", **more)
    top = vector(**{across: 10 * H}, **dict.fromkeys(far, -9.0))
    high = box(top, vector(**{across: 9.0}, **far), name="high", **more)
    return [low, high]


def channel(along: str, across: str, *, bodies: bool, pressure: dict, **tables) -> Case:
    """Eight cells between two walls, or the same between two bodies; stirred."""
    cells = [{along: 6, across: 12 if bodies else 8}.get(axis, 3) for axis in "xyz"]
    boundaries = {axis: "periodic" for axis in "xyz" if axis != across}
    heat = {"diffusivity": 0.1, "expansion": 0.7, "source": 0.2}
    walls = {f"{across}_{end}": {"type": "wall", "temperature": T} for end, T in (("min", 1.0), ("max", 0.0))}
    result = slabs(across) if bodies else []
    for body, T in zip(result, (1.0, 0.0), strict=False):
        body["temperature"] = T
    wave = {"x": "x", "y": "y", "z": "z"}[along]
    stirring = [f"0.3*cos(2*pi*{wave}/{6 * H})" if axis != across else "0" for axis in "xyz"]
    return Case(
        grid={"cells": cells, "lengths": [n * H for n in cells]}, boundaries=boundaries | walls,
        body={"force": vector(**{along: 0.3, across: 0.1}), "gravity": vector(**{across: -2.0})}, heat=heat,
        initial={"velocity": stirring}, time={"steps": 12}, pressure=pressure, obstacles=result,
        **{"fluid": {"viscosity": 0.1}, **tables},
    )  # fmt: skip


def eddies(model: str, **more) -> dict:
    """Tables of a turbulence model."""
    return {"turbulence": {"model": model, **more}, "fluid": {"viscosity": 0.002}}


@pytest.mark.fast("x-z-pressure7-tables7")
@pytest.mark.parametrize(("along", "across", "pressure", "tables"), [
    *(pytest.param(*pair, {"iterations": 9}, {}, marks=pytest.mark.slow) for pair in ["yx", "zy", "xz", "zx"]),
    ("x", "y", {"iterations": 9}, {}), ("y", "z", {"iterations": 9}, {}), ("x", "z", DIRECT, {}),
    *((*pair, {"iterations": 9}, eddies("wale", constant=2.0)) for pair in [("x", "z"), ("y", "x"), ("z", "y")]),
    ("x", "y", {"iterations": 9}, eddies("smagorinsky", damping="none")),
    ("y", "z", {"iterations": 9}, eddies("vreman")),
])  # fmt: skip
def test_a_channel_between_two_bodies_is_one_between_two_walls(along, across, pressure, tables):
    """To rounding: velocity, temperature, eddy viscosity, and the pressure but for a constant."""
    flows = (compute(channel(along, across, bodies=bodies, pressure=pressure, **tables)) for bodies in (True, False))
    inner, walls = flows
    assert np.abs(walls["uvw"["xyz".index(along)]]).max() > 0.02
    if tables:
        assert walls["nu_t"].max() > 1e-4
    for name in (*VELOCITY, "p", "T", *(["nu_t"] if tables else [])):
        result = inner[name].take(range(2, 10), axis=2 - "xyz".index(across))
        if name == "p":
            result = result - result.mean() + walls[name].mean()
        np.testing.assert_allclose(result, walls[name], rtol=0, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("across", "xyz")
@pytest.mark.fast("x")
def test_forces_balance_in_a_steady_channel(across):
    """What drives the fluid is what the bodies take, and heat from the one goes into the other; to rounding."""
    along = {"x": "y", "y": "z", "z": "x"}[across]
    cells = [12 if axis == across else 2 for axis in "xyz"]
    case = Case(
        grid={"cells": cells, "lengths": [n * H for n in cells]}, fluid={"viscosity": 0.5},
        boundaries={**PERIODIC}, heat={"diffusivity": 0.5}, body={"force": vector(**{along: 0.3})}, time={"end": 9.0},
        pressure={"iterations": 1},
        obstacles=[{**body, "temperature": T} for body, T in zip(slabs(across), (1.0, 0.0), strict=True)],
    )  # fmt: skip
    flow = compute(case)
    result = followed(flow)
    n, volume = "xyz".index(along), flow.setup.grid.volume
    assert sum(body["force"][n] for body in result.values()) == pytest.approx(0.3 * volume * 8 * 4, rel=1e-10)
    assert result["low"]["force"][n] == pytest.approx(result["high"]["force"][n], rel=1e-10)
    area = 4 * H * H
    assert result["low"]["heat_flux"] == pytest.approx(0.5 * 1.0 / (8 * H) * area, rel=1e-10)
    assert result["high"]["heat_flux"] == pytest.approx(-result["low"]["heat_flux"], rel=1e-10)


def obstructed(pressure: dict, **changes) -> Case:
    """Bodies of several kinds, over the seam of periodic sides and on a wall, in a warm wind."""
    bodies = [
        {"type": "sphere", "centre": [0.8, 0.5, 0.6], "radius": 0.3, "name": "ball", "temperature": 1.0},
        box([-0.1, 0.2, -1.0], [0.3, 0.6, 0.5], name="block"),
        box([1.4, 0.2, -1.0], [2.0, 0.6, 0.5], name="block"),
        {"type": "implicit", "inside": "(x-1.3)**2 + (z-1.1)**2 - 0.03"},
    ]
    tables = {
        "grid": {"cells": [12, 8, 9], "lengths": [1.6, 1.0, 1.4]}, "fluid": {"viscosity": 0.02},
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"},
        "body": {"force": [1.0, 0.3, 0.0], "gravity": [0.0, 0.0, -1.0]},
        "heat": {"diffusivity": 0.02, "expansion": 1.0}, "time": {"steps": 4}, "obstacles": bodies,
    }  # fmt: skip
    return Case(**{**tables, **changes}, pressure=pressure)


@cache
def direct() -> Flow:
    return compute(obstructed(DIRECT))


def followed(flow: Flow) -> dict[str, dict]:
    """What is known of the bodies with names at the end."""
    return flow.setup.system.measures.line(flow.scalars, flow.tick, 0.0)["bodies"]


def bits(one: Flow, other: Flow) -> None:
    for name in (*VELOCITY, "p", "T"):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def assert_same_on_blocks(case: Case) -> None:
    """Neither blocks nor overlap change a bit of the fields, nor more than the last ones of what is summed up."""
    whole = compute(case)
    assert whole.scalars["speed"] > 0.01
    for blocks, overlap in (((1, 1, 2), "full"), ((3, 2, 1), "comm")):
        cut = compute(case, blocks, overlap=overlap)
        bits(whole, cut)
        for name, body in followed(whole).items():
            np.testing.assert_allclose(followed(cut)[name]["force"], body["force"], rtol=1e-10)
        flux = followed(whole)["ball"]["heat_flux"]
        assert followed(cut)["ball"]["heat_flux"] == pytest.approx(flux, rel=1e-10)


def open_faces(flow: Flow, axis: int) -> np.ndarray:
    """Which low faces across an axis no solid cell has."""
    masks = flow.setup.system.masks
    solid = masks.solids.numbers_around(flow.setup.grid.box) != 0
    inner, before = (slice(1, -1),) * 3, tuple(slice(0, -2) if n == 2 - axis else slice(1, -1) for n in range(3))
    return ~(solid[inner] | solid[before])


SPACED = {"x": {"faces": [0, 0.1, 0.22, 0.36, 0.5, 0.62, 0.72, 0.86, 1]}}


@pytest.mark.parametrize(("treatment", "scheme", "stretching"), [
    ("flagged", "ab2", None), ("immersed", "ab2", None), *(pytest.param(*item, marks=pytest.mark.slow) for item in
    [("flagged", "rk3", None), ("flagged", "ab2", SPACED), ("immersed", "ab2", SPACED), ("immersed", "rk3", None)]),
])  # fmt: skip
@pytest.mark.fast("immersed-ab2-None")
def test_a_bulk_velocity_around_bodies(treatment, scheme, stretching):
    """In a steady flow it is the mean over the volume of the fluid, and the force that keeps it is what bodies take."""
    case = Case(
        grid={"cells": [8, 8, 1], "lengths": [1.0, 1.0, 1.0], "stretching": stretching}, fluid={"viscosity": 0.5},
        boundaries=PERIODIC, body={"bulk_velocity": {"x": 0.7}}, pressure=DIRECT, bodies={"treatment": treatment},
        time={"end": 9.0, "steady": 1e-9, "scheme": scheme},
        obstacles=[box([0.25, 0.27, -1.0], [0.47, 0.61, 2.0], name="block")],
    )  # fmt: skip
    flow = compute(case)
    model, grid = flow.setup.model, flow.setup.grid
    bits = flags(flow.setup)["solid"]
    fluid = bits & 65 == 0 if treatment == "flagged" else bits & 1 == 0
    x, y, z = (grid.extents("fx", axis, 0, grid.cells[axis]) for axis in range(3))
    volumes = np.broadcast_to(z[:, None, None] * y[:, None] * x, fluid.shape)
    assert 0 < fluid.sum() < fluid.size
    space = 1 - 0.22 * 0.34
    assert (flow["u"] * volumes).sum() == pytest.approx(0.7 * space, rel=1e-7)
    assert not flow["u"][~fluid].any()
    force = model.driving.forces(flow.scalars, model.scheme, flow.tick.dt, fluid.size)["force_x"]
    [body] = followed(flow).values()
    assert force * space == pytest.approx(body["force"][0], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("treatment", [pytest.param("flagged", marks=pytest.mark.slow), "immersed"])
def test_eddies_around_bodies_have_the_same_bits_on_any_blocks(treatment):
    """With heat, a bounded scalar and a bulk velocity; whatever memory held before."""
    tracer = {"name": "c", "diffusivity": 0.001, "sources": [{"point": [1.0, 0.5, 1.1], "rate": 1.0}]}
    driven = {"gravity": [0.0, 0.0, -1.0], "bulk_velocity": {"x": 0.5}}
    case = obstructed(
        {"iterations": 4}, time={"steps": 3}, scalars=[tracer], turbulence={"model": "wale"}, body=driven,
        bodies={"treatment": treatment},
    )  # fmt: skip
    whole, cut = compute(case), compute(case, (3, 2, 1), overlap="full", garbage=np.nan)
    assert whole["nu_t"].max() > 1e-3
    assert not whole["nu_t"][whole["nu_t"] < 0].size
    for name in (*VELOCITY, "p", "T", "c", "nu_t"):
        np.testing.assert_array_equal(whole[name], cut[name], err_msg=name)
    for name, body in followed(whole).items():
        assert followed(cut)[name]["force"] == pytest.approx(body["force"], rel=1e-12)


@pytest.mark.parametrize("scheme", ["ab2", pytest.param("rk3", marks=pytest.mark.slow)])
def test_blocks_and_overlap_do_not_change_a_bit(scheme):
    """Bodies cut by the sides of blocks included."""
    assert_same_on_blocks(obstructed({"iterations": 4}, time={"steps": 3, "scheme": scheme}))


@pytest.mark.slow
@pytest.mark.parametrize("treatment", ["flagged", "immersed"])
def test_two_sweeps_in_one_pass_do_not_change_a_bit(treatment, monkeypatch):
    """As on a GPU with large blocks."""
    case = obstructed({"iterations": 5}, time={"steps": 2}, bodies={"treatment": treatment})
    single = compute(case)
    monkeypatch.setattr("taskflow.systems.base.pressure.blocking_pays", lambda _: True)
    blocked = compute(case, (2, 1, 1), overlap="full", planned="gpu")
    launches = [launch for launch in blocked.setup.step_cost.launches if launch.task.name == "jacobi_twice_half"]
    assert launches
    assert all("solid" in launch.fields for launch in launches)
    bits(single, blocked)


@pytest.mark.parametrize("pressure", [
    {"solver": "jacobi", "tolerance": 1e-10, "max_iterations": 9000},
    {"solver": "multigrid", "outer": "none", "tolerance": 1e-10}, {"solver": "fft", "forcing": 50},
], ids=["jacobi", "multigrid", "fft"])  # fmt: skip
@pytest.mark.fast("multigrid", "fft")
def test_solvers_agree(pressure):
    reference, flow = direct(), compute(obstructed(pressure), (1, 1, 2))
    for name in (*VELOCITY, "T"):
        np.testing.assert_allclose(flow[name], reference[name], rtol=0, atol=1e-9, err_msg=name)


def test_nothing_flows_into_bodies_and_none_is_lost():
    flow = direct()
    solid = flow.setup.bodies.solids.mask(flow.setup.grid.box)
    assert 0.1 < solid.mean() < 0.3
    assert flow.scalars["divergence"] < 1e-9
    for axis, name in enumerate(VELOCITY):
        assert not flow[name][solid | np.roll(solid, 1, axis=2 - axis)].any()


def test_forced_velocities_leave_less_divergence_the_more_often():
    left = [compute(obstructed({"solver": "fft", "forcing": n})).scalars["divergence"] for n in (2, 8, 20)]
    assert left[0] > 10 * left[1] > 500 * left[2] > 0


def test_bodies_and_walls_take_what_drives_the_flow():
    """The momentum of the fluid changes by what is given to it and what bodies and walls take: over a short step."""
    case = obstructed(DIRECT, heat=None, time={"steps": 1, "step": 1e-7}, obstacles=[
        box([0.4, 0.2, -1.0], [0.9, 0.7, 0.5], name="block"),
        {"type": "sphere", "centre": [1.2, 0.5, 0.9], "radius": 0.25, "name": "ball"},
    ], initial={"velocity": ["0.5+0.3*sin(2*pi*z)", "0.2*cos(2*pi*x/1.6)", "0.1"]})  # fmt: skip
    flow = compute(case)
    result, grid = followed(flow), flow.setup.grid
    solid = flow.setup.bodies.solids.mask(grid.box)
    for axis, name in enumerate("uv"):
        open_ = ~(solid | np.roll(solid, 1, axis=2 - axis))
        gain = (flow[name] - flow[f"{name}_new"])[open_].sum() * grid.volume / 1e-7
        friction = 2 * 0.02 / grid.spacing[2] * flow[name][0].sum() * grid.area(2)  # of the wall below
        bodies = sum(body["force"][axis] for body in result.values())
        fluid = 1.6 * 1.0 * 1.4 - 0.5 * 0.5 * 0.5 - 4 / 3 * np.pi * 0.25**3
        values = case.body.force[axis] * fluid
        assert gain == pytest.approx(values - friction - bodies, rel=1e-5), name


def test_flow_past_a_symmetric_body_stays_symmetric():
    case = Case(
        grid={"cells": [16, 12, 12], "lengths": [1.6, 1.2, 1.2]}, fluid={"viscosity": 0.01}, boundaries=PERIODIC,
        body={"force": [1.0, 0.0, 0.0]}, time={"steps": 20}, pressure={"iterations": 20},
        obstacles=[{"type": "sphere", "centre": [0.8, 0.6, 0.6], "radius": 0.31, "name": "ball"}],
    )  # fmt: skip
    flow = compute(case)
    u = flow["u"]
    assert np.ptp(u) > 0.05
    np.testing.assert_allclose(u, u[:, ::-1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(u, u[::-1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(u, u.swapaxes(0, 1), rtol=0, atol=1e-13)
    result = followed(flow)["ball"]
    np.testing.assert_allclose(result["force"][1:], 0, atol=1e-13)
    np.testing.assert_allclose(result["moment"], 0, atol=1e-13)


@pytest.mark.fast("poiseuille*")
@pytest.mark.parametrize("flow", ["couette", "poiseuille"])
def test_bodies_between_cells_are_of_first_order(flow):
    """The surface moves to the next face of a cell: an error of less than half a cell's width over the channel's."""
    errors, sizes = [], (8, 16, 32, 64)
    for n in sizes:
        cells, top = [1, 1, n], {"type": "wall", "velocity": [1.0 * (flow == "couette"), 0.0, 0.0]}
        floor = 0.25 + 0.4 / n  # on every grid as far from the faces of cells
        case = Case(
            grid={"cells": cells, "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 1.0},
            boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": top},
            body={"force": [8.0 * (flow == "poiseuille"), 0.0, 0.0]},
            time={"end": 0.7, "scheme": "rk3", "diffusion": 0.55}, pressure={"iterations": 1},
            obstacles=[box([-1, -1, -1], [2, 2, floor])],
        )  # fmt: skip
        result = compute(case)
        z = result.points("u")[2].ravel()
        height = 1 - floor
        exact = (z - floor) / height if flow == "couette" else 4 * (z - floor) * (1 - z)
        errors.append(float(np.abs(result["u"].ravel() - exact)[z > floor + 1 / n].max()))
    assert all(0.85 < order < 1.25 for order in orders(errors, sizes)[1:]), errors


def test_rotation_does_not_drive_bodies():
    """The Coriolis force acts on all faces alike; those of bodies stay at rest."""
    body = {"rotation": [0.0, 0.0, 0.5], "force": [1.0, 0.0, 0.0]}
    flow = compute(obstructed(DIRECT, body=body))
    solid = flow.setup.bodies.solids.mask(flow.setup.grid.box)
    for axis, name in enumerate(VELOCITY):
        assert flow[name].any()
        assert not flow[name][solid | np.roll(solid, 1, axis=2 - axis)].any()
    assert flow.scalars["divergence"] < 1e-9


def through(outflow: dict | str, pressure: dict, **body) -> Case:
    """A block in a stream that comes in and leaves."""
    return Case(
        grid={"cells": [16, 8, 8], "lengths": [2.0, 1.0, 1.0]}, fluid={"viscosity": 0.02},
        time={"steps": 6, "step": 0.02},
        boundaries={"x_min": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]}, "x_max": outflow, "y": "periodic",
                    "z_min": "wall", "z_max": "slip"},
        initial={"velocity": [1.0, 0.0, 0.0]}, pressure=pressure,
        obstacles=[box([0.5, 0.25, -1.0], [1.0, 0.75, 0.5], name="block", **body)],
    )  # fmt: skip


@pytest.mark.parametrize("outflow", [
    "outflow", {"type": "outflow", "pressure": 0.0}, {"type": "outflow", "pressure": "advected"},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("pressure", [
    DIRECT, pytest.param({"solver": "fft", "forcing": 40}, marks=pytest.mark.slow),
    pytest.param({"solver": "jacobi", "tolerance": 1e-9, "max_iterations": 20000}, marks=pytest.mark.slow),
], ids=["multigrid", "fft", "jacobi"])  # fmt: skip
@pytest.mark.fast("multigrid-outflow", "multigrid-*advected*")
def test_what_comes_in_leaves_around_a_body(outflow, pressure):
    flow = compute(through(outflow, pressure), (2, 1, 1))
    assert flow.scalars["divergence"] < 1e-8
    last = flow.padded["u"][1:-1, :, -1]
    assert last.mean() == pytest.approx(1.0, abs=1e-8)
    assert np.ptp(last) > 0.01
    drag = followed(flow)["block"]["force"][0]
    reference = followed(compute(through(outflow, DIRECT)))["block"]["force"][0]
    assert drag == pytest.approx(reference, rel=1e-6)
    assert 0.05 < drag < 5


@pytest.mark.parametrize(("place", "face"), [([-1.0, 1.0], "x_min"), ([1.5, 3.0], "x_max")])
def test_a_body_before_an_opening_is_refused(place, face):
    case = through("outflow", DIRECT)
    body = case.obstacles[0].model_copy(update={"low": (place[0], 0.25, -1.0), "high": (place[1], 0.75, 0.5)})
    setup = RunSetup(case.model_copy(update={"obstacles": (body,)}), (1, 1, 1))
    kind = "inflow" if face == "x_min" else "outflow"
    told = rf"obstacles\[1\]: it covers 16 of the 64 cells behind the {kind} {face}; start the body"
    with pytest.raises(BadInput, match=told):
        survey(setup.bodies)


def test_a_case_without_bodies_has_no_part_of_them():
    """Neither fields nor launches."""
    setup = RunSetup(obstructed({"iterations": 2}, obstacles=[]), (1, 1, 1))
    assert setup.system.masks is None
    assert not setup.model.flags
    assert not any("obstructed" in launch.task.name for launch in setup.step_cost.launches)


# ------------------------------------------------------------------------------------------------- geometry to masks


@pytest.mark.parametrize(("body", "volume", "surface"), [
    ({"type": "sphere", "centre": [0.5, 0.47, 0.52], "radius": 0.3}, 4 / 3 * np.pi * 0.3**3, 4 * np.pi * 0.3**2),
    ({"type": "cylinder", "axis": "y", "centre": [0.51, 0.5, 0.48], "radius": 0.3, "length": 0.61},
     np.pi * 0.3**2 * 0.61, 2 * np.pi * 0.3 * 0.91),
    ({"type": "box", "low": [0.11, 0.22, 0.33], "high": [0.77, 0.66, 0.88]}, 0.66 * 0.44 * 0.55, 1.7908),
    ({"type": "implicit", "inside": "sqrt((sqrt((x-0.5)**2+(y-0.5)**2)-0.28)**2 + (z-0.5)**2) - 0.12"},
     2 * np.pi**2 * 0.28 * 0.12**2, 4 * np.pi**2 * 0.28 * 0.12),
], ids=["sphere", "cylinder", "box", "torus"])  # fmt: skip
def test_volumes_approach_those_of_the_bodies(body, volume, surface):
    """With first order: a surface is moved by half a cell at most."""
    for n in (8, 16, 32, 64):
        grid = {"cells": [n] * 3, "lengths": [1.0] * 3}
        case = obstructed(DIRECT, grid=grid, obstacles=[{**body, "name": "body"}], heat=None)
        result = survey(RunSetup(case, (1, 1, 1)).bodies)
        assert result.parts[0].volume == pytest.approx(result.parts[0].cells / n**3)
        assert result.fluid == pytest.approx(1 - result.all.volume)
        assert abs(result.all.volume - volume) < surface / n / 2


def test_flags_of_parts_are_those_of_the_whole():
    """Whatever box is asked for: across the seam of periodic sides, at walls, in one plane."""
    setup = RunSetup(obstructed(DIRECT), (1, 1, 1))
    whole = flags(setup)
    assert set(whole) == {"solid", "faces", "T_faces", "owner_x", "owner_y", "owner_z"}
    for part in (Box((0, 0, 0), (3, 8, 9)), Box((9, 3, 2), (12, 7, 5)), Box((4, 4, 4), (10, 5, 6))):
        for name, values in flags(setup, part).items():
            assert values.dtype == whole[name].dtype
            np.testing.assert_array_equal(values, whole[name][part.slices((0, 0, 0))])


def gaps(*bodies: dict) -> Survey:
    grid = {"cells": [16, 8, 8], "lengths": [16.0, 8.0, 8.0]}
    case = obstructed(DIRECT, obstacles=list(bodies), heat=None, grid=grid)
    return survey(RunSetup(case, (1, 1, 1)).bodies)


def test_gaps_are_counted_in_cells():
    """Between bodies, to walls, through periodic sides; within one body, too."""
    one, two = box([1, 0, 2], [4, 8, 5], name="one"), box([9, 0, 2], [11, 8, 4], name="two")
    result = gaps(one, two)
    assert [part.gap for part in result.parts] == [2, 2]  # to the floor
    assert result.all.gap == 2
    assert [part.gap for part in gaps({**one, "low": [1, 0, 0]}, {**two, "low": [9, 0, 0]}).parts] == [3, 4]
    u = gaps(box([2, 0, 0], [4, 8, 8], name="u"), box([5, 0, 0], [7, 8, 8], name="u"))
    assert u.parts[0].gap == 1
    assert u.parts[0].cells == 4 * 8 * 8
    assert gaps(box([0, 0, 0], [16, 8, 4])).all.gap == 4
    assert gaps(box([0, 0, 0], [16, 7, 8])).all.gap == 1  # through the periodic sides


def test_a_gap_thinner_than_a_cell_is_told_with_its_place():
    thin = gaps(box([1, 0, 0], [4.7, 8, 8], name="left"), box([5.3, 0, 0], [9, 8, 8]))
    assert len(thin.warnings) == 1
    told = 'between obstacles[1] ("left") and obstacles[2] at (4.5, 0.5, 0.5) is a gap thinner than a cell'
    assert told in thin.warnings[0]
    assert not gaps(box([1, 0, 0], [5, 8, 8]), box([5, 0, 0], [9, 8, 8])).warnings, "they touch"
    assert not gaps(box([1, 0, 0], [4.4, 8, 8]), box([5.6, 0, 0], [9, 8, 8])).warnings, "a cell is between them"


@pytest.mark.parametrize(("body", "message"), [
    (box([20, 0, 0], [30, 8, 8]), "obstacles[1]: it lies outside of the domain: x from 20 to 30, where the"),
    (box([-1, -1, -1], [17, 9, 9]), "obstacles: no cell is left for the fluid"),
    (box([1.6, 1.6, 1.6], [2.4, 2.4, 2.4]), "obstacles[1]: no cell has its centre in it; use smaller cells"),
    ({"type": "implicit", "inside": "1"}, "obstacles[1]: no cell has its centre in it"),
    ({"type": "surface", "file": "/nowhere/a.stl"}, "obstacles[1]: /nowhere/a.stl: file not found; give an absolute"),
    ({"type": "surface", "file": "a.step"}, "obstacles[1]: a.step is not one of .stl, .obj"),
    ({"type": "heights", "file": "/nowhere/a.npy"}, "obstacles[1]: /nowhere/a.npy: file not found; give an absolute"),
], ids=str)  # fmt: skip
def test_what_cannot_be_is_refused(body, message):
    with pytest.raises(BadInput) as error:
        gaps(body)
    assert message in str(error.value)


@pytest.mark.parametrize("far", [30.0, 1e18])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_named_body_beyond_the_domain_has_no_cells_in_it(far, side):
    """However far: there are more cells on the way than integers have numbers for."""
    body = {"type": "sphere", "name": "far", "centre": [side * far, 0.5, 0.5], "radius": 0.1}
    bodies = RunSetup(obstructed(DIRECT, obstacles=[body], heat=None), (1, 1, 1)).bodies
    assert not bodies.solids.boxes[0]
    assert [result.name for result in bodies.followed] == ["far"]


def test_a_body_that_a_later_one_hides_is_no_mistake():
    assert gaps(box([2, 2, 2], [4, 4, 4], name="a"), box([1, 1, 1], [5, 5, 5])).parts[0].cells == 0


def test_auto_is_multigrid_around_bodies():
    """And says why."""
    from taskflow.systems.base.pressure import described

    assert "multigrid, to 1e-06" in described(obstructed({}))
    assert "(auto: its equation takes the faces of obstacles into account)" in described(obstructed({}))
    assert described(obstructed({"iterations": 3})).startswith("Jacobi")


def test_a_formula_that_is_not_finite_is_named():
    """It is evaluated only where flags of cells are made, and as a part of phases where these are."""
    ball = {"type": "implicit", "inside": "log(x - 0.5)"}
    tables = {"grid": {"cells": [4, 4, 4], "lengths": [1, 1, 1]}, "boundaries": PERIODIC, "time": {"steps": 1}}
    case = Case(**tables, fluid={"viscosity": 0.1}, obstacles=[box([0, 0, 0], [0.3, 1, 1]), ball])
    with pytest.raises(BadInput, match=r"^obstacles\[2\].inside: the expression 'log\(x - 0.5\)' is not finite at x ="):
        flags(RunSetup(case, (1, 1, 1)))
    phases = {"density": [2, 1], "viscosity": [0.1, 0.1], "shapes": [{**ball, "phase": 1}]}
    phi = RunSetup(Case(**tables, two_phase=phases), (1, 1, 1)).system.initial["phi"]
    with pytest.raises(BadInput, match=r"^two_phase.shapes\[1\].inside: the expression"):
        phi(*np.zeros((3, 1, 1, 1)))
