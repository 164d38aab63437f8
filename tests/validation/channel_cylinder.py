"""A cylinder in a channel on body-fitted cells, after Schaefer & Turek (1996): five charts, and what is known of them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import taskflow as tf
from taskflow.geometry.grids import spacing, write_grid
from taskflow.geometry.grids.assembled import Part, assembled
from taskflow.simulation.run import Run
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


def write(path: Path, n: int) -> None:
    """A grid of n cells along each quarter of the cylinder and n outwards, and 2n x n in the rest of the channel.

    Lines around the cylinder are circles near it and become the walls, the inlet and a line across: with a from 0 to 1
    they are inner + a (ring - inner) + a^2 (outer - ring), of points at equal angles on the cylinder and on a circle
    about it, and equally spaced ones on the straight lines.
    """
    low, high = np.array([0.0, 0.0]), np.array([BOX, HEIGHT])
    corners = [high, (low[0], high[1]), low, (high[0], low[1])]
    away = spacing.with_first(spacing.one_end, n, FIRST / n)[:, None]
    share, parts = spacing.equal(n), []
    for side, (begin, end) in zip(("i", "n", "w", "s"), _quarters(np.array(corners)), strict=True):
        outer = begin[:, None] + share * (end - begin)[:, None]
        angles = [np.arctan2(*(corner - CENTRE)[::-1]) for corner in (begin, end)]
        angle = angles[0] + share * ((angles[1] - angles[0]) % (2 * np.pi))
        round_ = np.array([np.cos(angle), np.sin(angle)])
        inner, ring = (CENTRE[:, None] + radius * round_ for radius in (DIAMETER / 2, CENTRE[0]))
        points = [q + away * (r - q) + away**2 * (p - r) for p, q, r in zip(outer, inner, ring, strict=True)]
        names = {"j_min": "cylinder", "j_max": {"w": "inlet"}.get(side, "walls")}
        parts.append(_part(points[0][:, ::-1], points[1][:, ::-1], names))
    width = BOX - parts[0].vertices[0, 0, -2, n // 2]
    along = BOX + (LENGTH - BOX) * spacing.with_first(spacing.geometric, 2 * n, width / (LENGTH - BOX))
    across = parts[0].vertices[1, 0, -1, ::-1]
    names = {"i_max": "outlet", "j_min": "walls", "j_max": "walls"}
    parts.append(_part(*np.broadcast_arrays(along, across[:, None]), names))
    write_grid(path, assembled(parts))


def _quarters(corners: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The straight lines to the east, north, west and south, from corner to corner, counterclockwise."""
    return [(corners[n - 1], corners[n]) for n in range(4)]


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
            "inlet": {"type": "inflow", "velocity": [f"{inflow} * {known['factor']}" if "factor" in known else inflow, 0, 0]},
            "outlet": {"type": "outflow", "pressure": 0.0}, "walls": "wall", "cylinder": "wall", "ends": "symmetry",
        },
        initial={"velocity": [start, 0.0, 0.0]}, machine=machine, monitor={"every": {"steps": 1}},
        output={"every": time["end"] if "end" in time else {"steps": 1000}, "precision": "double"},
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
    write(folder / "grid.xyz", n)
    run = solved(case("steady", folder / "grid.xyz", {"steady": 1e-8, "steps": 300}, **machine), folder / "run")
    assert run.report["ended"] == "steady"
    _, drag, lift = forces(run, "steady")[-1]
    return Coefficients(drag, lift, pressure_difference(run))
