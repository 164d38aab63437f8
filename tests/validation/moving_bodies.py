"""Flows around immersed bodies that move."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taskflow.cases import Case
from tests.flows import DATA, Flow, compute

IMMERSED = {"treatment": "immersed"}
DEPTH = 0.1  # along y, the direction that the flow does not know
PERIOD = 5.0
TORQUE = 0.8377580409572781  # 4 pi viscosity B of u = A r + B / r, between r = 0.25 at the speed 0.25, and 1 at rest


def forces(flow: Flow, name: str, number: int = 1) -> np.ndarray:
    """Time, force along x and z, per depth, of a body that moves, after each step."""
    body, rows = flow.setup.bodies.driven.get(name), []
    for before, line in zip(flow.history, flow.history[1:], strict=False):
        force = np.array([line[f"forces_{number}.{n}"] + line[f"forces_{number}.{n + 3}"] for n in range(3)])
        if body is not None:
            force += body.mass.change(body.motion, before["time"], line["time"], np.zeros(3))[0]
        rows.append([line["time"], force[0] / DEPTH, force[2] / DEPTH])
    return np.array(rows)


def jumps(rows: np.ndarray, width: int = 20) -> float:
    """The root mean square of a curve less its mean over so many steps."""
    mean = np.convolve(rows, np.ones(width + 1) / (width + 1), "valid")
    return float(np.std(rows[width // 2 : width // 2 + mean.size] - mean))


def driven(cells: int, *, moves: bool, end: float = 3.0) -> Case:
    """A cylinder of diameter 1 at Re = 40, between walls 4 apart and periodic after 8, from a sudden start: it moves
    through fluid at rest, or stands still while fluid and walls move the other way.
    """
    tables = {
        "grid": {"cells": [8 * cells, 1, 4 * cells], "lengths": [8.0, DEPTH, 4.0]}, "fluid": {"viscosity": 1 / 40},
        "time": {"end": end, "step": 0.1 / cells}, "bodies": IMMERSED, "monitor": {"every": {"steps": 1}},
        "pressure": {"tolerance": 1e-6, "max_iterations": 60},
    }  # fmt: skip
    cylinder = {"type": "cylinder", "name": "cylinder", "axis": "y", "centre": [4.0137, 0, 2.0], "radius": 0.5}
    wall, initial = {"type": "wall", "velocity": [0.0 if moves else -1.0, 0, 0]}, [0.0 if moves else -1.0, 0, 0]
    if moves:
        cylinder["motion"] = {"displacement": ["t", 0, 0]}
    sides = {"x": "periodic", "y": "periodic", "z_min": wall, "z_max": wall}
    return Case(**tables, boundaries=sides, obstacles=[cylinder], initial={"velocity": initial})


def turned(cells: int, end: float = 0.5) -> Case:
    """A shaft of radius 0.25 turns in a hole of radius 1, both immersed, with so many cells across the hole."""
    width, count = 2.0 * (1 + 2 / cells), cells + 4
    walls = dict.fromkeys(("x_min", "x_max", "z_min", "z_max"), "wall")
    return Case(
        grid={"cells": [count, 1, count], "lengths": [width, DEPTH, width], "origin": [-width / 2, 0, -width / 2]},
        fluid={"viscosity": 1.0}, boundaries={**walls, "y": "periodic"}, bodies=IMMERSED,
        time={"end": end, "cfl": 0.4, "diffusion": 0.24}, pressure={"tolerance": 1e-4, "max_iterations": 60},
        monitor={"every": 0.1},
        obstacles=[
            {"type": "implicit", "name": "hole", "inside": "1.0 - x**2 - z**2"},
            {"type": "cylinder", "name": "shaft", "axis": "y", "centre": [0, 0, 0], "radius": 0.25,
             "motion": {"angle": {"y": "t"}}},
        ],
    )  # fmt: skip


def oscillating(cells: int, periods: float) -> Case:
    """A cylinder of diameter 1 oscillates in fluid at rest, Re = 100, KC = 5 (Duetsch et al. 1998), in a box of 30 x 20
    diameters, with so many cells per diameter along its way and 12 % wider ones from there on.
    """
    x, z = spread(15.0, 1.5, 1 / cells), spread(10.0, 0.75, 1 / cells)
    walls = dict.fromkeys(("x_min", "x_max", "z_min", "z_max"), "wall")
    return Case(
        grid={"cells": [len(x) - 1, 1, len(z) - 1], "lengths": [30.0, DEPTH, 20.0], "origin": [-15.0, 0, -10.0],
              "stretching": {"x": {"faces": x}, "z": {"faces": z}}},
        fluid={"viscosity": 0.01}, boundaries={**walls, "y": "periodic"}, bodies=IMMERSED,
        time={"end": PERIOD * periods, "cfl": 0.5}, pressure={"tolerance": 1e-5, "max_iterations": 100},
        monitor={"every": {"steps": 1}},
        obstacles=[{"type": "cylinder", "name": "cylinder", "axis": "y", "centre": [0, 0, 0], "radius": 0.5,
                    "motion": {"displacement": ["-5/(2*pi)*sin(2*pi*0.2*t)", 0, 0]}}],
    )  # fmt: skip


def spread(half: float, inner: float, width: float, growth: float = 1.12) -> list[float]:
    """Faces from -half to half: of one width within `inner`, wider by about `growth` each beyond."""
    count, rest = round(inner / width), half - round(inner / width) * width
    outer = int(np.ceil(np.log(1 + rest * (growth - 1) / width / growth) / np.log(growth)))
    low, high = 1.0001, 1.5
    for _ in range(80):
        ratio = (low + high) / 2
        short = width * ratio * (ratio**outer - 1) / (ratio - 1) < rest
        low, high = (ratio, high) if short else (low, ratio)
    wider = count * width + np.cumsum(width * low ** np.arange(1, outer + 1))
    away = np.concatenate([np.arange(count + 1) * width, wider])
    away[-1] = half
    return [float(face) for face in np.concatenate([-away[:0:-1], away])]


def duetsch() -> np.ndarray:
    """Phase and in-line force over density, square of the largest speed and diameter, as digitised."""
    lines = (DATA / "duetsch1998_re100_kc5_force.csv").read_text(encoding="utf-8").splitlines()
    rows: Sequence[str] = [line for line in lines if not line.startswith(("#", "t,"))]
    return np.array([[float(value) for value in row.split(",")[:2]] for row in rows])


def against_duetsch(rows: np.ndarray, period: int) -> tuple[float, float]:
    """The largest and the mean square difference over one period, over the peak."""
    phase, force = duetsch().T
    result = np.interp((phase % 1.0 + period) * PERIOD, rows[:, 0], rows[:, 1])
    difference = (result - force) / np.abs(force).max()
    return float(np.abs(difference).max()), float(np.sqrt(np.mean(difference**2)))


def crossed(cells: int, folder: Path, steps: int, **tables: Any) -> Case:
    """A hot section of NACA 0012, read from triangles, plunges, and a cold box turns, in a periodic cube with so many
    cells in each direction. Both lie across its middle, where blocks meet, and the section across a side of it.
    """
    trimesh = pytest.importorskip("trimesh")
    x = 0.5 * (1 - np.cos(np.linspace(0, np.pi, 60)))
    half = 0.6 * (0.2969 * np.sqrt(x) - 0.1260 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    outline = [(0.5 * a, side * 0.5 * b) for side in (1, -1) for a, b in zip(x, half, strict=True)]
    points = np.array([(0.27 + a, y, 0.71 + b) for a, b in outline for y in (0.23, 0.77)])
    trimesh.convex.convex_hull(points).export(folder / "section.stl")
    shape = {"type": "surface", "name": "section", "file": str(folder / "section.stl"), "temperature": 1.0}
    plunging = {"displacement": [0, 0, "0.25*sin(3*t)"]}
    box = {"type": "box", "name": "box", "low": [0.35, 0.3, 0.2], "high": [0.65, 0.6, 0.32], "temperature": -1.0}
    turning = {"angle": {"y": "2*t"}, "centre": [0.5, 0.45, 0.26]}
    return Case(**{
        "grid": {"cells": [cells] * 3, "lengths": [1.0] * 3}, "fluid": {"viscosity": 0.005},
        "boundaries": dict.fromkeys("xyz", "periodic"), "bodies": IMMERSED, "heat": {"diffusivity": 0.005},
        "initial": {"velocity": ["0.3*sin(2*pi*z)", 0, 0]}, "time": {"steps": steps, "cfl": 0.4},
        "obstacles": [{**shape, "motion": plunging}, {**box, "motion": turning}],
        "pressure": {"tolerance": 1e-11, "max_iterations": 200},
        "monitor": {"every": {"steps": 1}, "fields": [f"all_{name} = {name}" for name in "uvwT"]}, **tables,
    })  # fmt: skip


def balances(flow: Flow) -> tuple[np.ndarray, np.ndarray]:
    """Of each step and of u, v, w and T: what the bodies have given, and the change of the sum over all cells less
    that, per time, in a periodic domain. The momentum of what is stored in bodies is part of both.
    """
    volume = flow.setup.grid.volume
    gains, left = [], []
    for before, line in zip(flow.history, flow.history[1:], strict=False):
        bodies = flow.setup.model.obstacles.measured(line).values()
        sums = np.array([*-np.sum([body["force"] for body in bodies], 0), sum(body["heat_flux"] for body in bodies)])
        change = [line[f"total_all_{name}"] - before[f"total_all_{name}"] for name in "uvwT"]
        gains.append(sums)
        left.append(np.array(change) * volume / (line["time"] - before["time"]) - sums)
    return np.array(gains), np.array(left)


def torques(cells: int) -> list[float]:
    """Those on the shaft and the hole at the end, over the exact one."""
    flow = compute(turned(cells))
    result = flow.setup.model.obstacles.measured(flow.scalars)
    return [abs(result[name]["moment"][1]) / DEPTH / TORQUE for name in ("shaft", "hole")]
