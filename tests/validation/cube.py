"""The flow around a cube on the floor of a channel against the profiles of Martinuzzi & Tropea (1993).

    python -m tests.validation.cube RUNDIR [PICTURE]

RUNDIR is a run of cases/cube.toml: mean velocities on the plane of symmetry, in the mean of the profile at x = -3.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from tests.flows import DATA
from tests.validation.cavity import table

STATIONS = (-1.0, 0.5, 1.0, 1.5, 2.0, 2.5, 4.0, 8.0)


@dataclass(frozen=True, eq=False)
class Station:
    """Mean velocity along x on a vertical line at x: measured, and computed at the same heights."""

    x: float
    z: np.ndarray
    measured: np.ndarray
    computed: np.ndarray

    @property
    def difference(self) -> float:
        """Root mean square, relative to the largest velocity measured on the line."""
        return float(np.sqrt(np.mean((self.computed - self.measured) ** 2)) / np.abs(self.measured).max())

    @property
    def signs(self) -> float:
        """The part of the points at which both flow the same way, of those where the measured speed exceeds 0.05."""
        clear = np.abs(self.measured) > 0.05
        return float(np.mean(np.sign(self.computed[clear]) == np.sign(self.measured[clear])))


def stations(directory: Path) -> Iterator[Station]:
    """Those of the table but that of the inflow."""
    rows = table(DATA / "martinuzzi1993_cube_u_profiles.csv")
    mean = xr.open_zarr(directory / "fields.zarr", group="statistics")["mean_u"].isel(time=-1)
    plane = mean.interp(y_c=0.0).load()
    for x in STATIONS:
        here = [row for row in rows if float(row["x_over_H"]) == x]
        z, measured = (np.array([float(row[name]) for row in here]) for name in ("y_over_H", "U_over_Uref"))
        line = plane.interp(x_c=x)
        heights, speeds = np.r_[0, line["z_c"], 2], np.r_[0, line.values, 0]
        yield Station(x, z, measured, np.interp(z, heights, speeds))


def reattachment(directory: Path) -> float:
    """Where the mean flow on the floor behind the cube turns forward, in heights from the rear face."""
    mean = xr.open_zarr(directory / "fields.zarr", group="statistics")["mean_u"].isel(time=-1, z_c=0)
    floor = mean.interp(y_c=0.0).load()
    behind = floor["x_c"].values > 1
    back = floor["x_c"].values[behind & (floor.values < 0)]
    return float(back[-1] - 1)


def main(directory: Path, picture: Path) -> None:
    """Print how far the lines are apart, and draw them."""
    from matplotlib.figure import Figure

    lines = list(stations(directory))
    for line in lines:
        print(f"x = {line.x:4.1f}: difference {line.difference:6.1%} of the largest, same sign {line.signs:6.1%}")
    print(f"the floor is reached again at {reattachment(directory):.2f} behind the cube")
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    for axes, line in zip(figure.subplots(1, len(lines), sharey=True), lines, strict=True):
        axes.plot(line.measured, line.z, "k.", line.computed, line.z, "-")
        axes.set(title=f"x = {line.x:g}", xlabel="u")
    figure.savefig(picture, dpi=90)
    print("picture", picture)


if __name__ == "__main__":
    run = Path(sys.argv[1])
    main(run, Path(sys.argv[2]) if len(sys.argv) > 2 else run / "profiles.png")
