"""Sides that lines of the grid do not meet at a right angle: what passes them is what is prescribed. Slip sides bear a
pressure that rises towards them.
"""

import numpy as np
import pytest

from taskflow.geometry.grids import write_grid
from taskflow.geometry.grids.multiblock.assembly import Part, assembled
from taskflow.output import read_log, tree
from tests.cases.on_charts import case
from tests.runs.going_on import go

SQUARE = {"i_min": "west", "i_max": "east", "j_min": "south", "j_max": "north", "k_min": "ends", "k_max": "ends"}
RING = {"i_min": "inner", "i_max": "outer", "k_min": "ends", "k_max": "ends"}
FLOW = {
    "method": {"type": "artificial-compressibility", "march": "implicit", "reference_speed": 1.0},
    "fluid": {"viscosity": 1.0}, "time": {"steady": 1e-10, "steps": 300}, "output": {"precision": "double"},
    "machine": {"device": "cpu"},
}  # fmt: skip


def square(n):
    """Vertices [xy, j, i] of a unit square whose lines lean where they meet south and north."""
    x, y = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1))
    return np.stack([x + 0.15 * np.sin(np.pi * x) * np.sin(np.pi * y), y])


def ring(n):
    """Those between circles of radius 0.25 and 1, whose lines lean where they meet these."""
    out, around = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 2 * np.pi, 2 * n + 1))
    radius, angle = 0.25 + 0.75 * out, around + 0.3 * np.sin(np.pi * out)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)])


def ended(path, plane, names, **tables):
    """The last snapshot of a run on a chart of such vertices, by field and coordinate; and the bodies of the log."""
    x, y = plane
    vertices = np.stack(np.broadcast_arrays(x, y, np.array([0.0, 0.1])[:, None, None]))
    path.mkdir()
    write_grid(path / "grid.xyz", assembled([Part(vertices, names)]))
    go(case({**FLOW, "grid": {"file": str(path / "grid.xyz")}, **tables}), path / "run")
    chart = tree(path / "run/fields.zarr").isel(time=-1)["charts"].children["0"]
    names = ("u", "v", "x_c", "y_c", *(["T", "dye"] if "heat" in tables else []))
    return {name: chart[name].values for name in names}, read_log(path / "run/log.jsonl")[-1].get("bodies")


@pytest.mark.slow
def test_heat_and_scalars_pass_walls_as_prescribed(tmp_path):
    """T = x between insulated walls; and what is heated from below and cooled from above."""
    hot = {"type": "wall", "temperature": 1.0}
    tables = {
        "heat": {"diffusivity": 1.0},
        "scalars": [
            {"name": "dye", "diffusivity": 1.0, "boundaries": {"west": {"value": 0.0}, "east": {"value": 1.0}}},
        ],
        "boundaries": {
            "west": {"type": "wall", "temperature": 0.0}, "east": hot, "south": "wall", "north": "wall",
            "ends": "symmetry",
        },
    }  # fmt: skip
    errors = []
    for n in (8, 16):
        at, bodies = ended(tmp_path / f"{n}", square(n), SQUARE, **tables)
        errors.append(np.abs(at["T"] - at["x_c"]).max())
        np.testing.assert_allclose(at["dye"], at["T"], rtol=0, atol=1e-8)
        assert [bodies[side]["heat_flux"] for side in ("south", "north")] == pytest.approx([0, 0], abs=1e-14)
        assert bodies["west"]["heat_flux"] == pytest.approx(-bodies["east"]["heat_flux"], rel=1e-8)
    assert errors[0] < 0.006
    assert errors[1] < 0.6 * errors[0]
    flux = {"south": {"type": "wall", "heat_flux": 0.5}, "north": {"type": "wall", "heat_flux": -0.5}}
    _, bodies = ended(tmp_path / "heated", square(8), SQUARE, **{**tables, "boundaries": tables["boundaries"] | flux})
    assert [bodies[side]["heat_flux"] for side in ("south", "north")] == pytest.approx([-0.5, 0.5], rel=1e-12)


@pytest.mark.slow
def test_a_stream_slips_along_a_side(tmp_path):
    """The flow (x, -y) towards a slip side, which is potential flow, falls to it at least as the first order does."""
    enters = {"type": "inflow", "velocity": ["x", "-y", 0.0]}
    sides = {"west": "symmetry", "south": "slip", "east": enters, "north": enters, "ends": "symmetry"}
    errors = []
    for n in (8, 16):
        at, _ = ended(tmp_path / f"{n}", square(n), SQUARE, boundaries=sides)
        errors.append(np.abs(at["u"] - at["x_c"]).max())
    assert errors[0] < 0.004
    assert errors[1] < 0.6 * errors[0]


def test_the_velocity_of_a_wall_is_that_where_the_normal_meets_it(tmp_path):
    """Flow between two cylinders, of which the inner one turns: of second order where lines lean, too."""
    sides = {"inner": {"type": "wall", "velocity": ["-4*y", "4*x", 0.0]}, "outer": "wall", "ends": "symmetry"}
    errors = []
    for n in (8, 16):
        at, _ = ended(tmp_path / f"{n}", ring(n), RING, boundaries=sides)
        radius = np.hypot(at["x_c"], at["y_c"])
        around = (at["v"] * at["x_c"] - at["u"] * at["y_c"]) / radius
        errors.append(np.abs(around - 4 / 15 * (1 / radius - radius)).max())
    assert errors[1] < 0.3 * errors[0]


def test_fluid_rests_between_slip_sides(tmp_path):
    """A force presses it against them."""
    box = {"shape": "box", "cells": [8, 8, 1], "lengths": [1.0, 1.0, 0.1]}
    sides = dict.fromkeys(("x_min", "x_max", "y_min", "y_max"), "slip") | dict.fromkeys(("z_min", "z_max"), "symmetry")
    go(case({**FLOW, "grid": box, "boundaries": sides, "body": {"force": [0.3, -1.0, 0.0]}}), tmp_path / "run")
    chart = tree(tmp_path / "run/fields.zarr").isel(time=-1)["charts"].children["0"]
    assert max(float(np.abs(chart[name]).max()) for name in "uv") < 1e-8
