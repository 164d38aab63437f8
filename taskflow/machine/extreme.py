"""Where a field of a block is largest."""

from __future__ import annotations

import numpy as np

from taskflow.machine.shard import Shard
from taskflow.regions import Triple, triple


def extreme(shard: Shard, role: str) -> tuple[Triple, float]:
    """The first cell of this block with a value that is not finite, or else that with the largest magnitude; and the
    value. Takes no more memory than a plane of cells.
    """
    shard.synchronize()
    name, device = shard.roles[role], shard.device
    box = shard.partition.homes[name].blocks[shard.block]
    view = shard.instances.view(name, box)
    with np.errstate(invalid="ignore"):
        high, low = (device.to_host(each) for each in (view.max(axis=(1, 2)), view.min(axis=(1, 2))))
        k = _largest(np.maximum(high, -low))
        plane = device.to_host(view[k])
        j, i = divmod(_largest(np.abs(plane).ravel()), plane.shape[1])
    return triple(a + lo for a, lo in zip((i, j, k), box.lo, strict=True)), float(plane[j, i])


def _largest(magnitudes: np.ndarray) -> int:
    wrong: np.ndarray = ~np.isfinite(magnitudes)
    return int((wrong if wrong.any() else magnitudes).argmax())
