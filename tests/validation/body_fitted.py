"""Body-fitted cases by artificial compressibility on grids of several charts, as files have them, and their numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import taskflow as tf
from taskflow.runs.results import Run
from tests.validation.curvilinear import least

Fields = dict[str, np.ndarray]
STEP_HEIGHT = 0.5  # of a channel of height 1 behind it


def case(
    grid: dict[str, Any], viscosity: float, boundaries: dict[str, Any], *, steps: int, steady: float = 1e-8,
    device: str = "gpu", method: dict[str, Any] | None = None, **tables: Any,
) -> tf.Case:  # fmt: skip
    """A steady case on a grid by formula."""
    return tf.Case(
        title=grid["shape"], grid=grid, fluid={"viscosity": viscosity}, boundaries=boundaries,
        method={"type": "artificial-compressibility", "stall": "accept", **(method or {})},
        time={"steady": steady, "steps": steps}, machine={"device": device}, monitor={"every": {"steps": 500}},
        output={"every": {"steps": 5000}, "precision": "double"}, **tables,
    )  # fmt: skip


def solved(flow: tf.Case, folder: Path) -> Run:
    """The run of a case, whose steps may be too few for its steady state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tf.run(flow, folder, force=True)


def charts(run: Run) -> list[Fields]:
    """The last state on each chart: x_c, y_c, p, u, v, w of cells [k, j, i], x and y of vertices."""
    tree = run.dataset().isel(time=-1)
    parts = tree["charts"].children
    return [{name: np.asarray(q) for name, q in parts[f"{n}"].variables.items()} for n in range(len(parts))]


def crossing(x: np.ndarray, values: np.ndarray, rising: bool = True, last: bool = False) -> float:
    """Where a line of values passes through 0, for the first or the last time."""
    signs = values >= 0 if rising else values <= 0
    at = np.flatnonzero(~signs[:-1] & signs[1:])
    if not at.size:
        return float("nan")
    n = at[-1 if last else 0]
    return float(x[n] - values[n] * (x[n + 1] - x[n]) / (values[n + 1] - values[n]))


class Wake(NamedTuple):
    """Of a cylinder: its drag coefficient, the length of the wake in diameters, degrees from its rear to separation."""

    drag: float
    length: float
    separation: float


def cylinder(Re: float, around: int, away: int, far: float = 100.0, **options: Any) -> tf.Case:
    """A cylinder of diameter 1 in a stream of speed 1 that is fixed on a circle of this radius."""
    grid = {"shape": "o-grid", "cells": [around, away, 1], "radius": 0.5, "far": far}
    sides = {"body": "wall", "far": {"type": "far-field", "velocity": [1.0, 0.0, 0.0]}, "ends": "symmetry"}
    return case(grid, 1 / Re, sides, initial={"velocity": [1.0, 0.0, 0.0]}, **options)


def wake(run: Run) -> Wake:
    """Of the cylinder's last line in the log, and its last state. Values on the axis behind it are those of a cubic
    through four cells. Separation is where the shear stress of the scheme vanishes.
    """
    first, last = charts(run)
    x, u = (np.concatenate([last[q][0, :, -2:], first[q][0, :, :2]], 1) for q in ("x_c", "u"))
    axis = u @ np.array([-1, 9, 9, -1]) / 16
    radius = np.hypot(first["x_c"], first["y_c"])[0, :, 0]
    assert np.all(x[:, 1:3] > 0)

    body = run.dataset().isel(time=-1).flow.side("body")
    angle = np.arctan2(body["y"].values, body["x"].values)
    along = body["shear_y"].values * np.cos(angle) - body["shear_x"].values * np.sin(angle)
    order = np.argsort(angle)
    upper = order[angle[order] > 0]
    separation = crossing(np.degrees(angle[upper]), along[upper], rising=along[upper][0] < 0)
    force = run.log()[-1]["bodies"]["body"]["force"][0]
    return Wake(2 * force, crossing(radius, axis) - 0.5, separation)


def pipe(n: int, **options: Any) -> tf.Case:
    """Driven along a pipe of radius 1/2 by a force, on a butterfly of n^2 cells and four charts of n^2, one cell along
    the axis; it begins with the exact flow. Waves are slow, as there is no sound to wait for.
    """
    grid = {"shape": "pipe", "cells": [n, n, 1], "radius": 0.5, "length": 1.0, "periodic": True}
    start = {"velocity": [0.0, 0.0, "1 - 4*(x*x + y*y)"]}
    method = {"reference_speed": 0.01}
    push = {"force": [0.0, 0.0, 1.0]}
    return case(grid, 0.0625, {"wall": "wall"}, body=push, initial=start, method=method, **options)


class Through(NamedTuple):
    """The flux through the section of that pipe, over pi R^4 f / (8 viscosity), and the friction of its wall over the
    force on all that is in it.
    """

    flux: float
    friction: float


def through(run: Run) -> Through:
    """Of a pipe."""
    charted = run.dataset().flow.volumes()["charts"].children
    volumes = [np.asarray(charted[f"{n}"]["volume"]) for n in range(len(charted))]
    flux = sum(float((chart["w"] * volume).sum()) for chart, volume in zip(charts(run), volumes, strict=True))
    friction = run.log()[-1]["bodies"]["wall"]["force"][2]
    return Through(flux / (np.pi * 0.5**4 / (8 * 0.0625)), friction / sum(float(volume.sum()) for volume in volumes))


def step(high: int, along: int, upstream: float = 0.0, downstream: float = 30.0, **options: Any) -> tf.Case:
    """Behind a step of half the height of the channel, which is 1 with the mean speed 1 before the step, at Re = 800;
    so many cells over the height. What enters is a parabola, at the step or before it.
    """
    grid = {
        "shape": "step", "cells": [along, high, 1], "height": STEP_HEIGHT, "channel": 0.5, "downstream": downstream,
        "upstream": upstream, "first": 1.0 / high,
    }  # fmt: skip
    inlet = {"type": "inflow", "velocity": ["24*y*(0.5 - y)", 0.0, 0.0]}
    sides = {
        "inlet": inlet, "outlet": {"type": "outflow", "pressure": 0.0}, "lower": "wall", "upper": "wall",
        "step": "wall", "ends": "symmetry",
    }  # fmt: skip
    start = {"velocity": [f"where(y > 0, where(x < {downstream / 6}, 24*y*(0.5 - y), 0.5), 0.25)", 0.0, 0.0]}
    return case(grid, 1 / 800, sides, initial=start, **options)


class Bubbles(NamedTuple):
    """Behind a step, in heights of the channel: where the lower bubble ends, where the upper one begins and ends."""

    lower: float
    begin: float
    end: float


def channel(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Behind the step: x [i], the height over the lower wall y [j], u [j, i]."""
    low, high, far = charts(run)[:3]
    near = {name: np.concatenate([low[name][0], high[name][0]]) for name in ("x_c", "y_c", "u")}
    x, y, u = (np.concatenate([near[name], far[name][0]], 1) for name in ("x_c", "y_c", "u"))
    return x[0], y[:, 0] + STEP_HEIGHT, u


def bubbles(run: Run) -> Bubbles:
    """By the shear stresses of the scheme, that is the signs of u in the cells on both walls."""
    x, _, u = channel(run)
    return Bubbles(crossing(x, u[0], last=True), crossing(x, u[-1], rising=False), crossing(x, u[-1], last=True))


def profile_apart(run: Run, rows: Sequence[dict[str, str]], x: float) -> float:
    """The largest difference of u on a line across the channel to a table."""
    places, heights, u = channel(run)
    at = np.array([np.interp(x, places, line) for line in u])
    at, heights = np.r_[0.0, at, 0.0], np.r_[0.0, heights, 1.0]
    return max(abs(float(np.interp(float(row["y"]), heights, at)) - float(row["u"])) for row in rows)


def cavity(n: int, Re: float, degrees: float = 90.0, **options: Any) -> tf.Case:
    """Walls of length 1, of which the upper one moves along x: upright in four charts, or at an angle."""
    grid: dict[str, Any] = {"shape": "box", "cells": [n, n, 1], "lengths": [1.0, 1.0, 1.0 / n], "charts": [2, 2, 1]}
    if degrees != 90:
        grid = {"shape": "skewed-box", "cells": [n, n, 1], "lengths": [1.0, 1.0, 1.0 / n], "angle": degrees}
    walls = {"x_min": "wall", "x_max": "wall", "y_min": "wall"}
    lid = {"type": "wall", "velocity": [1.0, 0.0, 0.0]}
    return case(grid, 1 / Re, {**walls, "y_max": lid, "z_min": "symmetry", "z_max": "symmetry"}, **options)


def on_axes(run: Run) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """In an upright cavity of an even number of cells: (y, u) for x = 1/2, and (x, v) for y = 1/2."""
    rows = _rows(run)
    x, y, u, v = (np.block([[part[name][0] for part in row] for row in rows]) for name in ("x_c", "y_c", "u", "v"))
    half = len(u) // 2
    return (y[:, 0], u[:, half - 1 : half + 1].mean(axis=1)), (x[0], v[half - 1 : half + 1].mean(axis=0))


def _rows(run: Run) -> list[list[Fields]]:
    """The charts of a cavity, as they lie."""
    parts = charts(run)
    return [parts[:1]] if len(parts) == 1 else [parts[:2], parts[2:]]


def least_stream_function(run: Run) -> float:
    """Its minimum in a cavity, where it is 0 on the walls."""
    rows = _rows(run)
    u, v = (np.block([[part[name][0] for part in row] for row in rows]) for name in "uv")
    x, y = (_vertices([[part[name][0] for part in row] for row in rows]) for name in "xy")
    across = np.diff(y, axis=0)[:, 1:-1] * (u[:, 1:] + u[:, :-1]) - np.diff(x, axis=0)[:, 1:-1] * (v[:, 1:] + v[:, :-1])
    psi = np.zeros(x.shape)
    psi[1:, 1:-1] = np.cumsum(across / 2, axis=0)
    return least(psi)


def _vertices(rows: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """Vertices [j, i] of rows of charts, without those of the seams a second time."""
    wide = [np.concatenate([row[0], *(part[:, 1:] for part in row[1:])], 1) for row in rows]
    return np.concatenate([wide[0], *(part[1:] for part in wide[1:])])


def rotating(n: int, **options: Any) -> tf.Case:
    """A cylinder of radius 1/4 that turns at 1 in one of radius 1 at rest; n cells between them, 2n around in four
    charts, and the viscosity 0.02.
    """
    grid = {"shape": "annulus", "cells": [n, 2 * n, 1], "radii": [0.25, 1.0], "charts": 4}
    centre = {"moment_about": [0.0, 0.0, 0.5]}
    inner = {"type": "wall", "velocity": ["-y", "x", 0.0], **centre}
    sides = {"inner": inner, "outer": {"type": "wall", **centre}, "ends": "symmetry"}
    return case(grid, 0.02, sides, **options)


def torques(run: Run) -> tuple[float, float]:
    """On both of them, over the exact one, 4 pi viscosity / 15."""
    bodies = run.log()[-1]["bodies"]
    exact = 4 * np.pi * 0.02 / 15
    return -bodies["inner"]["moment"][2] / exact, bodies["outer"]["moment"][2] / exact


def swirl_error(run: Run) -> float:
    """The root mean square of the error of that velocity, over the volume."""
    squares = weights = 0.0
    for chart in charts(run):
        square = chart["x_c"] ** 2 + chart["y_c"] ** 2
        swirl = (1 / square - 1) / 15
        apart = (chart["u"] + swirl * chart["y_c"]) ** 2 + (chart["v"] - swirl * chart["x_c"]) ** 2
        squares, weights = squares + float((apart * square**0.5).sum()), weights + float((square**0.5).sum())
    return (squares / weights) ** 0.5


HALF_ANGLE = np.radians(5.0)


def jeffery_hamel(along: int, across: int, **options: Any) -> tf.Case:
    """Between walls at 5 degrees to both sides of x, from r = 1 to 2 with u r = f on the axis, and the exact velocity
    on both arcs; a r u_max / viscosity = 50.
    """
    grid = {"shape": "sector", "cells": [along, across, 1], "radii": [1.0, 2.0], "angle": 10.0}
    f, square = _similar(), "(x*x + y*y)"
    exact = {"type": "inflow", "velocity": [f"({f})*x/{square}", f"({f})*y/{square}", 0.0]}
    sides = {"inner": exact, "outer": exact, "wall_low": "wall", "wall_high": "wall", "ends": "symmetry"}
    return case(grid, HALF_ANGLE / 50, sides, initial={"velocity": [f"x/{square}", f"y/{square}", 0.0]}, **options)


def similarity(eta: np.ndarray, stages: int = 2000) -> np.ndarray:
    """f of f''' + 2 a Re f f' + 4 a^2 f' = 0 with f(0) = 1, f'(0) = 0, f''(0) = -3.5394156, by Runge-Kutta steps."""
    h, state, values = 1 / stages, np.array([1.0, 0.0, -3.5394156]), [1.0]

    def slope(q: np.ndarray) -> np.ndarray:
        return np.array([q[1], q[2], -(100 * HALF_ANGLE * q[0] + 4 * HALF_ANGLE**2) * q[1]])

    for _ in range(stages):
        a = slope(state)
        b = slope(state + h / 2 * a)
        c = slope(state + h / 2 * b)
        state = state + h / 6 * (a + 2 * b + 2 * c + slope(state + h * c))
        values.append(state[0])
    return np.interp(abs(eta), np.linspace(0, 1, stages + 1), values)


def _similar() -> str:
    """f as an expression: a polynomial in (y / x)^2."""
    eta = np.linspace(0, 1, 2001)
    terms = np.polynomial.polynomial.polyfit((np.tan(HALF_ANGLE * eta) / np.tan(HALF_ANGLE)) ** 2, similarity(eta), 8)
    variable = f"((y/x)**2/{float(np.tan(HALF_ANGLE)) ** 2!r})"
    text = f"{float(terms[-1])!r}"
    for term in terms[-2::-1]:
        text = f"({text})*{variable} + ({float(term)!r})"
    return text


def similarity_apart(run: Run) -> tuple[float, float]:
    """The largest difference of r u_r to f, in all cells, and in those beside the axis."""
    (chart,) = charts(run)
    x, y, u, v = (chart[name][0] for name in ("x_c", "y_c", "u", "v"))
    apart = x * u + y * v - similarity(np.arctan2(y, x) / HALF_ANGLE)
    return float(abs(apart).max()), float(abs(apart[apart.shape[0] // 2]).max())
