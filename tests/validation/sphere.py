"""Drag and lift of a sphere against those of others.

    python -m tests.validation.sphere RUNDIR [FROM]

RUNDIR is a run of examples/sphere.toml, at Re = 100, 200 or 300, on whatever grid, finished or not. Coefficients are
8 F / (pi U^2 D^2): at the end, or of each period of the drag from the time FROM on, and their means.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

import taskflow as tf
from tests.flows import DATA


@dataclass(frozen=True)
class Coefficients:
    """Between two times: mean drag; mean lift, of both directions across the stream together, and half of what it
    swings by; how often per D / U vortices leave, NaN where none do.
    """

    start: float
    end: float
    drag: float
    lift: float
    swing: float = 0.0
    strouhal: float = np.nan

    def __str__(self) -> str:
        lift = f"Cl {self.lift:.4f} +- {self.swing:.4f}"
        return f"t = {self.start:.1f} to {self.end:.1f}: Cd {self.drag:.4f}, {lift}, St {self.strouhal:.4f}"


def forces(run: tf.Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, drag and lift of a run."""
    lines = run.log()
    force = 8 / np.pi * np.array([line["bodies"]["sphere"]["force"] for line in lines])
    return np.array([line["time"] for line in lines]), force[:, 0], np.hypot(*force[:, 1:].T)


def measured(run: tf.Run) -> Coefficients:
    """What a run ends with."""
    time, drag, lift = forces(run)
    return Coefficients(time[-1], time[-1], drag[-1], lift[-1])


def periods(run: tf.Run, since: float) -> list[Coefficients]:
    """Each whole period from a time on: from one moment at which the drag rises through its mean to the next."""
    series = forces(run)
    late = series[0] >= since
    if not late.any():
        return []
    time, drag, lift = (values[late] for values in series)
    about = drag - drag.mean()
    ups = np.flatnonzero((about[:-1] < 0) & (about[1:] >= 0))
    crossings = time[ups] - about[ups] * np.diff(time)[ups] / np.diff(about)[ups]
    return [
        Coefficients(start, end, drag[i:j].mean(), lift[i:j].mean(), np.ptp(lift[i:j]) / 2, 1 / (end - start))
        for (i, j), (start, end) in zip(pairwise(ups + 1), pairwise(crossings), strict=True)
    ]


def mean(several: Sequence[Coefficients]) -> Coefficients:
    """Of periods that follow each other."""
    *_, drag, lift, swing, _ = np.mean([astuple(item) for item in several], axis=0)
    start, end = several[0].start, several[-1].end
    return Coefficients(start, end, drag, lift, swing, len(several) / (end - start))


def known(Re: int) -> float:
    """The drag on which two sources agree, the middle of a range, or the mean of four authors."""
    values = tomllib.loads((DATA / "sphere_drag.toml").read_text(encoding="utf-8"))[f"re{Re}"]
    return float(values.get("Cd") or np.mean(values.get("Cd_range") or values["Cd_mean"]))


def main(directory: str, since: str = "inf") -> None:
    """Print the coefficients and the difference of the drag."""
    run = tf.Run.open(directory)
    several = periods(run, float(since)) if since != "inf" else []
    for item in several:
        print(item)
    result = mean(several) if several else measured(run)
    Re = round(1 / tf.Case.load(Path(directory) / "case.toml").fluid.viscosity)
    print(f"Re = {Re}, {result}; drag of others {known(Re):.3f}, difference {result.drag / known(Re) - 1:+.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
