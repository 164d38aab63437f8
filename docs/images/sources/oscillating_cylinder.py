"""The force on an oscillating cylinder, of both runs, and as digitised: python oscillating_cylinder.py RUN RUN CSV."""

import sys

import matplotlib.pyplot as plt
import numpy as np

import taskflow as tf

moving, immersed, table = sys.argv[1:]
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, body, length, label in ((moving, "body", 1.0, "moving O-grid"), (immersed, "cylinder", 0.1, "immersed")):
    lines = [line for line in tf.Run.open(name).log() if line["time"] >= 5]
    force = [line["bodies"][body]["force"][0] / length for line in lines]
    axes.plot([line["time"] / 5 - 1 for line in lines], force, label=label, lw=1)
phase, force = np.genfromtxt(table, delimiter=",", skip_header=6, usecols=(0, 1)).T
axes.plot(phase, force, "k.", ms=4, label="Dütsch et al. (1998), digitised")
axes.set(xlabel="time in periods, from the first one on", ylabel="force over density, U² D", xlim=(0, 1))
axes.legend(frameon=False)
figure.savefig("oscillating_cylinder_force.png", dpi=150)
