"""The experiment of Armaly et al. (1983) with its side walls, at Re = 389.7: a step of 4.9 mm behind an inlet of
5.2 mm, 180 mm wide.

    python -m tests.validation.armaly 32 armaly.toml

writes the case with 32 cells per step height;

    python -m tests.validation.armaly RUNDIR

tells of a run of it, snapshot by snapshot, where the flow comes back to the floor.
"""

from __future__ import annotations

import sys
from pathlib import Path

import xarray as xr

import taskflow as tf
from tests.flows import DATA
from tests.validation.backward_step import reattachment, step
from tests.validation.cavity import table

RATIO = 1 + 4.9 / 5.2
WIDTH = 180 / 4.9


def measured() -> tuple[float, float]:
    """Re and reattachment of the point that is due within 5 %."""
    row = next(row for row in table(DATA / "armaly1983_backward_step.csv") if row["Re"] == "389.6823")
    return float(row["Re"]), float(row["x_r"])


def case(cells: int, width: float | None = WIDTH) -> tf.Case:
    """The experiment, or without a width the same in two dimensions."""
    return step(cells, measured()[0], 20, ratio=RATIO, width=width, steady=1e-5)


def computed(directory: Path) -> xr.DataArray:
    """Reattachment by time and by distance from the middle, of what a run has written."""
    u = xr.open_zarr(directory / "fields.zarr")["u"].isel(z_c=slice(2))[1:].load().dropna("time", how="all")
    return xr.apply_ufunc(
        lambda plane: reattachment(u["x_f"].values, plane), u, input_core_dims=[["z_c", "x_f"]], vectorize=True
    )


def main(first: str, path: str = "") -> None:
    """Write a case, or read a run."""
    if path:
        Path(path).write_text(case(int(first)).to_toml(), encoding="utf-8")
        return
    expected = measured()[1]
    for result in computed(Path(first)):
        middle, places = float(result[0]), result.sel(y_c=[5, 10, 15], method="nearest").values.round(3)
        print(f"t = {float(result['time']):.1f}: {middle:.4f} in the middle, {middle / expected - 1:+.1%}"
              f" of {expected}; {places} at y = 5, 10, 15")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
