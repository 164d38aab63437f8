"""The flows that steps are timed in, three-dimensional and in motion: a lid-driven cavity and Taylor-Green vortices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from taskflow.regions import Triple
from taskflow.simulation.case import Case

REYNOLDS = {"cavity": 1000.0, "taylor-green": 1600.0}
FACES = ("x_min", "x_max", "y_min", "y_max", "z_min")


@dataclass(frozen=True)
class Pressure:
    """The solver of the pressure equation in the words of a case file, as far as they are given."""

    solver: str = "jacobi"
    iterations: int | None = None
    tolerance: float | None = None

    @property
    def table(self) -> dict[str, Any]:
        """The table [pressure] of a case file."""
        given = {"solver": self.solver, "iterations": self.iterations, "tolerance": self.tolerance}
        return {name: value for name, value in given.items() if value is not None}

    def __str__(self) -> str:
        if self.tolerance is not None:
            return f"{self.solver} to {self.tolerance:g}"
        return self.solver if self.iterations is None else f"{self.iterations} {self.solver} iterations"


def case_of(name: str, cells: Triple, precision: str, pressure: Pressure, channel: str = "auto") -> Case:
    """The case "cavity" or "taylor-green" with cubic cells. Raises BadInput where the solver cannot be had so."""
    tables = _cavity(cells) if name == "cavity" else _taylor_green(cells)
    return Case(
        title=name,
        fluid={"viscosity": 1.0 / REYNOLDS[name]},
        time={"steps": 1},
        pressure=pressure.table,
        machine={"precision": precision, "channel": channel},
        **tables,
    )


def _cavity(cells: Triple) -> dict[str, Any]:
    """A lid at z_max that moves along x with speed 1, over an eddy that turns as it drives; the longest side is 1.

    The eddy, of speed 1/2, has no divergence and is at rest on the walls: no field is zero, even in the first step.
    """
    x, y, z = (n / max(cells) for n in cells)
    across = f"sin(pi*y/{y!r})"
    u = f"-0.5*sin(pi*x/{x!r})**2*sin(2*pi*z/{z!r})*{across}"
    w = f"{0.5 * z / x!r}*sin(2*pi*x/{x!r})*sin(pi*z/{z!r})**2*{across}"
    lid = {"type": "wall", "velocity": [1.0, 0.0, 0.0]}
    return {
        "grid": {"cells": list(cells), "lengths": [x, y, z]},
        "boundaries": {**dict.fromkeys(FACES, "wall"), "z_max": lid},
        "initial": {"velocity": [u, 0.0, w]},
    }


def _taylor_green(cells: Triple) -> dict[str, Any]:
    """u = sin x cos y cos z, v = -cos x sin y cos z, periodic; the longest side is 2 pi, others hold whole cells of the
    same size and the vortices in them.
    """
    lengths = [2 * math.pi * n / max(cells) for n in cells]
    x, y, z = (f"({max(cells) / n!r}*{axis})" for n, axis in zip(cells, "xyz", strict=True))
    scale = cells[1] / cells[0]  # of v, for a velocity without divergence
    velocity = [f"sin{x}*cos{y}*cos{z}", f"-{scale!r}*cos{x}*sin{y}*cos{z}", 0.0]
    return {
        "grid": {"cells": list(cells), "lengths": lengths},
        "boundaries": dict.fromkeys("xyz", "periodic"),
        "initial": {"velocity": velocity},
    }
