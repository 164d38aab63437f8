"""
A body-fitted grid: a wing section at two angles
================================================

The NACA 0012 at Re = 1000 on a C-grid, marched to its steady state.
"""

# %%
# Artificial compressibility marches velocity and pressure together. `shape` makes the grid. The grid is coarse.

import matplotlib.pyplot as plt

import taskflow as tf

case = tf.Case.load(
    "../../examples/naca0012.toml", ["grid.cells=[96,24,1]", "time.steady=1e-3", "monitor.every={steps=20}"]
)
case

# %%
# A sweep over the angle of attack. A function gives the keys that follow from a value.

from math import cos, radians, sin  # noqa: E402


def stream(alpha):
    """The far field at an angle in degrees."""
    way = [cos(radians(alpha)), sin(radians(alpha)), 0.0]
    return {"boundaries.far.velocity": way, "initial.velocity": way}


polar = tf.sweep(case, {"alpha": ([0.0, 6.0], stream)}, output="runs/wing", force=True)
polar

# %%
# Vorticity by `ds.flow`, a name that all pictures know.

polar.runs[1].plot("vorticity_z", window=(-0.5, 2.0, -0.6, 0.6), range=(-20, 20))

# %%
# Drag and lift are along and across the stream.

for alpha, run in zip(polar.parameters["alpha"], polar.runs, strict=True):
    along = {"velocity": 1.0, "length": 1.0, "direction": stream(alpha)["initial.velocity"]}
    forces = run.forces("body", along).isel(time=-1)
    print(f"{alpha:g} degrees: drag {float(forces.drag):.3f}, lift {float(forces.lift):.3f}")

# %%
# How the residual of the continuity equation decays on the way.

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for alpha, run in zip(polar.parameters["alpha"], polar.runs, strict=True):
    axes.semilogy(run.series().residual_continuity, label=f"{alpha:g} degrees")
axes.set(xlabel="line of the log", ylabel="residual")
axes.legend(frameon=False)
