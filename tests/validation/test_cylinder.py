"""Drag of a cylinder in a channel at Re = 20, against Schaefer & Turek (1996), 2D-1."""

import tomllib

import pytest

from taskflow.simulation.case import Case
from tests.flows import DATA, compute

MEAN, DIAMETER = 0.2, 0.1


def drag(cells: int) -> float:
    """Cd on a grid of so many cells per diameter."""
    parabola = ["1.2*z*(0.41-z)/0.41**2", 0, 0]
    case = Case(
        grid={"cells": [22 * cells, 1, round(4.1 * cells)], "lengths": [2.2, 1.0, 0.41]}, fluid={"viscosity": 1e-3},
        boundaries={"x_min": {"type": "inflow", "velocity": parabola}, "x_max": "outflow", "y": "periodic",
                    "z_min": "wall", "z_max": "wall"},
        initial={"velocity": parabola}, pressure={"solver": "multigrid", "tolerance": 1e-4},
        obstacles=[{"name": "cylinder", "type": "cylinder", "axis": "y", "centre": [0.2, 0.0, 0.2], "radius": 0.05}],
        time={"end": 8.0, "scheme": "rk3", "cfl": 1.2, "diffusion": 0.5}, monitor={"every": {"time": 4.0}},
    )  # fmt: skip
    flow = compute(case)
    force = flow.setup.model.obstacles.found(flow.scalars)["cylinder"]["force"][0]
    return 2 * force / (MEAN**2 * DIAMETER)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("cells", "error"), [(10, 0.012), (20, 0.008)])
def test_drag(cells, error):
    """4 % at 20 cells per diameter is what stair steps are usually good for."""
    reference = tomllib.loads((DATA / "schaefer_turek1996_2d1.toml").read_text())
    assert drag(cells) == pytest.approx(reference["Cd"], rel=error)
