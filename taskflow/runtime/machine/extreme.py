"""Where a field of a block is largest."""

from __future__ import annotations

import numpy as np

from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.regions import Triple, triple


def extreme(shard: Shard, role: str) -> tuple[Triple, float]:
    """The first cell of this block with a value that is not finite, or else that with the largest magnitude; and the
    value. Takes no more memory than a plane of cells.
    """
    shard.synchronize()
    name, device = shard.roles[role], shard.device
    box = shard.partition.homes[name].blocks[shard.block]
    view = shard.instances.view(name, box)
    rows = tuple(range(1, view.ndim))
    with np.errstate(invalid="ignore"):
        high, low = (device.to_host(each) for each in (view.max(axis=rows), view.min(axis=rows)))
        k = _largest(np.maximum(high, -low))
        plane = device.to_host(view[k])
        place = np.unravel_index(_largest(np.abs(plane).ravel()), plane.shape)
    cell = int(place[-1]), int(place[0]), k
    return triple(a + lo for a, lo in zip(cell, box.lo, strict=True)), float(plane[place])


def _largest(magnitudes: np.ndarray) -> int:
    wrong: np.ndarray = ~np.isfinite(magnitudes)
    return int((wrong if wrong.any() else magnitudes).argmax())
