"""
The Taylor-Green vortex and its spectrum
========================================

Large vortices break up into small ones, and the spectrum of kinetic energy fills from its left end.
"""

# %%
# The box is periodic, so the pressure equation is solved directly, by Fourier transforms.

import matplotlib.pyplot as plt

import taskflow as tf

case = tf.Case(
    title="Taylor-Green vortex, Re = 200",
    grid={"cells": [48, 48, 48], "lengths": [6.283185307179586] * 3},
    fluid={"viscosity": 0.005},
    boundaries={"x": "periodic", "y": "periodic", "z": "periodic"},
    initial={"velocity": ["sin(x)*cos(y)*cos(z)", "-cos(x)*sin(y)*cos(z)", 0]},
    time={"end": 9.0, "cfl": 0.5},
    output={"every": 3.0},
    monitor={"every": {"steps": 5}},
)
run = tf.run(case, output="runs/taylor_green", force=True)

# %%
# The energy spectrum E(k) of each snapshot.

ds = run.dataset()
figure, axes = plt.subplots(figsize=(5.5, 4), layout="constrained")
for time in ds.time.values[1:]:
    spectrum = ds.sel(time=time).flow.energy_spectrum()
    axes.loglog(spectrum.k, spectrum, marker=".", label=f"t = {time:g}")
axes.set(xlabel="wavenumber k", ylabel="E(k)", ylim=(1e-8, 1.0))
axes.legend(frameon=False)

# %%
# Vortices, where the second invariant Q of the velocity gradient is positive, on the plane z = 1.

q = ds.isel(time=-1).flow.q_criterion().sel(z_c=1.0, method="nearest")
figure, axes = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
q.drop_attrs().plot(ax=axes)
axes.set_aspect("equal")

# %%
# The log has the kinetic energy over time; its decay is the dissipation.

log = run.log()
figure, axes = plt.subplots(figsize=(5.5, 3), layout="constrained")
axes.plot([line["time"] for line in log], [line["kinetic_energy"] for line in log])
axes.set(xlabel="time", ylabel="mean kinetic energy", ylim=(0, None))
