"""
A sweep: onset of convection
============================

A layer that is heated from below conducts heat until the Rayleigh number passes 1708. One call runs the same case
with several Rayleigh numbers, side by side.
"""

# %%
# With the diffusivity 1 and the Prandtl number 1, the Rayleigh number is the expansion. The box is as long as two rolls
# at the onset, 2.016 times the height.

import matplotlib.pyplot as plt

import taskflow as tf

case = tf.Case(
    title="Onset of convection",
    grid={"cells": [24, 1, 16], "lengths": [2.016, 1.0, 1.0]},
    fluid={"viscosity": 1.0},
    heat={"diffusivity": 1.0, "expansion": 1000.0, "reference": 0.5},
    body={"gravity": [0.0, 0.0, -1.0]},
    boundaries={
        "x": "periodic", "y": "periodic",
        "z_min": {"type": "wall", "temperature": 1.0}, "z_max": {"type": "wall", "temperature": 0.0},
    },
    initial={"temperature": "1 - z + 0.1*cos(2*pi*x/2.016)*sin(pi*z)"},
    time={"end": 4.0, "cfl": 0.5},
    output={"every": 4.0},
    monitor={"every": {"steps": 1000}},
    checkpoint={"keep": 0},
)  # fmt: skip
rayleigh = [1000.0, 1500.0, 2000.0, 2500.0, 3500.0, 5000.0]
study = tf.sweep(case, {"heat.expansion": rayleigh}, output="runs/sweep", force=True)

# %%
# One dataset has the parameter as a dimension.

ds = study.dataset()
T = ds["T"].isel(time=-1, y_c=0)
T.drop_attrs().plot(col="heat.expansion", col_wrap=3, cmap="RdYlBu_r", figsize=(9, 6))

# %%
# The Nusselt number, 1 where heat is conducted, rises from the critical Rayleigh number on.

nusselt = study.dataset(measure=lambda run: float(run.dataset().isel(time=-1).flow.nusselt("z_min").mean()))
figure, axes = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
axes.plot(rayleigh, nusselt, "o-")
axes.axvline(1708, linestyle="--", color="0.5")
axes.set(xlabel="Rayleigh number", ylabel="Nusselt number")
