"""Sweeps of debug mode: each is done twice, first in another order of those that it allows, with delays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from taskflow.errors import RunFailed
from taskflow.runtime.machine.device import Array, Call
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import Compute


def done_twice(node: Compute, usual: Call, other: Call, written: Mapping[str, tuple[Array, Triple]]) -> Call:
    """A call that does a sweep as `usual`, after the `other` order. Of each field that is `written` there are its array
    and the first cell of that. Raises RunFailed where the results differ: a point then reads one that is neither
    earlier nor later.
    """

    def call() -> None:
        before = {name: array.copy() for name, (array, _) in written.items()}
        other()
        results = {name: array.copy() for name, (array, _) in written.items()}
        for name, (array, _) in written.items():
            array[...] = before[name]
        usual()
        for name, (array, first) in written.items():
            differ = (array != results[name]) & ~(np.isnan(array) & np.isnan(results[name]))
            if differ.any():
                place = np.argwhere(differ)[0]
                cell = tuple(int(n) + low for n, low in zip((place[-1], place[1], place[0]), first, strict=True))
                raise RunFailed(
                    f"{node.launch} makes another {name!r} in the cell {cell} of block {node.block} in another order of"
                    " its points: one of them reads a neighbour there without asking earlier(c, side)"
                )

    return call
