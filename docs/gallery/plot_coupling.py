"""
Coupling: a controller of a flow
================================

A controller holds the mean velocity of a channel by a force. It acts between steps, on the arrays of the blocks
themselves, as a learned closure or a scheme of data assimilation would.
"""

# %%
# A force of 1 drives the fluid between two walls. By itself the mean velocity would become 1/(12 viscosity) = 0.83.

import matplotlib.pyplot as plt
import numpy as np

import taskflow as tf

viscosity, wanted = 0.1, 0.5
case = tf.Case(
    title="Channel with a controller",
    grid={"cells": [8, 1, 48], "lengths": [1.0, 1.0, 1.0]},
    fluid={"viscosity": viscosity},
    boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
    body={"force": [1.0, 0.0, 0.0]},
    time={"end": 6.0, "step": 5e-4},
)

# %%
# `on_blocks` calls a function with the fields of each block where they live, on a CPU or a GPU, without a copy. What
# it returns is summed over the blocks.


def total(block):
    """Sum of the velocities."""
    return float(block["u"].sum())


def pushed(force):
    """A function that accelerates all fluid."""

    def push(block):
        velocity = block["u"]
        velocity += block.dt * force

    return push


# %%
# A callback after each tenth step measures the mean and sets the force of a proportional and integral controller.

history, integral = [], 0.0
with tf.Simulation(case, output="runs/coupling", force=True) as simulation:

    @simulation.every(steps=10)
    def control(simulation):
        """Push ten times as much, as the steps in between have no push."""
        global integral
        mean = simulation.on_blocks(total, ["u"], reduce="sum") / (8 * 48)
        integral += (wanted - mean) * 10 * 5e-4
        force = 4.0 * (wanted - mean) + 4.0 * integral
        simulation.on_blocks(pushed(10 * force), ["u"], writes=["u"])
        history.append((simulation.time, mean, 1.0 + force))

    simulation.run(until=6.0)
    state = simulation.dataset().load()

# %%
# The mean velocity comes to what is wanted, and the whole force to that of a parabola, 12 times viscosity and mean.

time, mean, force = np.array(history).T
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(time, mean, label="mean velocity")
axes.plot(time, force, label="whole force")
axes.axhline(12 * viscosity * wanted, linestyle="--", color="0.5", label="force on a parabola")
axes.set(xlabel="time")
axes.legend(frameon=False)
print(f"mean velocity {mean[-1]:.4f}, force {force[-1]:.4f}")

# %%
# `simulation.dataset()` has the fields of the state in which the simulation is.

z = state.z_c
figure, axes = plt.subplots(figsize=(4, 3.4), layout="constrained")
axes.plot(state.u.isel(x_f=0, y_c=0), z, "o", markersize=3, label="taskflow")
axes.plot(6 * wanted * z * (1 - z), z, color="black", label="parabola")
axes.set(xlabel="u", ylabel="z")
axes.legend(frameon=False)
