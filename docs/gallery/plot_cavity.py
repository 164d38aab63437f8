"""
A lid-driven cavity
===================

Flow in a box whose lid moves, to its steady state, beside the profiles of Ghia, Ghia and Shin (1982).
"""

# %%
# A case is a value: the tables and keys of a case file. The flow is two-dimensional, so `y` has one cell.

import matplotlib.pyplot as plt

import taskflow as tf
from taskflow.analysis.profiles import read_reference

case = tf.Case(
    title="Lid-driven cavity, Re = 100",
    grid={"cells": [48, 1, 48], "lengths": [1.0, 1.0, 1.0]},
    fluid={"viscosity": 0.01},
    boundaries={
        "x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall",
        "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]},
    },
    time={"end": 15.0, "steady": 1e-4},
)  # fmt: skip
case

# %%
# The run writes a directory. In a notebook it shows how it ended, with a picture of the last state.

run = tf.run(case, output="runs/cavity", force=True)
run

# %%
# `ds.flow` is there on each dataset of xarray once taskflow is imported.

last = run.dataset().isel(time=-1)
figure = last.flow.streamlines()
figure

# %%
# The velocity on the vertical centreline. Both faces beside it have their values at x = 0.5.

table = read_reference("../../examples/data/ghia1982_re100_u.csv")
u = last.u.sel(x_f=0.5, method="nearest").isel(y_c=0)
figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
axes.plot(u, u.z_c, label="taskflow, 48 x 48 cells")
axes.plot(table.values[table.used], table.places[table.used], "o", color="black", label=table.name)
axes.set(xlabel="u on the vertical centreline", ylabel="z")
axes.legend(frameon=False)
print(f"largest difference: {run.dataset().flow.compare('../../examples/data/ghia1982_re100_u.csv'):.2g}")
