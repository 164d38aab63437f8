"""Fluid at rest stays at rest, walls are tight, and bodies are whole."""

import warnings

import numpy as np
import pytest

from tests.everyday.cases import PERIODIC, last

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

HILL = [{"name": "hill", "type": "implicit", "inside": "z - 0.37*exp(-((x-0.5)/0.2)**2)"}]
OPEN = {"z_min": "wall", "z_max": {"type": "outflow", "pressure": 0.0}, "y": "periodic"}
STRATIFIED = {
    "stretched": {
        "grid": {
            "cells": [12, 1, 20], "lengths": [1.0, 0.1, 1.0],
            "stretching": {"z": {"geometric": 1.15, "toward": "min"}},
        },
    },
    "hill": {"obstacles": HILL}, "immersed hill": {"obstacles": HILL, "bodies": {"treatment": "immersed"}},
    "open": {"boundaries": {**OPEN, "x": "periodic"}},
    "open beside walls": {"boundaries": {**OPEN, "x_min": "wall", "x_max": "wall"}},
}  # fmt: skip


@pytest.mark.fast("immersed hill", "open")
@pytest.mark.parametrize("what", STRATIFIED)
def test_stratified_fluid_stays_at_rest(compute, what):
    """The pressure is the weight above."""
    tables = {
        "grid": {"cells": [16, 1, 16], "lengths": [1.0, 0.1, 1.0]}, "fluid": {"viscosity": 1e-3},
        "heat": {"diffusivity": 0.0, "expansion": 0.01, "reference": 0.0}, "initial": {"temperature": "3*z + 2*z*z"},
        "body": {"gravity": [0, 0, -9.81]},
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        "time": {"step": 0.05, "steps": 100}, "pressure": {"tolerance": 1e-12}, "monitor": {"every": {"steps": 100}},
        **STRATIFIED[what],
    }  # fmt: skip
    data = last(compute(**tables))
    assert max(float(np.abs(data[name].values).max()) for name in "uvw") < 1e-9
    solid = data["solid"].values if "solid" in data else np.zeros(data["p"].shape)
    p, z = np.where(solid == 1, np.nan, data["p"].values), data.z_c.values
    highest = np.nanmax(p, axis=(1, 2))
    assert float(np.nanmax(highest - np.nanmin(p, axis=(1, 2)))) < 1e-8
    weight = 0.01 * 9.81 * (3 * z * z / 2 + 2 * z**3 / 3)
    assert float(np.abs((highest - highest[-1]) - (weight - weight[-1])).max()) < 3e-3


PIER = [{"name": "pier", "type": "box", "low": [0.4, -1, -1], "high": [0.6, 9, 0.8]}]


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 0.513, 0.53125, 0.549])
@pytest.mark.parametrize("body", [[], PIER])
@pytest.mark.parametrize("tension", [0.0, 0.07])
def test_water_under_air_stays_at_rest(compute, level, body, tension):
    """Its level is anywhere in a cell, and a block may stand in it."""
    result = compute(
        grid={"cells": [16, 1, 16], "lengths": [1.0, 0.1, 1.0]}, body={"gravity": [0, 0, -9.81]}, obstacles=body,
        boundaries={"x_min": "slip", "x_max": "slip", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        two_phase={
            "density": [1000.0, 1.2], "viscosity": [1e-3, 1.8e-5], "surface_tension": tension,
            "initial": f"{level} - z",
        },
        time={"steps": 60, "step": 2e-3}, pressure={"tolerance": 1e-12},
        output={"precision": "double", "fields": ["u", "v", "w", "p", "f", "phi"]},
    )  # fmt: skip
    data = last(result)
    assert max(float(np.abs(data[name].values).max()) for name in "uw") < (1e-4 if body else 1e-9)
    p = data.p.values[:, 0, 1]
    assert float(p[0] - p[4]) == pytest.approx(1000 * 9.81 * 0.25, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("thickness", [1, 2])
@pytest.mark.parametrize("treatment", ["flagged", "immersed"])
def test_a_diagonal_wall_of_cells_lets_nothing_through(compute, treatment, thickness):
    """They touch by corners alone, or along faces."""
    cells = 16
    h = 1.0 / cells
    wall = [
        {
            "name": "wall", "type": "box", "low": [i * h, -1, (cells - 1 - i) * h],
            "high": [min((i + thickness) * h, 1.0), 1, (cells - i) * h],
        } for i in range(cells)
    ]  # fmt: skip
    data = last(compute(
        grid={"cells": [cells, 1, cells], "lengths": [1.0, h, 1.0]}, fluid={"viscosity": 0.01},
        boundaries={
            "x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall",
            "z_max": {"type": "wall", "velocity": [1.0, 0, 0]},
        },
        obstacles=wall, bodies={"treatment": treatment}, time={"step": 0.02, "steps": 60},
        pressure={"tolerance": 1e-10},
        scalars=[{"name": "dye", "diffusivity": 0.01, "initial": "1.0*(x + z > 1)"}],
    ))  # fmt: skip
    x, z = np.meshgrid(data.x_c.values, data.z_c.values)
    faces, centres = np.meshgrid(data.x_f.values, data.z_c.values)
    assert float(np.abs(data.u.values[:, 0])[faces + centres < 1 - 1e-9].max()) < 1e-9
    assert float(np.abs(data.dye.values[:, 0][x + z < 1 - 1.5 * h]).max()) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2)])
@pytest.mark.parametrize("axis", ["z", "x"])
def test_grains_sink_and_come_to_lie(compute, axis, blocks):
    """At the speed of Stokes, neither through the floor nor into a step that stands there."""
    other, response, density = "x" if axis == "z" else "z", 0.02, 2.5

    def put(a, b, c):
        along = {axis: a, other: b, "y": c}
        return [along[name] for name in "xyz"]

    data = compute(
        grid={"cells": put(20, 20, 4), "lengths": put(1.0, 1.0, 0.2)}, fluid={"viscosity": 0.01},
        body={"gravity": put(-1.0, 0, 0)}, machine={"blocks": blocks}, time={"end": 100.0, "step": 0.1},
        boundaries={f"{axis}_min": "wall", f"{axis}_max": "wall", other: "periodic", "y": "periodic"},
        obstacles=[{"name": "step", "type": "box", "low": put(-1, 0.3, -1), "high": put(0.4, 0.7, 1)}],
        particles=[{
            "name": "sand", "box": [put(0.9, 0.0, 0.0), put(0.95, 1.0, 0.2)], "lattice": put(2, 20, 2),
            "response_time": response, "density": density, "every": 1.0,
        }],
    ).dataset("sand")  # fmt: skip
    height, aside = data[axis].values, data[other].values
    speed = response * (1 - 1 / density)
    assert float((height[20] - height[40]).mean() / 20) == pytest.approx(speed, rel=1e-6)
    over = (aside > 0.3 + 1e-9) & (aside < 0.7 - 1e-9)
    assert not (over & (height < 0.4 - 1e-9)).any()
    assert (height >= 0).all()
    assert not np.isnan(height).any()
    assert float(np.where(over[-1], height[-1] - 0.4, height[-1]).max()) < 0.02


def test_a_body_over_a_periodic_side_is_whole(compute):
    """At rest as in motion, or a warning says that a part of it is lost."""
    said, solid, force = {}, {}, {}
    for motion in ({}, {"motion": {"displacement": ["0*t", 0, 0]}}):
        for x in (0.5, 0.0):
            key = bool(motion), x
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                result = compute(
                    f"{x} {len(motion)}", grid={"cells": [20, 1, 20], "lengths": [1.0, 0.05, 1.0]},
                    fluid={"viscosity": 0.05}, boundaries=PERIODIC, body={"force": [1.0, 0, 0]},
                    bodies={"treatment": "immersed"}, time={"step": 0.004, "steps": 10}, pressure={"tolerance": 1e-9},
                    obstacles=[{
                        "name": "rod", "type": "cylinder", "axis": "y", "centre": [x, 0.0, 0.5], "radius": 0.2,
                        **motion,
                    }],
                )  # fmt: skip
            said[key] = any("periodic" in str(warning.message) for warning in told)
            solid[key] = int(last(result).solid.values.sum())
            force[key] = result.log()[-1]["bodies"]["rod"]["force"][0]
    assert solid[True, 0.0] == solid[True, 0.5]
    assert force[True, 0.0] == pytest.approx(force[True, 0.5], rel=1e-6)
    assert solid[False, 0.0] == solid[False, 0.5] or said[False, 0.0]
