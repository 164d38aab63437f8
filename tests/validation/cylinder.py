"""A cylinder in a channel, after Schaefer & Turek (1996): 2D-1 (steady), 2D-2 (vortex street), 2D-3 (a pulse)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import numpy as np

from taskflow.cases import Case
from taskflow.runtime.machine.device import Device
from tests.flows import DATA, Flow, compute

LENGTH, HEIGHT, DIAMETER = 2.2, 0.41, 0.1


def reference(name: str) -> dict:
    """The table of a case: steady, street or pulse."""
    return tomllib.loads((DATA / "schaefer_turek1996.toml").read_text(encoding="utf-8"))[name]


def cylinder(name: str, cells: int, end: float = 8.0, treatment: str = "flagged") -> Case:
    """A case on a grid of so many cells per diameter; the parabola of the inflow is that of the first state as well."""
    known = reference(name)
    parabola = f"4*{known['Um']}*z*({HEIGHT} - z)/{HEIGHT}**2"
    inflow = f"{parabola} * {known['factor']}" if "factor" in known else parabola
    return Case(
        grid={"cells": [22 * cells, 1, round(4.1 * cells)], "lengths": [LENGTH, DIAMETER, HEIGHT]},
        fluid={"viscosity": 1e-3},
        boundaries={"x_min": {"type": "inflow", "velocity": [inflow, 0, 0]}, "x_max": "outflow", "y": "periodic",
                    "z_min": "wall", "z_max": "wall"},
        initial={"velocity": [0 if "factor" in known else parabola, 0, 0]},
        obstacles=[{"name": "cylinder", "type": "cylinder", "axis": "y", "centre": [0.2, 0.0, 0.2], "radius": 0.05}],
        bodies={"treatment": treatment},
        time={"end": end, "scheme": "rk3", "cfl": 1.2, "diffusion": 0.4},
        pressure={"solver": "multigrid", "tolerance": 1e-4},
        monitor={"every": {"time": 0.01}},
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Forces:
    """Drag and lift coefficients over time."""

    time: np.ndarray
    drag: np.ndarray
    lift: np.ndarray

    @classmethod
    def of(cls, flow: Flow, Um: float) -> Forces:
        """From the log; Um is the largest speed of the inflow."""
        result = (flow.setup.model.obstacles.measured(line)["cylinder"]["force"] for line in flow.history)
        forces = 2 * np.array(list(result)) / ((2 * Um / 3) ** 2 * DIAMETER**2)  # a cylinder as long as its diameter
        return cls(np.array([line["time"] for line in flow.history]), forces[:, 0], forces[:, 2])

    def since(self, time: float) -> Forces:
        """Without what comes before."""
        late = self.time >= time
        return Forces(self.time[late], self.drag[late], self.lift[late])

    @property
    def frequency(self) -> float:
        """How often the lift rises through its mean, per time, between the first such moment and the last."""
        about = self.lift - self.lift.mean()
        up = np.flatnonzero((about[:-1] < 0) & (about[1:] >= 0))
        share = about[up] / (about[up] - about[up + 1])
        moments = self.time[up] + share * (self.time[up + 1] - self.time[up])
        return float((len(moments) - 1) / (moments[-1] - moments[0]))


def pressure_difference(flow: Flow) -> float:
    """p(0.15, 0.2) - p(0.25, 0.2), the foremost and the rearmost point, by lines through the two cells beside each."""
    x, z = flow.points("p")[0].ravel(), flow.points("p")[2].ravel()
    rows = np.searchsorted(z, 0.2) + np.array([-1, 0])
    before, behind = np.searchsorted(x, 0.15), np.searchsorted(x, 0.25)
    p = flow["p"][rows, 0].mean(axis=0)
    return float((3 * p[before - 1] - p[before - 2]) / 2 - (3 * p[behind] - p[behind + 1]) / 2)


def computed(
    name: str, cells: int, end: float = 8.0, device: Device | None = None, treatment: str = "flagged"
) -> tuple[Flow, Forces]:
    """The flow at the end, and the forces on the way."""
    flow = compute(cylinder(name, cells, end, treatment), device=device)
    return flow, Forces.of(flow, reference(name)["Um"])
