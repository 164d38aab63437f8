"""
Convection between a hot and a cold wall
========================================

Rolls of Rayleigh-Benard convection, and the heat that they carry.
"""

# %%
# In units of the height, the thermal diffusivity and the difference of temperature.

import matplotlib.pyplot as plt

import taskflow as tf

case = tf.Case(
    title="Rayleigh-Benard convection, Ra = 1e5, Pr = 0.71",
    grid={"cells": [96, 1, 32], "lengths": [4.0, 1.0, 1.0]},
    fluid={"viscosity": 0.71},
    heat={"diffusivity": 1.0, "expansion": 7.1e4, "reference": 0.5},
    body={"gravity": [0.0, 0.0, -1.0]},
    boundaries={
        "x": "periodic", "y": "periodic",
        "z_min": {"type": "wall", "temperature": 1.0}, "z_max": {"type": "wall", "temperature": 0.0},
    },
    initial={"temperature": "1 - z", "noise": {"rms": 1.0, "wavenumber": 3.14, "seed": 1}},
    time={"end": 0.4},
    output={"every": 0.02},
)  # fmt: skip
run = tf.run(case, output="runs/convection", force=True)
run

# %%
# Temperature on the plane, at four times.

ds = run.dataset()
T = ds["T"].isel(y_c=0).sel(time=[0.04, 0.08, 0.16, 0.4], method="nearest")
T.drop_attrs().plot(col="time", col_wrap=2, cmap="RdYlBu_r", figsize=(9, 4))

# %%
# The Nusselt number of both walls: heat flux over that of conduction, along the axis of z or against it. Both are the
# same once the flow is steady.

figure, axes = plt.subplots(figsize=(5.5, 3), layout="constrained")
for face, words in (("z_min", "hot wall"), ("z_max", "cold wall")):
    abs(ds.flow.nusselt(face).mean(["x_c", "y_c"])).plot(ax=axes, label=words)
axes.set(xlabel="time", ylabel="Nusselt number", title="")
axes.legend(frameon=False)
