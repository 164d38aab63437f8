"""What passes faces, of inputs that a GPU holds in shared memory: the same, whatever a range is."""
# ruff: noqa: A002

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from taskflow.runtime.machine.kernel import Layout, compiled
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Read, Task, Write, box, star, task
from tests.runtime.machine.devices import opened

TEXT = """
#define UZ 32
#define BX 32
#define BY 8
#define NARROWEST 8
#define BUFFERS NUMBER
#include "cell.h"
#include "held.h"
using Memory = Holding<3, AXES == 3 ? 2 : 3, 3, 1>;
SHARED(Memory::bytes)

TASK balance(Range range, In q, In p, In near, In begun, InValues<3> areas, Out sum, Out second) {
  const auto steps = held_steps(range);
  const auto flow = Memory::field<0>(q), pressure = Memory::field<1>(p), beside = Memory::field<2>(near);
  const auto first = Memory::own<0>(begun);
  const auto across = Memory::values(areas);
  const auto face = CELL(f) {
    constexpr int other = (f.axis + 1) % AXES;
    const auto A = steps.template of<f.axis>(), E = steps.template of<other>();
    const real edges = flow[f - A - E] * pressure[f + A + E] + flow[f + A - E] * pressure[f - A + E];
    const real along = across(f, f.axis) * across(f, 2 - f.axis, -(f.axis == 0), -(f.axis == 1), -(f.axis == 2));
    const real above = across(f, 2, other == 0, other == 1, other == 2);
    const real flat = (f.axis + 1) * (beside[f - A] + 2 * beside[f]);
    return Values<2>{{flat + flow[f - 2 * A] * pressure[f + A] + edges, along + above}};
  };
  balance_held<2, AXES, Memory>(range, face, STORE(c, out) {
    sum[c] = first[c] + out.of[0], second[c] = out.of[1] + across(c, 1) * flow[c];
  }, all(q, p, near), all(begun), areas);
}
"""
GHOST = 2


def made(buffers: int, axes: int) -> Task:
    """The task with so many buffers of faces, whose faces lie across x, y and perhaps z."""

    @task(kernel=TEXT.replace("AXES", str(axes)).replace("NUMBER", str(buffers)))
    def balance(
        q: Read[box(GHOST)], p: Read[box(GHOST)], near: Read[star(GHOST)], begun: Read, areas: Read[star(GHOST)] * 3,
        sum: Write, second: Write,
    ) -> None:  # fmt: skip
        """Numbers of high faces less those of low ones."""

    return balance


def moved(axis: int, other: int, values: np.ndarray, along: int, across: int = 0) -> np.ndarray:
    """The values so many cells away along an axis, and along the other."""
    return np.roll(values, (-along, -across), (2 - axis, 2 - other))


def reference(q: np.ndarray, p: np.ndarray, near: np.ndarray, areas: np.ndarray, axes: int) -> np.ndarray:
    """The same by NumPy; integers."""
    results = np.zeros((2, *q.shape))
    for axis in range(axes):
        at = partial(moved, axis, (axis + 1) % axes)
        edges = at(q, -1, -1) * at(p, 1, 1) + at(q, 1, -1) * at(p, -1, 1)
        first = (axis + 1) * (at(near, -1) + 2 * near) + at(q, -2) * at(p, 1) + edges
        second = areas[axis] * at(areas[2 - axis], -1) + at(areas[2], 0, 1)
        for result, face in zip(results, (first, second), strict=True):
            result += at(face, 1) - face
    results[1] += areas[1] * q
    return results


GPU = [
    pytest.param("gpu", buffers, axes, marks=pytest.mark.gpu(emulated=True)) for axes in (3, 2) for buffers in (1, 2)
]


@pytest.mark.parametrize(("device", "buffers", "axes"), [("cpu", 2, 3), *GPU])
def test_what_leaves_cells(device, buffers, axes):
    where, operation = opened(device), made(buffers, axes)
    for cells in ((7, 5, 6), (1, 1, 1), (1, 9, 70), (2, 200, 3), (33, 6, 41), (140, 18, 35)):
        layout = Layout((-GHOST,) * 3, tuple(n + 2 * GHOST for n in cells[::-1]))
        inside, random = tuple(slice(GHOST, n - GHOST) for n in layout.shape), np.random.default_rng(1)
        q, p, near, begun, *areas = random.integers(-9, 9, (7, *layout.shape)).astype("f8")
        arrays = [where.allocate(layout.shape, "f8") for _ in range(4)]
        arrays.append(where.allocate(layout.of(3).shape, "f8"))
        for array, values in zip(arrays, (q, p, near, begun, np.stack(areas, axis=2)), strict=True):
            array[...] = where.xp.asarray(values)
        results = [where.allocate(layout.shape, "f8") for _ in range(2)]
        compiled(operation, "f8", where).bind(Box.of(cells), layout, [*arrays, *results], {}, {})()
        expected = reference(q, p, near, np.array(areas), axes)
        expected[0] += begun
        for array, exact in zip(results, expected, strict=True):
            np.testing.assert_array_equal(np.array(where.to_host(array))[inside], exact[inside], f"{cells}")
