"""The flow of Ethier and Steinman on charts that are turned."""

from __future__ import annotations

from typing import Any

import numpy as np

import taskflow as tf
from taskflow.runs.results import Run
from tests.validation.body_fitted import case, charts
from tests.validation.curvilinear import Errors, EthierSteinman


def ethier_steinman(n: int, charts: tuple[int, int, int] = (2, 2, 2), turned: bool = True, **options: Any) -> tf.Case:
    """The steady form of the flow of C. R. Ethier and D. A. Steinman (1994), kept by a force, with exact velocities on
    all sides of a distorted box of n^3 cells from -1/2 to 1/2.
    """
    a, d, viscosity = "pi/4", "pi/2", 0.1

    def part(x: str, y: str, z: str) -> str:
        return f"-{a}*(exp({a}*{x})*sin({a}*{y} + {d}*{z}) + exp({a}*{z})*cos({a}*{x} + {d}*{y}))"

    velocity = [part("x", "y", "z"), part("y", "z", "x"), part("z", "x", "y")]
    grid = {
        "shape": "box", "cells": [n, n, n], "lengths": [1.0, 1.0, 1.0], "origin": [-0.5, -0.5, -0.5],
        "charts": list(charts), "distortion": 0.1, "turned": turned,
    }  # fmt: skip
    sides = {f"{axis}_{end}": {"type": "inflow", "velocity": velocity} for axis in "xyz" for end in ("min", "max")}
    force = {"force": [f"{viscosity}*({d})**2*({u})" for u in velocity]}
    return case(grid, viscosity, sides, body=force, initial={"velocity": velocity}, **options)


def ethier_steinman_errors(run: Run) -> Errors:
    """Of its last state."""
    charted = run.dataset().flow.volumes()["charts"].children
    volumes = np.concatenate([np.asarray(charted[f"{n}"]["volume"]).ravel() for n in range(len(charted))])
    names = ("x_c", "y_c", "z_c", "u", "v", "w", "p")
    x, y, z, *velocity, p = (np.concatenate([chart[name].ravel() for chart in charts(run)]) for name in names)
    exact = EthierSteinman.velocity(x, y, z)
    apart = p - EthierSteinman.pressure(x, y, z)
    squares = sum((u - q) ** 2 for u, q in zip(velocity, exact, strict=True))
    level = np.average(apart, weights=volumes)
    return Errors(*(float(np.sqrt(np.average(q, weights=volumes))) for q in (squares, (apart - level) ** 2)))
