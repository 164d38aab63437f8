"""
Two phases: a column of water collapses
=======================================

The dam break of Martin and Moyce (1952), in two dimensions.
"""

# %%
# `[two_phase]` has the properties of water and air. `initial` is positive where the water is.

import matplotlib.pyplot as plt

import taskflow as tf

width = 0.05715
case = tf.Case(
    title="Dam break",
    grid={"cells": [64, 1, 40], "lengths": [4 * width, width / 16, 2.5 * width]},
    two_phase={
        "density": [998.0, 1.2], "viscosity": [1.0e-3, 1.8e-5], "surface_tension": 0.0728,
        "initial": f"minimum({width} - x, {2 * width} - z)",
    },
    body={"gravity": [0.0, 0.0, -9.81]},
    boundaries={"x_min": "slip", "x_max": "slip", "y": "periodic", "z_min": "slip", "z_max": "slip"},
    time={"end": 0.2},
    output={"every": 0.05},
    monitor={"every": {"steps": 5}},
    units={"length": "m", "time": "s"},
)  # fmt: skip
run = tf.run(case, output="runs/two_phases", force=True)
run.plot()

# %%
# The share of water, `f`, at four times.

run.dataset().f.isel(time=slice(1, None), y_c=0).plot(col="time", col_wrap=2, cmap="Blues", aspect=1.6, size=2.2)

# %%
# The energy of motion rises while the column falls. The volume of the water is kept.

log = run.series()
print(f"relative change of the volume: {float(abs(log.volume_change).max()):.1e}")
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(log.time, log.kinetic_energy)
axes.set(xlabel="time [s]", ylabel="kinetic energy")
