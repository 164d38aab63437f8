"""Flows around bodies on grids with cells of different widths."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.bodies import survey
from tests.flows import VELOCITY, Flow, compute, flags, orders
from tests.systems.test_bodies import (
    DIRECT,
    PERIODIC,
    assert_same_on_blocks,
    box,
    followed,
    obstructed,
    slabs,
    vector,
)
from tests.systems.test_immersed import QUICK, floor, immersed

TREATMENTS = ["flagged", "immersed"]


def uneven(n: int, length: float, seed: int = 5) -> list[float]:
    """Faces of n cells whose widths differ by a factor of 1.9 at most."""
    widths = np.random.default_rng(seed).uniform(1, 1.9, n)
    return np.concatenate([[0.0], np.cumsum(widths * length / widths.sum())]).tolist()


def stretched(case: Case, axes: str) -> Case:
    """The case with cells of other widths along some axes."""
    item = zip("xyz", case.grid.cells, case.grid.lengths, strict=True)
    spacing = {axis: {"faces": uneven(n, length)} for axis, n, length in item if axis in axes}
    return Case(**{**dict(case), "grid": {**dict(case.grid), "stretching": spacing}})


@pytest.mark.parametrize(("along", "across", "tables"), [
    pytest.param("x", "z", {"turbulence": {"model": "wale", "constant": 2.0}}, marks=pytest.mark.slow),
    pytest.param("z", "y", {}, marks=pytest.mark.slow),
    pytest.param("y", "x", {"turbulence": {"model": "vreman"}}, marks=pytest.mark.slow),
])  # fmt: skip
def test_a_channel_between_two_bodies_is_one_between_two_walls(along, across, tables):
    """To the tolerance of the pressure. The cells of the channel differ in width, those of the bodies from all."""
    inner = np.array(uneven(8, 1.0))
    spaced = {True: [0.0, 0.1, 0.24, *(0.24 + inner[1:]).tolist(), 1.41, 1.5], False: inner.tolist()}
    result = []
    for solid in (True, False):
        edges = np.array(spaced[solid])
        widths, low = np.diff(edges), 2 * solid
        bodies = slabs(across)
        for body, T in zip(bodies, (1.0, 0.0), strict=True):
            body["temperature"] = T
        n = "xyz".index(across)
        bodies[0]["high"][n], bodies[1]["low"][n] = edges[2], 1.24
        cells = [{along: 6, across: len(widths)}.get(axis, 3) for axis in "xyz"]
        lengths = [{along: 0.8, across: float(edges[-1])}.get(axis, 0.4) for axis in "xyz"]
        walls = {f"{across}_{end}": {"type": "wall", "temperature": T} for end, T in (("min", 1.0), ("max", 0.0))}
        third = next(axis for axis in "xyz" if axis not in (along, across))
        stirring = {along: f"0.3*cos(2*pi*{third}/0.4)", third: f"0.3*cos(2*pi*{along}/0.8)", across: "0"}
        stretching = {across: {"faces": edges.tolist()}, along: {"faces": uneven(6, 0.8)}}
        heat = {"diffusivity": 0.1, "expansion": 0.7, "source": 0.2}
        case = Case(
            grid={"cells": cells, "lengths": lengths, "stretching": stretching}, fluid={"viscosity": 0.002},
            boundaries={axis: "periodic" for axis in "xyz" if axis != across} | walls,
            body={"force": vector(**{along: 0.3, across: 0.1}), "gravity": vector(**{across: -2.0})},
            initial={"velocity": [stirring[axis] for axis in "xyz"]}, time={"steps": 8, "step": 0.01},
            pressure={**DIRECT, "tolerance": 1e-13}, obstacles=bodies if solid else [], heat=heat, **tables,
        )  # fmt: skip
        flow = compute(case)
        names = [*VELOCITY, "T", *(["nu_t"] if "turbulence" in tables else [])]
        result.append({name: flow[name].take(range(low, low + 8), axis=2 - n) for name in names})
    bodies, walls = result
    assert np.abs(walls["uvw"["xyz".index(along)]]).max() > 0.1
    for name, values in walls.items():
        assert abs(values).max() > 1e-5
        np.testing.assert_allclose(bodies[name], values, rtol=0, atol=1e-10, err_msg=name)


EDDIES = {"turbulence": {"model": "wale"}, "body": {"gravity": [0, 0, -1], "bulk_velocity": {"x": 0.5}}}


@pytest.mark.slow
@pytest.mark.parametrize(("make", "tables"), [
    (obstructed, {}), (immersed, {}), *(pytest.param(make, EDDIES, marks=pytest.mark.slow, id=f"{make.__name__}-eddies")
                                        for make in (obstructed, immersed)),
])  # fmt: skip
def test_blocks_and_overlap_do_not_change_a_bit(make, tables):
    """Bodies cut by the sides of blocks included."""
    assert_same_on_blocks(stretched(make({"iterations": 4}, time={"steps": 3}, **tables), "xyz"))


def closed(flow: Flow, axis: int) -> np.ndarray:
    """Which low faces across an axis are closed."""
    setup = flow.setup
    bits = flags(setup)["solid"]
    return (bits & (64 if setup.case.bodies.treatment == "flagged" else 0) | bits & 1 << 2 * axis) > 0


def around_faces(flow: Flow, axis: int) -> np.ndarray:
    """The volumes around low faces."""
    grid = flow.setup.grid
    x, y, z = (grid.extents(("fx", "fy", "fz")[axis], a, 0, grid.cells[a]) for a in range(3))
    return z[:, None, None] * y[:, None] * x


@pytest.mark.slow
@pytest.mark.parametrize(("treatment", "tables"), [
    *((treatment, {}) for treatment in TREATMENTS),
    *(pytest.param(treatment, QUICK, marks=pytest.mark.slow, id=f"{treatment}-quick") for treatment in TREATMENTS),
])  # fmt: skip
def test_bodies_and_walls_take_what_drives_the_flow(treatment, tables):
    """The momentum of the fluid changes by what is given to it and what bodies and walls take."""
    short = {"heat": None, "time": {"steps": 40, "step": 1e-8}, "bodies": {"treatment": treatment}, **tables}
    case = obstructed(DIRECT, **short, obstacles=[
        box([0.4, 0.21, -1.0], [0.91, 0.7, 0.5], name="block"),
        {"type": "sphere", "centre": [1.2, 0.5, 0.9], "radius": 0.25, "name": "ball"},
    ], initial={"velocity": ["0.5+0.3*sin(2*pi*z)", "0.2*cos(2*pi*x/1.6)", "0.1"]})  # fmt: skip
    flow = compute(stretched(case, "xyz"))
    result, grid = followed(flow), flow.setup.grid
    assert flow.scalars["divergence"] < 1e-9
    for axis, name in enumerate("uv"):
        shut, volumes = closed(flow, axis), around_faces(flow, axis)
        assert not flow[name][shut].any()
        gain = ((flow[name] - flow[f"{name}_new"]) * volumes).sum() / 1e-8
        friction = 2 * 0.02 / grid.widths(2)[0] ** 2 * (flow[name] * volumes)[0].sum()  # of the wall below
        bodies = sum(body["force"][axis] for body in result.values())
        fluid = 1.6 * 1.0 * 1.4 - 0.51 * 0.49 * 0.5 - 4 / 3 * np.pi * 0.25**3
        assert gain == pytest.approx(case.body.force[axis] * fluid - friction - bodies, rel=1e-5), name


@pytest.mark.slow
@pytest.mark.parametrize(("treatment", "scheme"), [("flagged", "koren"), ("immersed", "central")])
def test_forces_and_heat_balance_in_a_steady_channel(treatment, scheme):
    """What drives the fluid is what the bodies take, and heat from the one goes into the other."""
    bodies = [{**body, "temperature": T} for body, T in zip(slabs("z"), (1.0, 0.0), strict=True)]
    edges = np.array(uneven(12, 1.5))
    low, high = edges[2] - 0.03 * (treatment == "immersed"), edges[10] + 0.02 * (treatment == "immersed")
    bodies[0]["high"][2], bodies[1]["low"][2] = low, high
    case = Case(
        grid={"cells": [2, 2, 12], "lengths": [0.25, 0.25, 1.5], "stretching": {"z": {"faces": edges.tolist()}}},
        fluid={"viscosity": 0.5}, boundaries=PERIODIC, heat={"diffusivity": 0.5, "scheme": scheme},
        body={"force": [0.3, 0, 0]}, time={"end": 6.0}, pressure={"iterations": 1}, obstacles=bodies,
        bodies={"treatment": treatment},
    )  # fmt: skip
    flow = compute(case)
    result = followed(flow)
    driven = 0.3 * 0.25**2 * (high - low)  # of the true volume of the fluid
    assert sum(body["force"][0] for body in result.values()) == pytest.approx(driven, rel=1e-9)
    flux = 0.5 / (high - low) * 0.25**2  # conduction over the true width
    assert result["low"]["heat_flux"] == pytest.approx(flux, rel=1e-9)
    assert result["high"]["heat_flux"] == pytest.approx(-flux, rel=1e-9)


@pytest.mark.slow
def test_solvers_agree():
    """Multigrid, whose equation knows the faces, and forced velocities with the direct solver."""
    case = stretched(obstructed({"solver": "fft", "forcing": 60}), "z")
    direct, forced = (
        compute(case.model_copy(update={"pressure": obstructed(DIRECT).pressure})),
        compute(case, (1, 1, 2)),
    )
    for name in (*VELOCITY, "T"):
        np.testing.assert_allclose(forced[name], direct[name], rtol=0, atol=1e-8, err_msg=name)


def wide(n: int, length: float) -> list[float]:
    """Faces along a smooth function: cells differ in width by a factor of 3."""
    xi = np.arange(n + 1) / n
    return (length * (xi - np.sin(2 * np.pi * xi) / (4 * np.pi))).tolist()


def test_poiseuille_flow_over_a_floor_between_cells_is_of_second_order():
    sizes = (6, 12, 24)
    errors = [floor(n, stretching={"z": {"faces": wide(n, 1.0)}}) for n in sizes]
    assert np.mean(orders(errors, sizes)) > 1.8, errors


def test_volumes_are_those_of_cells():
    body = {"type": "box", "low": [0.3, 0.2, 0.25], "high": [1.1, 0.8, 0.9], "name": "body"}
    case = stretched(obstructed(DIRECT, obstacles=[body], heat=None), "xz")
    result, grid = survey(RunSetup(case, (1, 1, 1)).bodies), case.staggered
    inside = [(low < (c := grid.coordinates("c", a))) & (c < high)
              for a, (low, high) in enumerate(zip(body["low"], body["high"], strict=True))]  # fmt: skip
    expected = np.prod([grid.widths(a)[mask].sum() for a, mask in enumerate(inside)])
    assert result.parts[0].volume == result.all.volume == pytest.approx(expected, rel=1e-12)
    assert result.parts[0].cells == np.prod([mask.sum() for mask in inside])
    assert result.fluid == pytest.approx(1 - expected / np.prod(grid.lengths))
