"""
Control: a cylinder that turns
==============================

A controller turns a cylinder at Re = 100 as its lift demands, and halves its drag.
"""

# %%
# The angle of the cylinder is a function of time in the case, `"0*t"`, so that it can be set during the run.

import matplotlib.pyplot as plt
import numpy as np

import taskflow as tf

centre = [0.0, 0.0, 0.05]  # not quite in the middle, so that vortices begin
case = tf.Case(
    title="Cylinder that turns, Re = 100",
    grid={"cells": [128, 1, 64], "lengths": [16.0, 0.1, 8.0], "origin": [-4.0, 0.0, -4.0]},
    fluid={"viscosity": 0.01},
    boundaries={
        "x_min": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]},
        "x_max": "outflow",
        "y": "periodic",
        "z_min": "slip",
        "z_max": "slip",
    },
    obstacles=[{
        "name": "cylinder", "type": "cylinder", "axis": "y", "centre": centre, "radius": 0.5,
        "motion": {"angle": {"y": "0*t"}, "centre": centre},
    }],
    bodies={"treatment": "immersed"},
    initial={"velocity": [1.0, 0.0, 0.0]},
    time={"end": 70.0},
    pressure={"solver": "multigrid", "tolerance": 1e-3},
    monitor={"every": {"steps": 2}},
)  # fmt: skip

# %%
# From time 45 on, the rate of rotation is twice the lift coefficient, at most 4. Every sixth step the controller reads
# the lift in the log and sets the angle, which continues from its present value.

begins, angle, rate, since, rates = 45.0, 0.0, 0.0, 0.0, []
with tf.Simulation(case, output="runs/control", force=True) as simulation:

    @simulation.every(steps=6)
    def control(simulation):
        """Turn as the lift demands."""
        global angle, rate, since
        now = simulation.time
        if now >= begins:
            lift = simulation.log()[-1]["bodies"]["cylinder"]["force"][2] / 0.05
            angle, since = angle + rate * (now - since), now
            rate = min(max(2.0 * lift, -4.0), 4.0)
            simulation.set("obstacles[1].motion.angle", f"{angle!r} + {rate!r}*(t - {now!r})")
        rates.append((now, rate))

    simulation.run()

# %%
# Without control the drag coefficient is 1.68, more than in an open domain, because the sides are near. The feedback is
# positive: the first vortices spin the cylinder up, until it turns steadily at the largest rate. That halves the drag
# and reduces the oscillation of the lift by two thirds, but makes a mean lift of -6, the Magnus effect.

forces = tf.Run.open("runs/control").forces("cylinder", {"velocity": 1.0, "length": 1.0})
before, after = forces.sel(time=slice(35, begins)), forces.sel(time=slice(60, 70))
print(f"drag {float(before.drag.mean()):.2f} -> {float(after.drag.mean()):.2f}")
print(f"lift rms {float(before.lift.std()):.2f} -> {float(after.lift.std()):.2f}")

figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
above.plot(forces.time[1:], forces.drag[1:], label="drag")
above.plot(forces.time[1:], forces.lift[1:], label="lift")
above.axvline(begins, color="0.5", linestyle=":")
above.set(ylabel="coefficient", ylim=(-8.0, 3.0))
above.legend(frameon=False)
below.plot(*np.transpose(rates))
below.set(xlabel="time", ylabel="rate of rotation")

# %%
# The wake at the end.

tf.Run.open("runs/control").plot()

# %%
# `taskflow.gym.rotating_cylinder()` is the same task as an environment of
# [Gymnasium](https://gymnasium.farama.org), for controllers that learn.
