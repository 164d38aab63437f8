"""Steady flow over a backward-facing step, after Armaly et al. (1983) and Erturk (2008).

x from the step, y from the middle between side walls, z from the floor behind it, in step heights; the mean speed in
the narrow channel is 1, far from side walls. The step is a box whose faces lie between cells, so it is exact on the
grid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taskflow.cases import Case

UPSTREAM = 4


def step(
    cells: int, Re: float, length: int, *, ratio: float = 2.0, width: float | None = None, steady: float = 1e-4
) -> Case:
    """A grid of so many cells per step height across and half as many along, as far as `length` behind the step.

    Re = mean speed x 2 inlet heights / viscosity; ratio = height behind the step over that before it. Two-dimensional
    without a `width`, the distance of side walls; with it one half of the flow, on cells that are narrow at the wall.
    """
    inlet = 1 / (ratio - 1)
    height, half = 1 + inlet, width / 2 if width else 1.0
    profile = f"6*(z - 1)*({height} - z)/{inlet}**2"
    grid: dict[str, Any] = {
        "cells": [(UPSTREAM + length) * cells // 2, 3 * cells if width else 1, round(height * cells)],
        "origin": [-UPSTREAM, 0, 0], "lengths": [UPSTREAM + length, half, height],
    }  # fmt: skip
    sides = {"y": "periodic"}
    if width:
        profile += beside_a_wall(inlet, half)
        grid["stretching"] = {"y": {"geometric": 1 + 0.64 / cells, "toward": "max"}}
        sides = {"y_min": "symmetry", "y_max": "wall"}
    developed = [f"where(z > 1, {profile}, 0)", 0, 0]
    return Case(
        grid=grid,
        fluid={"viscosity": 2 * inlet / Re},
        boundaries={"x_min": {"type": "inflow", "velocity": developed}, "x_max": "outflow", **sides,
                    "z_min": "wall", "z_max": "wall"},
        obstacles=[{"type": "box", "low": [0.25 - UPSTREAM, -1, -1], "high": [0, half + 1, 1]}],
        initial={"velocity": developed},
        time={"end": 1000.0, "steady": steady, "scheme": "rk3", "cfl": 1.2, "diffusion": 0.4},
        pressure={"solver": "multigrid", "tolerance": 1e-4},
    )  # fmt: skip


def beside_a_wall(inlet: float, half: float) -> str:
    """What the wall at y = half takes from the parabola 6 s (1 - s), s = (z - 1)/inlet: the sum over odd k of
    -48/(k pi)^3 sin(k pi s) exp(-k pi (half - y)/inlet). It holds where the other wall is many inlet heights away.
    """
    terms = (
        f" - {48 / (k * np.pi) ** 3}*sin({k * np.pi / inlet}*(z - 1))*exp({k * np.pi / inlet}*(y - {half}))"
        for k in range(1, 12, 2)
    )
    return "".join(terms)


def reattachment(x: np.ndarray, u: np.ndarray) -> float:
    """Where the friction on the floor changes from backward to forward, in step heights from the step, by u[z, x] on a
    plane along the flow.

    The slope at the wall is that of the parabola through u = 0 there and the two cells next to it.
    """
    slope = 9 * u[0] - u[1]
    last = int(np.flatnonzero((slope < 0) & (x > 0))[-1])
    return float(x[last] - slope[last] * (x[last + 1] - x[last]) / (slope[last + 1] - slope[last]))
