"""Air between a hot and a cold wall, built in Python, and its Nusselt numbers found with xarray.

    python examples/heated_cavity_in_python.py [FOLDER]

Nusselt numbers of three steady states on 32 x 32 cells, beside those of de Vahl Davis (1983), and a picture.
"""

import sys
from pathlib import Path

import xarray as xr
from matplotlib.figure import Figure

import taskflow as tf

DE_VAHL_DAVIS = {1e3: 1.118, 1e4: 2.243, 1e5: 4.519}
PRANDTL, CELLS = 0.71, 32


def case(rayleigh: float) -> tf.Case:
    """The heated cavity in units of its side, of the diffusivity and of the temperature difference."""
    return tf.Case(
        title=f"Heated cavity, Ra = {rayleigh:g}",
        grid={"cells": [CELLS, 1, CELLS], "lengths": [1, 1, 1]},
        fluid={"viscosity": PRANDTL},
        heat={"diffusivity": 1.0, "expansion": rayleigh * PRANDTL, "reference": 0.5},
        body={"gravity": [0, 0, -1]},
        boundaries={
            "x_min": {"type": "wall", "temperature": 1.0}, "x_max": {"type": "wall", "temperature": 0.0},
            "y": "periodic", "z_min": "wall", "z_max": "wall",
        },
        initial={"temperature": lambda x, y, z: 1.0 - x},  # that of a fluid at rest
        time={"end": 2.0, "steady": 1e-4},
        monitor={"every": {"steps": 100}},
        output={"precision": "double"},
    )  # fmt: skip


def nusselt(last: xr.Dataset) -> xr.DataArray:
    """Heat that passes each plane between cells, u T - dT/dx averaged over z: the same everywhere in a steady state."""
    T, u = (last[name].squeeze("y_c", drop=True) for name in ("T", "u"))
    faces = u["x_f"][1:-1]
    on_faces = xr.Dataset({"T": T.rolling(x_c=2).mean()[:, 1:], "slope": T.diff("x_c") * CELLS})
    there = on_faces.rename(x_c="x_f").assign_coords(x_f=faces)
    return (u * there["T"] - there["slope"]).mean("z_c")


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "runs")
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    print(f"{'Ra':>8}{'time':>8}{'Nu':>9}{'de Vahl Davis':>15}{'error':>9}{'spread over x':>16}")
    for axes, (Ra, reference) in zip(figure.subplots(1, 3), DE_VAHL_DAVIS.items(), strict=True):
        last = tf.run(case(Ra), folder / f"heated_{Ra:g}", force=True).dataset().isel(time=-1).load()
        Nu = nusselt(last)
        mean, spread = float(Nu.mean()), float(Nu.max() - Nu.min())
        print(f"{Ra:8g}{float(last['time']):8.3f}{mean:9.4f}{reference:15.3f}{mean / reference - 1:9.2%}{spread:16.1e}")
        last["T"].isel(y_c=0).plot.contourf(ax=axes, levels=11, cmap="RdBu_r")
        axes.set(title=f"Ra = {Ra:g}, Nu = {mean:.3f}", aspect="equal")
    figure.savefig(folder / "heated_cavity.png", dpi=120)
    print("temperatures", folder / "heated_cavity.png")
