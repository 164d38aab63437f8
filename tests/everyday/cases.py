"""A small slab, a box with a moving lid, and the last snapshot of a run."""

from __future__ import annotations

import xarray as xr

import taskflow as tf

PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}
CHANNEL = {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"}
SLAB = """
[grid]
cells = [8, 8, 8]
lengths = [1.0, 1.0, 1.0]
[fluid]
viscosity = 0.01
[boundaries]
x = "periodic"
y = "periodic"
z_min = "wall"
z_max = "slip"
[time]
steps = 3
"""
LID = """
[grid]
cells = [8, 1, 8]
lengths = [1.0, 0.125, 1.0]
[fluid]
viscosity = 0.02
[boundaries]
x = "periodic"
y = "periodic"
z_min = "wall"
z_max = {{ type = "wall", velocity = [{lid}, 0, 0] }}
[time]
end = {end}
step = 0.05
[machine]
threads = 1
{more}
"""


def last(result: tf.Run) -> xr.Dataset:
    """The last snapshot, in memory."""
    return result.dataset().isel(time=-1).load()
