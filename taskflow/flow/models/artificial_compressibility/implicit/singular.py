"""The error where a block of the factors is singular."""

from __future__ import annotations

import math
from collections.abc import Mapping

from taskflow.errors import RunFailed
from taskflow.flow.models.artificial_compressibility.implicit.factor import ROW
from taskflow.runtime.regions import Box


def refuse_singular(charts: tuple[Box, ...], scalars: Mapping[str, float]) -> dict[str, float]:
    """The scalar `sound`, 1. Raises RunFailed where the scalar `cell` of `unsound` is one."""
    number = scalars["cell"]
    if math.isinf(number):
        return {"sound": 1.0}
    rest, i = divmod(int(number), ROW)
    k, j = divmod(rest, ROW)
    chart = next(
        n for n, box in enumerate(charts) if all(a <= c < b for a, c, b in zip(box.lo, (i, j, k), box.hi, strict=True))
    )
    first = charts[chart].lo
    cell = i - first[0] + 1, j - first[1] + 1, k - first[2] + 1
    raise RunFailed(
        f"the block of cell {cell} of chart {chart + 1} cannot be inverted: its pivots are further apart than 1e12, or"
        " not finite; give a lower method.cfl.most, or march explicitly"
    )
