"""
Openings: a room with a slot and a grille
=========================================

Cool air enters a warm room through a slot, and carries dust out through a grille.
"""

# %%
# `[[openings]]` are parts of sides with their own conditions. The grille is a `vent`: the pressure decides whether air
# leaves or enters there. Particles leave through openings, and rebound from walls.

import matplotlib.pyplot as plt

import taskflow as tf

case = tf.Case(
    title="Room with a slot and a grille",
    grid={"cells": [48, 1, 32], "lengths": [3.0, 0.0625, 2.0]},
    fluid={"viscosity": 0.005},
    heat={"diffusivity": 0.005, "scheme": "koren"},
    boundaries={
        "x_min": "wall", "x_max": "wall", "y": "periodic",
        "z_min": {"type": "wall", "temperature": 1.0}, "z_max": "wall",
    },
    openings=[
        {"name": "slot", "side": "x_min", "box": [[0, 0, 0.125], [0, 0.0625, 0.5]],
         "type": "inflow", "velocity": ["minimum(t, 1)", 0, 0]},
        {"name": "grille", "side": "x_max", "box": [[3, 0, 1.5], [3, 0.0625, 1.875]], "type": "vent", "loss": 2.0},
    ],
    particles=[{"name": "dust", "box": [[0.1, 0, 0.1], [2.9, 0.0625, 1.9]], "count": 300, "every": 0.5}],
    time={"end": 12.0},
    monitor={"every": {"time": 0.1}},
)  # fmt: skip
run = tf.run(case, output="runs/openings", force=True)
run.plot("T")

# %%
# The log has what passes through each opening. Both fluxes balance.

last = run.log()[-1]["openings"]
print(f"slot {last['slot']['volume_flux']:.5f}, grille {last['grille']['volume_flux']:.5f}")
print(f"warm air leaves at {last['grille']['mean_T']:.2f}")

# %%
# Paths of dust, and how much is left. Particles that have left are NaN.

dust = run.dataset("dust")
figure, (paths, left) = plt.subplots(1, 2, figsize=(10, 3.5), width_ratios=(3, 2), layout="constrained")
paths.plot(dust.x, dust.z, linewidth=0.4, color="C0")
paths.set(xlabel="x", ylabel="z", xlim=(0, 3), ylim=(0, 2), aspect="equal")
left.plot(dust.time, dust.x.notnull().sum("particle"))
left.set(xlabel="time", ylabel="particles in the room", ylim=(0, None))
