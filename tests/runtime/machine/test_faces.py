"""What passes faces: found once, taken by the cells on both sides, whatever a range is and wherever it is cut."""
# ruff: noqa: E501, A002

from __future__ import annotations

import numpy as np
import pytest

from taskflow.runtime.machine.kernel import Layout, compiled
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Read, Write, star, task
from tests.runtime.machine.devices import DEVICES, opened

TEXT = """
#define UZ 32
#define BX 32
#define BY 4
#include "cell.h"
#include "faces.h"

template <class F>
FN real mark(const F& f) {  // of faces at ends of the range
  if constexpr (F::within) return 0;
  return f.end ? 1000 : 0;
}

TASK balance(Range range, In q, Out sum, Out plane) {
  STRIDES(range)
  const auto face = CELL(f) {
    const Index A = step<f.axis>(range);
    return Values<2>{{mark(f) + (f.axis + 1) * (q[f - A] + 2 * q[f]) + q[f - 2 * A] * q[f + A], q[f] + f.i + 3 * f.j + 7 * f.k}};
  };
  balance_cells<2, AXES>(range, face, STORE(c, out) { sum[c] = out.of[0], plane[c] = out.of[1]; });
}
"""
GHOST = 2


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest):
    return opened(request.param)


@task(kernel=TEXT.replace("AXES", "3"))
def balance(q: Read[star(GHOST)], sum: Write, plane: Write) -> None:
    """Numbers of high faces less those of low ones."""


@task(kernel=TEXT.replace("AXES", "2").replace("TASK balance", "TASK planar"))
def planar(q: Read[star(GHOST)], sum: Write, plane: Write) -> None:
    """The same across x and y."""


def reference(q: np.ndarray, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """The same by NumPy; integers."""
    inside = tuple(slice(GHOST, n - GHOST) for n in q.shape)
    places = np.meshgrid(*(np.arange(n) - GHOST for n in q.shape), indexing="ij")
    results = np.zeros((2, *q.shape))
    for axis in range(axes):
        along = 2 - axis
        a, b, d = (np.roll(q, shift, along) for shift in (2, 1, -1))
        first = (axis + 1) * (b + 2 * q) + a * d
        ends = (places[along] == 0) | (places[along] == q.shape[along] - 2 * GHOST)
        second = q + places[2] + 3 * places[1] + 7 * places[0]
        for result, face in zip(results, (first + 1000 * ends, second), strict=True):
            result += np.roll(face, -1, along) - face
    return results[0][inside], results[1][inside]


@pytest.mark.parametrize("cells", [(7, 5, 6), (1, 1, 1), (1, 9, 70), (2, 200, 3), (33, 6, 41), (140, 18, 35)])
@pytest.mark.parametrize(("made", "axes"), [(balance, 3), (planar, 2)])
def test_what_leaves_cells(cells, made, axes, device):
    layout = Layout((-GHOST,) * 3, tuple(n + 2 * GHOST for n in cells[::-1]))
    arrays = [device.allocate(layout.shape, "f8") for _ in range(3)]
    q = np.random.default_rng(1).integers(-9, 9, layout.shape).astype("f8")
    arrays[0][...] = device.xp.asarray(q)
    compiled(made, "f8", device).bind(Box.of(cells), layout, arrays, {}, {})()
    inside = tuple(slice(GHOST, n - GHOST) for n in layout.shape)
    for array, expected in zip(arrays[1:], reference(q, axes), strict=True):
        np.testing.assert_array_equal(np.array(device.to_host(array))[inside], expected)
