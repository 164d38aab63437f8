"""Heated cavities at Pr = 7 (2010: figures 5 and 6; 2013: figures 2 and 3), compared with a spectral solution."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

import taskflow as tf
from taskflow.bench.tables import Result
from taskflow.bench.timing import about
from taskflow.common.units import times
from taskflow.runtime.host import choose_device, look
from taskflow.terminal.format import say, table

HERE = Path(__file__).parent
RAYLEIGH = ("140", "1e5", "2e5")
COARSEST = 32
FIELDS = "u", "v", "w", "p", "T"


def measure_heated(
    names: tuple[str, ...], cells: tuple[int, int, int] | None, settings: Sequence[str], requested: str, directory: Path
) -> Result:
    """Compute a row per Rayleigh number: Nusselt numbers of both walls and T on the centreline of the steady state.

    Runs are written to `directory`/heated_RA. Raises the errors of `taskflow.run`.
    """
    here = look("this machine")
    device = choose_device(requested, [here])
    described, rows = about(here, device, here.cores), []
    for name in names:
        case = tf.Case.load(HERE / f"heated_{name}.toml", settings).replace(**{"machine.device": device})
        if cells is not None:
            case = case.replace(**{"grid.cells": list(cells), "grid.lengths": [1.0, cells[1] / cells[0], 1.0]})
        run = _run(case, directory / f"heated_{name}")
        rows.append({"rayleigh": name, "cells": list(case.grid.cells), **_steady(run, name)})
    return {**described, "precision": "double", "results": rows}


def _run(case: tf.Case, directory: Path) -> tf.Run:
    """Compute the steady state on fewer cells first, unless the case has an initial state: on half the cells, a
    quarter and so on, down to about `COARSEST` along x. Each grid begins from the coarser ones. Explicit steps are four
    times as long on half the cells.
    """
    cases = [case]
    while case.initial.source is None and min(cases[0].grid.cells[::2]) >= 2 * COARSEST:
        cases.insert(0, case.replace(**{"grid.cells": [max(1, count // 2) for count in cases[0].grid.cells]}))
    states: list[xr.Dataset] = []
    for one in cases:
        start = extrapolated(*states[-2:]) if len(states) > 1 else states[-1] if states else one.initial.source
        where = directory if one is case else directory.with_name(f"{directory.name}_{one.grid.cells[0]}")
        run = tf.run(one.replace(**{"initial.source": start}), where, force=True)
        states.append(last_snapshot(run))
    return run


def extrapolated(quarter: xr.Dataset, half: xr.Dataset) -> xr.Dataset:
    """Return the state on twice the cells of `half` along x and z, from this and that on half of its own cells.

    Its errors of second order are a quarter of those of `half`, as theirs are a quarter of those of `quarter`.
    """
    faces = {f"{axis}_f": np.linspace(0.0, 1.0, 2 * half.sizes[f"{axis}_c"] + 1) for axis in "xz"}
    finer = faces | {f"{name[0]}_c": (at[1:] + at[:-1]) / 2 for name, at in faces.items()}
    fine, coarse = half[list(FIELDS)].astype(float), quarter[list(FIELDS)].isel(y_c=0, y_f=0, drop=True).astype(float)
    for name, at in finer.items():  # one after the other: splines along several axes are solved for iteratively
        cubic: dict[str, Any] = {"method": "cubic", "kwargs": {"fill_value": "extrapolate"}}
        fine, coarse = (state.interp({name: at}, **cubic) for state in (fine, coarse))
    return fine + (fine - coarse) / 4


def reference(name: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the Nusselt number of the spectral solution, and places and values of T on z = 1/2."""
    lines = (HERE / "heated_reference.csv").read_text(encoding="utf-8").splitlines()
    rows = [row for row in csv.DictReader(line for line in lines if line[0] != "#") if row["rayleigh"] == name]
    (nusselt,) = (float(row["value"]) for row in rows if row["quantity"] == "nusselt")
    points = [(float(row["x"]), float(row["value"])) for row in rows if row["quantity"] == "temperature"]
    return nusselt, *np.array(points).T


def _steady(run: tf.Run, name: str) -> dict[str, Any]:
    """Return the numbers of a run, with the deviations from the spectral solution."""
    last = run.log()[-1]
    nusselt, x, expected = reference(name)
    found = last_snapshot(run)["T"].isel(y_c=0).interp(z_c=0.5).interp(x_c=x, method="cubic").values
    hot, cold = last["nusselt_x_min"], -last["nusselt_x_max"]
    return {
        "ended": run.report["ended"], "steps": last["step"], "directory": str(run.directory),
        "nusselt_hot": hot, "nusselt_cold": cold, "nusselt_reference": nusselt, "deviation": hot / nusselt - 1,
        "x": list(x), "temperature": [float(value) for value in found], "temperature_reference": list(expected),
        "temperature_deviation": float(np.abs(found - expected).max()),
    }  # fmt: skip


def last_snapshot(run: tf.Run) -> xr.Dataset:
    """Return the state at the end of a run."""
    return run.dataset().isel(time=-1).load()


def show_heated(result: Result) -> None:
    """Print the result of `measure_heated`."""
    say("Heated cavities at Pr = 7", [("deviation", "from 40^2 Chebyshev polynomials; of T at five points")])
    table(
        ("cells", "Nu, hot", "Nu, cold", "reference", "deviation", "of T"),
        ((f"Ra = {row['rayleigh']}", (times(row["cells"]), *_columns(row))) for row in result["results"]),
    )


def _columns(row: Result) -> tuple[str, ...]:
    numbers = (f"{row[name]:.5f}" for name in ("nusselt_hot", "nusselt_cold", "nusselt_reference"))
    return *numbers, f"{row['deviation']:+.3%}", f"{row['temperature_deviation']:.1e}"


def draw_heated(result: Result, out: Path) -> Path:
    """Draw streamlines, isotherms and the centreline temperature, a row of panels per Rayleigh number."""
    rows = result["results"]
    figure = Figure(figsize=(11, 3.6 * len(rows)), layout="constrained")
    for row, (streams, isotherms, line) in zip(rows, figure.subplots(len(rows), 3, squeeze=False), strict=True):
        ds = last_snapshot(tf.Run.open(row["directory"])).isel(y_c=0)
        fluxes = ds.u.values * np.diff(ds.z_f)[:, None]
        stream = np.vstack([np.zeros(ds.x_f.size), np.cumsum(fluxes, axis=0)])
        levels = np.linspace(0.95, 0.05, 13) * stream.min()
        streams.contour(ds.x_f, ds.z_f, stream, levels, colors="C0", linewidths=1, linestyles="solid")
        isotherms.contour(ds.x_c, ds.z_c, ds["T"], np.linspace(0.05, 0.95, 19), cmap="coolwarm", linewidths=1)
        line.plot(ds.x_c, ds["T"].interp(z_c=0.5), label=f"taskflow, {times(row['cells'])} cells")
        line.plot(row["x"], row["temperature_reference"], "ko", fillstyle="none", label="Chebyshev polynomials")
        line.set(xlabel="x", ylabel="T at z = 1/2")
        line.legend()
        for axes, words in ((streams, "streamlines"), (isotherms, "isotherms")):
            axes.set(title=f"Ra = {row['rayleigh']}, Pr = 7: {words}", xlabel="x", ylabel="z", aspect="equal")
    figure.savefig(out, dpi=120)
    return out
