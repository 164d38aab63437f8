"""Forces on bodies: what drives the fluid less its change of momentum, whether a body moves or not."""

import numpy as np
import pytest

from tests.everyday.cases import PERIODIC, last

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "step"), [(20, 0.002), (40, 0.0008)])
@pytest.mark.parametrize("x", [0.5, 0.47])
def test_a_body_at_rest_and_one_that_moves_by_nothing_feel_one_force(compute, cells, step, x):
    radius, volume, found = 0.2, 0.05, []
    for name, motion in (("rests", {}), ("moves", {"motion": {"displacement": ["0*t", 0, 0]}})):
        result = compute(
            name, grid={"cells": [cells, 1, cells], "lengths": [1.0, 0.05, 1.0]}, fluid={"viscosity": 0.05},
            boundaries=PERIODIC, body={"force": [1.0, 0, 0]}, bodies={"treatment": "immersed"},
            obstacles=[{
                "name": "rod", "type": "cylinder", "axis": "y", "centre": [x, 0, 0.5], "radius": radius, **motion,
            }],
            time={"step": step, "steps": 20}, pressure={"tolerance": 1e-10}, monitor={"every": {"steps": 1}},
            output={"precision": "double", "every": {"steps": 1}},
        )  # fmt: skip
        u = result.dataset().load().u.values
        force = np.array([line["bodies"]["rod"]["force"][0] for line in result.log()[1:]])
        found.append((u, force, (force + np.diff(u.mean(axis=(1, 2, 3)) * volume) / step) / volume))
    (u, force, balance), (moving_u, moving_force, _) = found
    assert float(np.abs(u - moving_u).max()) < 1e-6 * float(np.abs(u).max())
    assert float(np.abs(force / moving_force - 1).max()) < 0.02
    assert float(np.abs(balance / (1 - np.pi * radius * radius) - 1).max()) < 5e-3


@pytest.mark.slow
def test_a_cylinder_that_accelerates_and_fluid_that_does_differ_by_the_fluid_displaced(compute):
    acceleration, radius, height, cells = 0.4, 0.5, 1.0, 128
    common = {
        "grid": {"cells": [cells, 1, cells], "lengths": [8.0, height, 8.0]}, "fluid": {"viscosity": 1e-3},
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "slip", "z_max": "slip"},
        "bodies": {"treatment": "immersed"}, "pressure": {"tolerance": 1e-9}, "monitor": {"every": {"steps": 1}},
        "time": {"step": 0.01, "end": 0.3},
    }  # fmt: skip
    rod = {"name": "rod", "type": "cylinder", "axis": "y", "centre": [4.0, 0.0, 4.0], "radius": radius}
    motion = {"displacement": [f"-{acceleration / 2}*t*t", 0, 0]}
    moves = compute("moves", **common, obstacles=[{**rod, "motion": motion}])
    past = compute("past", **common, obstacles=[rod], body={"force": [acceleration, 0, 0]})
    one, other = (
        np.mean([line["bodies"]["rod"]["force"][0] for line in result.log() if line["time"] > 0.1])
        / (acceleration * np.pi * radius * radius * height)
        for result in (moves, past)
    )
    assert 0.95 < one < 1.35
    assert abs(other - one) < 0.06


BOX = {"type": "box", "low": [0.3, -1, 0.3], "high": [0.7, 1, 0.7]}
ROUND = {"type": "cylinder", "axis": "y", "centre": [0.5, 0, 0.5], "radius": 0.23}


@pytest.mark.slow
@pytest.mark.parametrize(("treatment", "body", "volume"), [
    pytest.param("immersed", BOX, 1 - 0.16, id="immersed box"),
    pytest.param("immersed", ROUND, 1 - np.pi * 0.23**2, id="immersed cylinder"),
    pytest.param("flagged", BOX, 1 - 0.16, id="flagged box"),
])  # fmt: skip
def test_a_bulk_velocity_around_a_body_is_that_of_the_fluid(compute, treatment, body, volume):
    """A flow rate of the fluid's mean cross-section, and the force that keeps it is what the body takes."""
    cells = 40
    result = compute(
        grid={"cells": [cells, 1, cells], "lengths": [1.0, 0.3, 1.0]}, fluid={"viscosity": 0.05},
        body={"bulk_velocity": {"x": 1.0}}, obstacles=[{"name": "rod", **body}], bodies={"treatment": treatment},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "slip", "z_max": "slip"},
        time={"end": 1.0, "scheme": "rk3", "cfl": 1.0, "diffusion": 0.35}, pressure={"tolerance": 1e-9},
        monitor={"every": {"steps": 500}},
    )  # fmt: skip
    line, rate = result.log()[-1], float(last(result).u.values[:, 0, 1:-1].sum(0).mean()) / cells
    assert rate == pytest.approx(volume, rel=5e-3)
    assert line["bodies"]["rod"]["force"][0] == pytest.approx(line["force_x"] * volume * 0.3, rel=5e-3)


@pytest.mark.slow
def test_the_force_at_the_start_is_the_same_in_any_frame(compute):
    """Past a body at rest, on a grid that moves through fluid at rest, and of half of each."""
    first = []
    for name, stream, motion in (
        ("stream", 1.0, {}), ("grid", 0.0, {"motion": {"displacement": ["-t", 0.0, 0.0]}}),
        ("both", 0.5, {"motion": {"displacement": ["-0.5*t", 0.0, 0.0]}}),
    ):  # fmt: skip
        result = compute(
            name, grid={"shape": "o-grid", "cells": [48, 24, 1], "radius": 0.5, "far": 20.0}, fluid={"viscosity": 0.01},
            method={"type": "artificial-compressibility", "march": "implicit", "reference_speed": 1.0},
            boundaries={
                "body": "wall", "far": {"type": "far-field", "velocity": [stream, 0.0, 0.0]}, "ends": "symmetry",
            },
            initial={"velocity": [stream, 0.0, 0.0]}, time={"step": 0.1, "end": 0.1}, monitor={"every": {"steps": 1}},
            **motion,
        )  # fmt: skip
        first.append(result.log()[0]["bodies"]["body"]["force"][0])
    assert first == pytest.approx([first[0]] * 3, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("march", "height"), [("implicit", 1.0), ("implicit", 0.2), ("rk4", 1.0)])
def test_the_torque_between_turning_cylinders_is_that_of_couette(compute, march, height):
    """On both cylinders, in any span; and so is the profile."""
    inner, outer, speed, viscosity = 0.5, 1.0, 1.0, 0.05
    a, b = -speed * inner**2 / (outer**2 - inner**2), speed * inner**2 * outer**2 / (outer**2 - inner**2)
    result = compute(
        method={"type": "artificial-compressibility", "march": march}, fluid={"viscosity": viscosity},
        grid={"shape": "annulus", "cells": [24, 48, 1], "radii": [inner, outer], "height": height},
        boundaries={
            "inner": {"type": "wall", "velocity": [f"-{speed}*y", f"{speed}*x", 0], "moment_about": [0, 0, 0]},
            "outer": {"type": "wall", "moment_about": [0, 0, 0]}, "ends": "symmetry",
        },
        time={"steady": 1e-7, "steps": 60 if march == "implicit" else 12000},
        output={"precision": "double", "every": {"steps": 100000}}, monitor={"every": {"steps": 100000}},
    )  # fmt: skip
    moments = {name: result.log()[-1]["bodies"][name]["moment"][2] for name in ("inner", "outer")}
    torque = 4 * np.pi * viscosity * b
    assert moments["outer"] == pytest.approx(torque, rel=0.01)
    assert moments["inner"] == pytest.approx(-torque, rel=0.01)
    assert moments["outer"] == pytest.approx(-moments["inner"], rel=2e-3)
    for leaf in result.dataset().leaves:
        data = leaf.to_dataset()
        if "u" in data:
            data = data.isel(time=-1)
            x, y = data.x_c.values, data.y_c.values
            radius = np.hypot(x, y)
            around = (x * data.v.values - y * data.u.values) / radius
            assert float(np.abs(around - (a * radius + b / radius)).max()) < 5e-3
