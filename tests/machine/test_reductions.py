"""Several numbers that a launch reduces at once: each is that of all cells, whatever launch came before."""

import numpy as np
import pytest

from taskflow.machine.device import cpu, gpu
from taskflow.machine.kernel import Layout, compiled
from taskflow.regions import Box
from taskflow.tasks import Read, Reduce, task

TEXT = """
#define UZ 8
#include "cell.h"

// total = sum of q, twice = of 2 q, squares = of q^2
TASK sums(Range range, In q, Partial total, Partial twice, Partial squares) {
  sum_cells(range, {total, twice, squares}, CELL(c) { return Sums<3>{{q[c], 2 * q[c], q[c] * q[c]}}; });
}
"""


@task(kernel=TEXT)
def sums(q: Read, *, total: Reduce[sum], twice: Reduce[sum], squares: Reduce[sum]) -> None: ...


@pytest.fixture(params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest):
    return gpu() if request.param == "gpu" else cpu(2)


@pytest.mark.parametrize("real", ["f4", "f8"])
def test_several_sums_are_folded_at_once(real, device):
    for cells in [(33, 5, 37), (8, 1, 3), (150, 90, 20), (1, 1, 1)]:
        layout = Layout((0, 0, 0), cells[::-1])
        values = np.arange(np.prod(cells), dtype=real).reshape(cells[::-1]) % 101  # sums are exact
        total = values.sum(dtype="f8")
        wanted = {"total": total, "twice": 2 * total, "squares": (values**2).sum(dtype="f8")}
        q = device.allocate(layout.shape, real)
        q[...] = device.xp.asarray(values)
        found = {name: device.allocate((1,), "f8") for name in ("total", "twice", "squares")}
        call = compiled(sums, real, device).bind(Box.of(cells), layout, [q], {}, {}, found)
        for _ in range(2):
            call()
            assert {name: float(each[0]) for name, each in found.items()} == wanted
