"""Forces of bodies: with the change of the momentum of the fluid they are, in every step, what drives its volume."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import j1

from taskflow.cases import Case
from taskflow.systems.bodies import Bodies
from tests.flows import Flow, compute

PERIODIC = dict.fromkeys("xyz", "periodic")
DIRECT = {"solver": "multigrid", "tolerance": 1e-11}
STILL = {"motion": {"displacement": ["0*t", 0, 0]}}
R, CELLS, THICK = 0.2, 16, 0.05
ROD = {"name": "rod", "type": "cylinder", "axis": "y", "centre": [0.47, 0, 0.5], "radius": R}
BOX = {"name": "box", "type": "box", "low": [0.31, -1, 0.27], "high": [0.68, 1, 0.55]}
EDGE = {"name": "edge", "type": "box", "low": [0.65, -1, 0.4], "high": [0.75, 1, 0.6]}  # partly in the other one
FORMULA = {"name": "formula", "type": "implicit", "inside": f"(x-0.47)**2 + (z-0.5)**2 - {R * R}"}
STIRRED = {"velocity": ["0.5+0.3*sin(2*pi*z)", 0, "0.2*cos(2*pi*x)"]}
STRETCHED = {"x": {"faces": (0.5 + 0.5 * np.sinh(np.linspace(-1, 1, CELLS + 1)) / math.sinh(1)).tolist()}}
ROUND = 1 - math.pi * R * R
TWO = 1 - 0.37 * 0.28 - 0.1 * 0.2 + 0.03 * 0.15
FLAGGED, IMMERSED = ({"bodies": {"treatment": kind}} for kind in ("flagged", "immersed"))
RK3 = {"time": {"step": 0.002, "steps": 3, "scheme": "rk3"}}


def case(obstacles: list[dict], **tables) -> Case:
    """A flow from rest past rods in a periodic box."""
    stretching = tables.pop("stretching", None)
    return Case(**{
        "grid": {"cells": [CELLS, 1, CELLS], "lengths": [1.0, THICK, 1.0], "stretching": stretching},
        "fluid": {"viscosity": 0.05}, "boundaries": PERIODIC, "body": {"force": [1.0, 0, 0]},
        "time": {"step": 0.002, "steps": 3}, "pressure": DIRECT, "obstacles": obstacles, **tables,
    })  # fmt: skip


def logged(flow: Flow) -> dict:
    """The last line of the log."""
    return flow.setup.system.measures.line(flow.scalars, flow.tick, 0.0)


def momentum(flow: Flow, axis: int = 0) -> float:
    grid = flow.setup.grid
    x, y, z = (grid.extents(("fx", "fy", "fz")[axis], a, 0, grid.cells[a]) for a in range(3))
    return float((flow["uvw"[axis]] * z[:, None, None] * y[:, None] * x).sum())


def balance(made: Case, force: float = 1.0) -> float:
    """Force and change of momentum in the last step, over what drives a unit of volume: a `force` that varies."""
    before = compute(made.replace(**{"time.steps": made.time.steps - 1}))
    flow = compute(made)
    line = logged(flow)
    change = (momentum(flow) - momentum(before)) / flow.tick.dt
    drive = line.get("force_x", 0.0) + (made.body.force[0] if isinstance(made.body.force[0], float) else force)
    return (sum(body["force"][0] for body in line["bodies"].values()) + change) / drive


@pytest.mark.parametrize(("obstacles", "tables", "fluid"), [
    ([ROD], IMMERSED, ROUND),
    ([ROD], FLAGGED, ROUND),
    ([ROD], {**IMMERSED, **RK3}, ROUND),
    ([ROD], {**FLAGGED, **RK3, "initial": STIRRED, "fluid": {"viscosity": 0.05, "scheme": "quick"}}, ROUND),
    ([ROD], {**IMMERSED, "turbulence": {"model": "vreman"}, "initial": STIRRED}, ROUND),
    ([ROD], {**FLAGGED, "turbulence": {"model": "vreman"}, "initial": STIRRED}, ROUND),
    ([ROD | STILL], {**IMMERSED, "turbulence": {"model": "vreman"}, "initial": STIRRED}, ROUND),
    ([ROD], {**IMMERSED, "stretching": STRETCHED}, ROUND),
    ([ROD], {**FLAGGED, "body": {"force": ["1+0*t", 0, 0]}}, ROUND),
    ([BOX], {**IMMERSED, "body": {"bulk_velocity": {"x": 1.0}}}, 1 - 0.37 * 0.28),
    ([BOX], {**FLAGGED, **RK3, "body": {"bulk_velocity": {"x": 1.0}}}, 1 - 0.37 * 0.28),
    ([BOX, EDGE], IMMERSED, TWO),
    ([FORMULA], FLAGGED, ROUND),
    ([ROD | {"centre": [0.0, 0, 0.97]}], IMMERSED, ROUND),
])  # fmt: skip
@pytest.mark.fast("obstacles2-*", "obstacles10-*", "obstacles12-*")
def test_forces_and_change_of_momentum_are_what_drives_the_fluid(obstacles, tables, fluid):
    within = 1e-8 if len(obstacles) == 1 and obstacles[0] is not FORMULA else 2e-4
    assert balance(case(obstacles, **tables)) == pytest.approx(fluid * THICK, rel=within)


@pytest.mark.parametrize(("tables", "motion", "scheme"), [
    (FLAGGED, {}, "ab2"), (FLAGGED, {}, "rk3"), (IMMERSED, {}, "ab2"), (IMMERSED, {}, "rk3"), (IMMERSED, STILL, "ab2"),
])  # fmt: skip
@pytest.mark.fast("tables1-*", "tables3-*", "tables4-*")
def test_forces_and_change_of_momentum_are_a_drive_that_varies(tables, motion, scheme):
    """The drive in the last step is that of the same fluid without bodies."""
    varied = {"body": {"force": ["cos(300*t)", 0, 0]}, "time": {"step": 0.002, "steps": 3, "scheme": scheme}}
    made, free = case([ROD | motion], **tables, **varied), case([], **varied)
    before, after = (momentum(compute(free.replace(**{"time.steps": steps}))) for steps in (2, 3))
    drive = (after - before) / 0.002
    assert abs(drive / THICK - math.cos(300 * 0.004)) > 0.1, "it is not the force at one time"
    assert balance(made, drive / THICK) == pytest.approx(ROUND * THICK, rel=1e-8)


@pytest.mark.parametrize(("obstacles", "tables", "fluid", "within"), [
    ([BOX, EDGE], IMMERSED, TWO, 2e-5), ([BOX, EDGE], {**FLAGGED, **RK3}, TWO, 2e-5),
    ([ROD | STILL], IMMERSED, ROUND, 1e-8),
])  # fmt: skip
@pytest.mark.fast("obstacles1-*")
def test_forces_given_by_formulas_drive_the_fluid_and_not_the_bodies(obstacles, tables, fluid, within):
    """They are linear in time, so that what a step applies is the force in its middle."""
    forcing = [{"on": "u", "expression": "0.5"}, {"on": "u", "expression": "50*t"}]
    made = case(obstacles, **tables, body={"force": [0.3, 0, 0]}, forcing=forcing)
    assert 0.3 * balance(made) == pytest.approx((0.3 + 0.5 + 50 * 0.005) * fluid * THICK, rel=within)


K = 2 * math.pi
IN_ROD = math.pi * R * R + 0.5 * 2 * math.pi * R * j1(K * R) * math.sin(K * 0.47) / K
IN_BOX = 0.28 * (0.37 + 0.5 * (math.cos(K * 0.31) - math.cos(K * 0.68)) / K)
IN_EDGE = 0.2 * (0.1 + 0.5 * (math.cos(K * 0.65) - math.cos(K * 0.75)) / K)
IN_BOTH = 0.15 * (0.03 + 0.5 * (math.cos(K * 0.65) - math.cos(K * 0.68)) / K)


@pytest.mark.parametrize("cells", [16, 32])
@pytest.mark.parametrize(("obstacles", "tables", "inside", "solid"), [
    ([ROD], IMMERSED, IN_ROD, 1 - ROUND), ([ROD | STILL], IMMERSED, IN_ROD, 1 - ROUND),
    ([BOX], IMMERSED, IN_BOX, 0.37 * 0.28), ([BOX, EDGE], IMMERSED, IN_BOX + IN_EDGE - IN_BOTH, 1 - TWO),
    ([BOX, EDGE], FLAGGED, IN_BOX + IN_EDGE - IN_BOTH, 1 - TWO),
])  # fmt: skip
@pytest.mark.fast("obstacles0-*-16", "obstacles3-*-16")
def test_a_force_that_varies_in_space_drives_the_fluid(obstacles, tables, inside, solid, cells):
    """Its integral over the bodies is known. The centre of their closed faces is not theirs."""
    force = {"on": "u", "expression": "1 + 0.5*sin(2*pi*x)"}
    made = case(obstacles, **tables, forcing=[force], body={"force": [1e-3, 0, 0]},
                grid={"cells": [cells, 1, cells], "lengths": [1.0, THICK, 1.0]})  # fmt: skip
    assert 1e-3 * balance(made) == pytest.approx((1 - inside + 1e-3 * (1 - solid)) * THICK, rel=1e-3)


def test_a_force_that_varies_drives_the_fluid_around_a_body_over_a_periodic_side():
    """Wherever it is: its faces on both sides of the domain are of one body."""
    forces = []
    for shift in (0.0, 0.5):
        force = {"on": "u", "expression": f"1 + 0.5*sin(2*pi*(x - {shift}))"}
        rod = ROD | {"centre": [(0.03 + shift) % 1, 0, 0.5]}
        forces.append(logged(compute(case([rod], **IMMERSED, forcing=[force])))["bodies"]["rod"]["force"][0])
    assert forces[0] == pytest.approx(forces[1], rel=1e-8)


@pytest.mark.parametrize("treatment", ["flagged", "immersed"])
def test_a_bulk_velocity_is_the_mean_over_the_fluid(treatment):
    """Of a steady flow, on any grid, with the flow rate through every plane."""
    made = case([ROD], bodies={"treatment": treatment}, body={"bulk_velocity": {"x": 1.0}}, fluid={"viscosity": 0.5},
                time={"end": 2.0, "steady": 1e-8})  # fmt: skip
    flow = compute(made)
    rates = flow["u"].sum(axis=(0, 1)) / CELLS
    np.testing.assert_allclose(rates, ROUND, rtol=1e-6)
    line = logged(flow)
    assert line["bodies"]["rod"]["force"][0] == pytest.approx(line["force_x"] * ROUND * THICK, rel=1e-6)


@pytest.mark.parametrize("motion", [{}, STILL])
@pytest.mark.parametrize("place", [[0.0, 0.4, 0.5], [0.01, 0.8, 0.99]])
def test_a_body_over_periodic_sides_is_whole(place, motion):
    """It has the flow, the force and at rest the moment of one in the middle."""
    found = []
    for shift in (0.0, 0.5):
        centre = [(at + shift) % 1 for at in place]
        ball = {"name": "ball", "type": "sphere", "centre": centre, "radius": 0.21, "temperature": 1.0, **motion}
        flow = compute(case([ball], grid={"cells": [12, 12, 12], "lengths": [1.0, 1.0, 1.0]}, **IMMERSED,
                            body={"force": [1.0, 0.3, 0.0], "rotation": [0.2, 0.1, 0.4]},
                            heat={"diffusivity": 0.05}))  # fmt: skip
        solids = flow.setup.bodies.solids.mask(flow.setup.grid.box).sum()
        found.append((solids, momentum(flow), logged(flow)["bodies"]["ball"]))
    (cells, flown, over), (whole, expected, middle) = found
    assert cells == whole
    assert flown == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(over["force"], middle["force"], rtol=1e-8, atol=1e-12)
    assert over["heat_flux"] == pytest.approx(middle["heat_flux"], rel=1e-9)
    if not motion:
        np.testing.assert_allclose(over["moment"], middle["moment"], rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize(("body", "cells"), [
    ({"type": "box", "low": [-0.25, -1, 0.25], "high": [0.25, 1, 0.5]}, 8 * 4),
    ({"type": "box", "low": [-9, -1, 0.25], "high": [0.25, 1, 0.5]}, 4 * 4),  # far beyond: it ends where it is said
    ({"type": "box", "low": [0.5, -1, -0.25], "high": [1.0, 1, 0.25]}, 8 * 8),
])  # fmt: skip
def test_boxes_over_periodic_sides(body, cells):
    bodies = Bodies(case([body]), case([body]).staggered)
    assert bodies.solids.mask(bodies.grid.box).sum() == cells


def test_a_surface_over_a_periodic_side_is_whole(tmp_path):
    """A tetrahedron half beyond a side, and heights narrower than the domain."""
    points = np.array([[0.0, 0, 0], [0.6, 0, 0], [0, 0.6, 0], [0, 0, 0.6]]) - [0.31, -0.1, -0.1]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    text = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x:.8g} {y:.8g} {z:.8g}\n" for x, y, z in points[list(face)]) + "endloop\nendfacet\n"
        for face in faces
    )  # fmt: skip
    (tmp_path / "body.stl").write_text(f"solid body\n{text}endsolid body\n")
    np.save(tmp_path / "hill.npy", np.full((4, 4), 0.3))
    for body, volume in (
        ({"type": "surface", "file": str(tmp_path / "body.stl"), "name": "body"}, 0.6**3 / 6),
        ({"type": "heights", "file": str(tmp_path / "hill.npy"), "extent": [-0.25, 0.25, 0, 1], "name": "hill"}, 0.15),
    ):
        made = case([body], grid={"cells": [20, 20, 20], "lengths": [1.0, 1.0, 1.0]},
                    boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"})  # fmt: skip
        bodies = Bodies(made, made.staggered)
        assert bodies.solids.mask(bodies.grid.box).sum() / 8000 == pytest.approx(volume, rel=0.1)
        assert bodies.volumes[0][0] == pytest.approx(volume, rel=0.01)


def test_volumes_of_shapes():
    """By formulas, but where they are cut or overlap; those of all together are that of the solids."""
    shapes = [
        {"type": "sphere", "centre": [0.5, 0.5, 0.1], "radius": 0.2},  # cut by the floor
        {"type": "cylinder", "axis": "z", "centre": [0.0, 0.5, 0.5], "radius": 0.1, "length": 0.3},
        {"type": "implicit", "inside": "abs(x-0.75) + abs(y-0.75) + abs(z-0.7) - 0.2"},
    ]
    made = case(shapes, grid={"cells": [20, 20, 20], "lengths": [1.0, 1.0, 1.0]},
                boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"})  # fmt: skip
    size, centre = Bodies(made, made.staggered).volumes
    cap = math.pi * 0.1**2 * (0.6 - 0.1) / 3
    assert size[0] == pytest.approx(4 / 3 * math.pi * 0.2**3 - cap, rel=1e-3)
    assert size[1] == pytest.approx(math.pi * 0.1**2 * 0.3, rel=1e-2)
    assert size[2] == pytest.approx(4 / 3 * 0.2**3, rel=1e-2)
    np.testing.assert_allclose(centre[1:], [[0.0, 0.5, 0.5], [0.75, 0.75, 0.7]], atol=2e-3)


@pytest.mark.parametrize(("tables", "motion"), [(FLAGGED, {}), (IMMERSED, {}), (IMMERSED, STILL)])
@pytest.mark.fast("tables0-*")
def test_stratified_fluid_lifts_what_it_surrounds(tables, motion):
    """It stays at rest, from the first step on, and lifts an insulated body by the weight of what that displaces."""
    ball = {"name": "ball", "type": "sphere", "centre": [0.5, 0.4, 0.52], "radius": 0.22, **motion}
    flow = compute(case(
        [ball], grid={"cells": [16, 12, 16], "lengths": [1.0, 0.8, 1.0]}, fluid={"viscosity": 1e-3},
        heat={"diffusivity": 0.0, "expansion": 0.01}, body={"gravity": [0, 0, -9.81]},
        initial={"temperature": "3*z"}, time={"step": 0.05, "steps": 2},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"}, **tables,
    ))  # fmt: skip
    assert max(np.abs(flow[name]).max() for name in "uvw") < 1e-10
    lift = -0.01 * 9.81 * 3 * 0.52 * 4 / 3 * math.pi * 0.22**3
    assert logged(flow)["bodies"]["ball"]["force"][2] == pytest.approx(lift, rel=0.01)


def test_sixty_four_risers():
    """Each has its force."""
    risers = [
        {"name": f"riser_{n}", "type": "cylinder", "axis": "z", "radius": 0.04,
         "centre": [(n % 8 + 0.5) / 8, (n // 8 + 0.5) / 8, 0.0]}
        for n in range(64)
    ]  # fmt: skip
    flow = compute(case(risers, grid={"cells": [32, 32, 1], "lengths": [1.0, 1.0, 0.1]}, **FLAGGED,
                        time={"step": 0.002, "steps": 2}))  # fmt: skip
    forces = [body["force"][0] for body in logged(flow)["bodies"].values()]
    assert len(forces) == 64
    np.testing.assert_allclose(forces, forces[0], rtol=1e-6)
