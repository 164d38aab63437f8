"""A cylinder in a channel on five body-fitted charts, after Schaefer & Turek (1996), marched implicitly."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import taskflow as tf
from taskflow.geometry.grids import MultiBlockGrid, write_grid
from taskflow.geometry.grids.generators import spacing
from taskflow.geometry.grids.multiblock.assembly import Part, assembled
from taskflow.runs.results import Run
from tests.validation.body_fitted import solved
from tests.validation.cylinder import DIAMETER, HEIGHT, LENGTH, reference

CENTRE = np.array([0.2, 0.2])
BOX = 0.4  # where the four charts around the cylinder end, and that behind them begins
FIRST = 0.25  # width of the cells at the cylinder, over what equal ones would have


class Coefficients(NamedTuple):
    """Of a cylinder: drag, lift, and the pressure at its front less that at its rear."""

    drag: float
    lift: float
    pressure: float


def channel(n: int) -> MultiBlockGrid:
    """n cells along each quarter of the cylinder and n outwards, and 2n x n in the rest of the channel.

    Lines around the cylinder are circles near it and become the walls, the inlet and a line across: with a from 0 to 1
    they are inner + a (ring - inner) + a^2 (outer - ring), of points at equal angles on the cylinder and on a circle
    about it, and equally spaced ones on the straight lines.
    """
    corners = np.array([(BOX, HEIGHT), (0.0, HEIGHT), (0.0, 0.0), (BOX, 0.0)])
    away = spacing.with_first(spacing.one_end, n, FIRST / n)[:, None]
    share, parts = spacing.equal(n), []
    for quarter, outside in enumerate(("", "walls", "inlet", "walls")):  # to the east, north, west and south
        begin, end = corners[quarter - 1] - CENTRE, corners[quarter] - CENTRE
        outer = begin[:, None] + share * (end - begin)[:, None]
        first, last = (np.arctan2(corner[1], corner[0]) for corner in (begin, end))
        angle = first + share * ((last - first) % (2 * np.pi))
        inner, ring = (radius * np.array([np.cos(angle), np.sin(angle)]) for radius in (DIAMETER / 2, CENTRE[0]))
        lines = zip(CENTRE, inner, ring, outer, strict=True)
        x, y = (c + q + away * (r - q) + away**2 * (p - r) for c, q, r, p in lines)
        parts.append(_part(x[:, ::-1], y[:, ::-1], {"j_min": "cylinder", "j_max": outside}))
    east = parts[0].vertices[:2, 0]
    width = (BOX - east[0, -2, n // 2]) / (LENGTH - BOX)
    along = BOX + (LENGTH - BOX) * spacing.with_first(spacing.geometric, 2 * n, width)
    names = {"i_max": "outlet", "j_min": "walls", "j_max": "walls"}
    parts.append(_part(*np.broadcast_arrays(along, east[1, -1, ::-1, None]), names))
    return assembled(parts)


def _part(x: np.ndarray, y: np.ndarray, names: dict[str, str]) -> Part:
    """A chart of one cell across, of length 1."""
    z = np.array([0.0, 1.0])[:, None, None]
    return Part(np.stack(np.broadcast_arrays(x, y, z)), {**names, "k_min": "ends", "k_max": "ends"})


def case(name: str, grid: Path, time: dict[str, object], **machine: object) -> tf.Case:
    """A case, steady or pulse, marched implicitly."""
    known = reference(name)
    inflow = f"4*{known['Um']}*y*({HEIGHT} - y)/{HEIGHT}**2"
    start = inflow if name == "steady" else 0.0
    return tf.Case(
        title=f"cylinder in a channel, {name}", grid={"file": str(grid)}, fluid={"viscosity": 1e-3}, time=time,
        method={"type": "artificial-compressibility", "march": "implicit", "reference_speed": known["Um"]},
        boundaries={
            "inlet": {"type": "inflow", "velocity": [f"{inflow} * {known.get('factor', 1)}", 0.0, 0.0]},
            "outlet": {"type": "outflow", "pressure": 0.0}, "walls": "wall", "cylinder": "wall", "ends": "symmetry",
        },
        initial={"velocity": [start, 0.0, 0.0]}, machine=machine, monitor={"every": {"steps": 1}},
        output={"every": time.get("end", {"steps": 1000}), "precision": "double"},
    )  # fmt: skip


def forces(run: Run, name: str) -> np.ndarray:
    """Time, drag and lift coefficients [line, 3] of a log."""
    scale = 2 / ((2 * reference(name)["Um"] / 3) ** 2 * DIAMETER)
    lines = [line for line in run.log() if "bodies" in line]
    return np.array([(line["time"], *(scale * q for q in line["bodies"]["cylinder"]["force"][:2])) for line in lines])


def pressure_difference(run: Run) -> float:
    """p(0.15, 0.2) - p(0.25, 0.2) in the last state, on the cylinder, between the faces on both sides of each point."""
    body = run.dataset().isel(time=-1).flow.side("cylinder")
    angle = np.arctan2(body["y"].values - CENTRE[1], body["x"].values - CENTRE[0])
    rear, front = (body["p_face"].values[np.argsort(q)] for q in (abs(angle), np.pi - abs(angle)))
    return float(front[:2].mean() - rear[:2].mean())


def steady(n: int, folder: Path, **machine: object) -> Coefficients:
    """2D-1 on a grid."""
    write_grid(folder / "grid.xyz", channel(n))
    run = solved(case("steady", folder / "grid.xyz", {"steady": 1e-8, "steps": 300}, **machine), folder / "run")
    assert run.report["ended"] == "steady"
    _, drag, lift = forces(run, "steady")[-1]
    return Coefficients(drag, lift, pressure_difference(run))
