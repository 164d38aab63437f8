"""Drag of a sphere against that of others.

    python -m tests.validation.sphere RUNDIR [FROM]

RUNDIR is a run of examples/sphere.toml, at Re = 100, 200 or 300, on whatever grid. Coefficients are 8 F / (pi U^2 D^2),
at the end, or as means from the time FROM on.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import taskflow as tf
from tests.flows import DATA


@dataclass(frozen=True)
class Coefficients:
    """Drag, lift (of both directions across the stream together), and how often per D / U the drag rises through its
    mean, NaN where it does not twice.
    """

    drag: float
    lift: float
    strouhal: float


def measured(run: tf.Run, since: float = np.inf) -> Coefficients:
    """Means of a run from a time on, or the last of it."""
    lines = run.log()
    time = np.array([line["time"] for line in lines])
    forces = 8 / np.pi * np.array([line["bodies"]["sphere"]["force"] for line in lines])
    late = time >= min(since, time[-1])
    drag, lift = forces[late, 0], np.hypot(*forces[late, 1:].T)
    about = drag - drag.mean()
    up = time[late][:-1][(about[:-1] < 0) & (about[1:] >= 0)]
    return Coefficients(drag.mean(), lift.mean(), 1 / np.diff(up).mean() if len(up) > 1 else np.nan)


def known(Re: int) -> float:
    """The drag on which two sources agree, the middle of a range, or the mean of four authors."""
    values = tomllib.loads((DATA / "sphere_drag.toml").read_text(encoding="utf-8"))[f"re{Re}"]
    return float(values.get("Cd") or np.mean(values.get("Cd_range") or values["Cd_mean"]))


def main(directory: str, since: str = "inf") -> None:
    """Print the coefficients and the difference of the drag."""
    found = measured(tf.Run.open(directory), float(since))
    Re = round(1 / tf.Case.load(Path(directory) / "case.toml").fluid.viscosity)
    shown = f"Cd {found.drag:.4f}, Cl {found.lift:.4f}, St {found.strouhal:.4f}"
    print(f"Re = {Re}: {shown}; drag of others {known(Re):.3f}, difference {found.drag / known(Re) - 1:+.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
