"""
A turbulent channel and its statistics
======================================

Large eddies between two walls, averaged over time and over planes along the walls, beside the direct simulation of
Moser, Kim and Mansour (1999) at the same friction Reynolds number.
"""

# %%
# The force 1 fixes the friction at the walls, so velocities are in units of the friction velocity. The grid has 32
# cells in each direction: coarse for this flow.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import taskflow as tf

distance = "180*(1 - abs(z - 1))"
case = tf.Case(
    title="Turbulent channel, Re_tau = 180",
    grid={"cells": [32, 32, 32], "lengths": [6.283185307179586, 3.141592653589793, 2.0]},
    fluid={"viscosity": 1 / 180},
    turbulence={"model": "wale"},
    boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
    body={"force": [1.0, 0.0, 0.0]},
    initial={
        "velocity": [f"minimum({distance}, 2.5*log(maximum({distance}, 1)) + 5.5)", 0, 0],
        "noise": {"rms": 2.0, "wavenumber": 4.0},
    },
    time={"end": 10.0, "scheme": "rk3", "cfl": 1.2, "diffusion": 0.4},
    statistics={"start": 4.0, "fields": ["u", "v", "w"]},
    output={"every": 5.0},
)
run = tf.run(case, output="runs/channel", force=True)

# %%
# Streaks: slow and fast fluid beside a wall.

near = run.dataset().isel(time=-1).u.sel(z_c=0.1, method="nearest")
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
near.drop_attrs().plot(ax=axes)
axes.set_aspect("equal")

# %%
# Means of `run.statistics()` over planes, with the reference.

profiles = run.statistics().isel(time=-1).flow.profiles("z")
lines = Path("../../tests/data/moser_kim_mansour1999_retau180.csv").read_text().splitlines()
names, *rows = (line.split(",") for line in lines if line and not line.startswith("#"))
moser = {name: np.array([float(row[n]) for row in rows]) for n, name in enumerate(names)}
half = profiles.sel(z_c=slice(0.0, 1.0))
plus = 180 * half.z_c

figure, (mean, rms) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
mean.semilogx(plus, half.mean_u, "o-", label="taskflow, 32 x 32 x 32")
mean.semilogx(moser["y_plus"][1:], moser["U_plus"][1:], color="black", label="Moser, Kim and Mansour")
mean.set(xlabel="distance from the wall in wall units", ylabel="mean of u")
mean.legend(frameon=False)
for name, theirs in (("u", "u_rms"), ("v", "w_rms"), ("w", "v_rms")):  # their y is across the walls
    rms.plot(plus, np.sqrt(half[f"cov_{name}_{name}"]), "o-", label=f"{name}, taskflow")
    rms.plot(moser["y_plus"], moser[theirs], color="black")
rms.set(xlabel="distance from the wall in wall units", ylabel="root mean square of fluctuations")
rms.legend(frameon=False)
