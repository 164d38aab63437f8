"""
A tracer in a city
==================

Exhaust that cars leave between houses, carried by a wind with a log law over rough ground.
"""

# %%
# The example `city` on a coarse grid, four cells per house. `tf.Case.load` reads a case file, `replace` changes it.

import matplotlib.pyplot as plt
import numpy as np

import taskflow as tf

case = tf.Case.load("../../examples/city.toml").replace(**{"grid.cells": [64, 32, 16], "time.end": 20.0})
run = tf.run(case, output="runs/city", force=True)

# %%
# Wind between the houses: streamlines end at walls, and go round once in the vortices between houses.

ds = run.dataset()
last = ds.isel(time=-1)
figure = last.flow.streamlines("z=0.5")
figure

# %%
# The concentration on the same plane, of which a logarithmic scale shows more than the street with the source.

layer = last.exhaust.where(last.solid == 0).sel(z_c=0.5, method="nearest")
figure, axes = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
axes.set_facecolor("0.6")
logarithm = np.log10(layer.clip(1e-3)).drop_attrs()
logarithm.plot(ax=axes, cmap="viridis", cbar_kwargs={"label": "decimal logarithm of the concentration"})
axes.set_aspect("equal")

# %%
# Nothing is lost: the rate is 1, so the amount is the time until the first exhaust leaves at the outflow.

log = run.log()
figure, axes = plt.subplots(figsize=(5.5, 3), layout="constrained")
axes.plot([line["time"] for line in log], [line["integral_exhaust"] for line in log], label="in the domain")
axes.plot([0, 20], [0, 20], "--", color="0.5", label="emitted")
axes.set(xlabel="time", ylabel="amount")
axes.legend(frameon=False)
