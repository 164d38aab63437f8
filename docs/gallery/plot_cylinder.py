"""
The wake of a cylinder, as a film
=================================

Vortices are shed behind a cylinder, and the force across the stream tells how often.
"""

# %%
# Half as many cells per diameter as in the example `cylinder`.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation

import taskflow as tf

inflow = ["6*z*(0.41 - z)/0.41**2", 0, 0]
case = tf.Case(
    title="Cylinder in a channel, Re = 100",
    grid={"cells": [144, 1, 32], "lengths": [1.8, 0.1, 0.41]},
    fluid={"viscosity": 1e-3},
    boundaries={
        "x_min": {"type": "inflow", "velocity": inflow}, "x_max": "outflow",
        "y": "periodic", "z_min": "wall", "z_max": "wall",
    },
    obstacles=[{"name": "cylinder", "type": "cylinder", "axis": "y", "centre": [0.2, 0.0, 0.2], "radius": 0.05}],
    initial={"velocity": inflow},
    time={"end": 5.0, "scheme": "rk3", "cfl": 1.0},
    pressure={"solver": "multigrid", "tolerance": 1e-3},
    output={"every": 0.05, "fields": ["u", "w"]},
    monitor={"every": {"time": 0.01}},
)  # fmt: skip
run = tf.run(case, output="runs/cylinder", force=True)

# %%
# The vorticity of the last two time units. `taskflow plot runs/cylinder --animation` makes a film, too.

ds = run.dataset().sel(time=slice(3.5, None)).load()
u, w = ds.u.isel(y_c=0), ds.w.isel(y_c=0)
vorticity = u.interp(x_f=ds.x_c.values).differentiate("z_c").values - (
    w.interp(z_f=ds.z_c.values).differentiate("x_c").values
)
vorticity[:, ds.solid.isel(y_c=0).values > 0] = np.nan

figure, axes = plt.subplots(figsize=(7, 2.2), layout="constrained")
axes.set_facecolor("0.6")
image = axes.imshow(
    vorticity[0], origin="lower", extent=(0, 1.8, 0, 0.41), cmap="RdBu_r", vmin=-40, vmax=40, interpolation="bilinear"
)
figure.colorbar(image, label="vorticity along y", extend="both")
axes.set(xlabel="x", ylabel="z")


def draw(frame):
    """One frame."""
    image.set_data(vorticity[frame])
    axes.set_title(f"t = {float(ds.time[frame]):.2f}", loc="left", fontsize="medium")


film = FuncAnimation(figure, draw, frames=len(ds.time), interval=80)
film.save("runs/cylinder.gif", writer="pillow", fps=12)

# %%
# The lift coefficient. A pair of vortices is shed in each period; the Strouhal number is frequency times diameter
# over the mean speed. Schaefer and Turek (1996) found 0.295 to 0.305.

lines = [line for line in run.log() if line["time"] > 3]
time = np.array([line["time"] for line in lines])
lift = 2 * np.array([line["bodies"]["cylinder"]["force"][2] for line in lines]) / (0.1 * 0.1)
figure, axes = plt.subplots(figsize=(5.5, 3), layout="constrained")
axes.plot(time, lift)
axes.set(xlabel="time", ylabel="lift coefficient")
rising = np.flatnonzero((lift[:-1] < lift.mean()) & (lift[1:] >= lift.mean()))
print(f"Strouhal number {0.1 * (len(rising) - 1) / (time[rising[-1]] - time[rising[0]]):.3f}")
