"""Steady flow over a backward-facing step, after Armaly et al. (1983) and Erturk (2008).

x from the step, z from the floor behind it, in step heights; the mean speed in the narrow channel is 1. The step is a
box whose faces lie between cells, so it is exact on the grid.
"""

from __future__ import annotations

import numpy as np

from taskflow.simulation.case import Case
from tests.flows import Flow

UPSTREAM = 4


def step(cells: int, Re: float, length: int, *, ratio: float = 2.0, steady: float = 1e-4) -> Case:
    """A grid of so many cells per step height across and half as many along, as far as `length` behind the step.

    Re = mean speed x 2 inlet heights / viscosity; ratio = height behind the step over that before it.
    """
    inlet = 1 / (ratio - 1)
    height = 1 + inlet
    developed = [f"where(z > 1, 6*(z - 1)*({height} - z)/{inlet}**2, 0)", 0, 0]
    return Case(
        grid={"cells": [(UPSTREAM + length) * cells // 2, 1, round(height * cells)], "origin": [-UPSTREAM, 0, 0],
              "lengths": [UPSTREAM + length, 1.0, height]},
        fluid={"viscosity": 2 * inlet / Re},
        boundaries={"x_min": {"type": "inflow", "velocity": developed}, "x_max": "outflow", "y": "periodic",
                    "z_min": "wall", "z_max": "wall"},
        obstacles=[{"type": "box", "low": [0.25 - UPSTREAM, -1, -1], "high": [0, 2, 1]}],
        initial={"velocity": developed},
        time={"end": 1000.0, "steady": steady, "scheme": "rk3", "cfl": 1.2, "diffusion": 0.4},
        pressure={"solver": "multigrid", "tolerance": 1e-4},
    )  # fmt: skip


def reattachment(flow: Flow) -> float:
    """Where the friction on the floor changes from backward to forward, in step heights from the step.

    The slope at the wall is that of the parabola through u = 0 there and the two cells next to it.
    """
    x = flow.points("u")[0].ravel()
    slope = 9 * flow["u"][0, 0] - flow["u"][1, 0]
    last = int(np.flatnonzero((slope < 0) & (x > 0))[-1])
    return float(x[last] - slope[last] * (x[last + 1] - x[last]) / (slope[last + 1] - slope[last]))
