"""Several numbers that a launch reduces at once: each is that of all cells, whatever launch came before."""

import math

import numpy as np
import pytest

from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel import KernelError, Layout, compiled
from taskflow.runtime.regions import Box, Partition, region
from taskflow.runtime.tasks import Read, ReadWrite, Reduce, Scalar, reduced, task
from tests.runtime.machine.devices import DEVICES, opened

TEXT = """
#define UZ 8
#include "cell.h"

// total = sum of q, twice = of 2 q, squares = of q^2
TASK sums(Range range, In q, Partial total, Partial twice, Partial squares) {
  sum_cells(range, {total, twice, squares}, CELL(c) { return Sums<3>{{q[c], 2 * q[c], q[c] * q[c]}}; });
}
TASK under_one_name(Range range, In q, PartialOf<3> result) {
  sum_cells(range, result.of, CELL(c) { return Sums<3>{{q[c], 2 * q[c], q[c] * q[c]}}; });
}
TASK exact(Range range, In q, ExactPartial<2> moments, In64 bound) {
  const Sums<2> bounds{{*bound, *bound * *bound}};
  exact_sum_cells(range, moments, bounds, CELL(c) { return Sums<2>{{q[c], double(q[c]) * q[c]}}; });
}
TASK most(Range range, In q, ExactPartial<10> powers) {
  exact_sum_cells(range, powers, 1.0, CELL(c) {
    Sums<10> found;
    double power = 1;
    for (int n = 0; n < 10; ++n) found.of[n] = power *= q[c];
    return found;
  });
}
TASK less_mean(Range range, InOut q, ExactIn64<2> moments, In64Of<3> result, real cells) {
  const double mean = moments[0] / cells, twice = result[1] / result[0];
  for_cells(range, CELL(c) { q[c] = real(twice * (q[c] - mean)); });
}
"""


@task(kernel=TEXT)
def sums(q: Read, *, total: Reduce[sum], twice: Reduce[sum], squares: Reduce[sum]) -> None: ...
@task(kernel=TEXT)
def under_one_name(q: Read, *, result: Reduce[sum, 3]) -> None: ...
@task(kernel=TEXT)
def exact(q: Read, *, moments: Reduce["exact sum", 2], bound: Scalar) -> None: ...
@task(kernel=TEXT)
def most(q: Read, *, powers: Reduce["exact sum", 10]) -> None: ...
@task(kernel=TEXT)
def less_mean(q: ReadWrite, *, moments: Scalar["exact sum", 2], result: Scalar["sum", 3], cells: float) -> None: ...


@task
def exact_in_python(q: Read, *, moments: Reduce["exact sum", 2], bound: Scalar) -> None:
    """The same as `exact`."""
    moments.fold(q[...], q[...].astype("f8") ** 2, bound=(bound, bound**2))


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest):
    return opened(request.param)


@pytest.mark.parametrize("real", ["f4", "f8"])
def test_several_sums_are_folded_at_once(real, device):
    for cells in [(33, 5, 37), (8, 1, 3), (150, 90, 20), (1, 1, 1)]:
        layout = Layout((0, 0, 0), cells[::-1])
        values = np.arange(np.prod(cells), dtype=real).reshape(cells[::-1]) % 101  # sums are exact
        total = values.sum(dtype="f8")
        expected = {"total": total, "twice": 2 * total, "squares": (values**2).sum(dtype="f8")}
        q = device.allocate(layout.shape, real)
        q[...] = device.xp.asarray(values)
        result = {name: device.allocate((1,), "f8") for name in ("total", "twice", "squares")}
        call = compiled(sums, real, device).bind(Box.of(cells), layout, [q], {}, {}, result)
        for _ in range(2):
            call()
            assert {name: float(item[0]) for name, item in result.items()} == expected


# ------------------------------------------------------------------------------------------------------- under one name

CELLS = (19, 14, 11)
BLOCKS = [(1, 1, 1), (2, 1, 1), (1, 3, 1), (2, 1, 2)]


def on_blocks(device, blocks, q, *launches, **inputs):
    """The scalars and q after tasks on so many blocks: each launch is a task with its keywords."""
    box = region(CELLS, ["q"], dtype=q.dtype.str[1:])
    partition = Partition(box, blocks)

    def job(shard):
        shard.write({"q": q[partition.blocks[shard.block].slices((0, 0, 0))]})
        shard.run(lambda f: (task(f.q, over=box.cells, **values) for task, values in launches), **inputs)
        return dict(shard.scalars), shard.read("q")

    result = run_threads(partition, job, device)
    assert all(scalars == result[0][0] for scalars, _ in result)
    whole = np.empty_like(q)
    for block, (_, part) in zip(partition.blocks, result, strict=True):
        whole[block.slices((0, 0, 0))] = part
    return result[0][0], whole


def uneven(real):
    """Terms of very different sizes, below 16."""
    random = np.random.default_rng(3)
    values = random.uniform(-1, 1, CELLS[::-1]) * 10.0 ** random.uniform(-9, 1, CELLS[::-1])
    return values.astype(real)


@pytest.mark.parametrize("real", ["f4", "f8"])
def test_numbers_under_one_name_are_those_under_several(real, device):
    q = uneven(real)
    apart = {"total": "result.0", "twice": "result.1", "squares": "result.2"}
    for blocks in BLOCKS[:2]:
        one, _ = on_blocks(device, blocks, q, (under_one_name, {"result": "result"}))
        other, _ = on_blocks(device, blocks, q, (sums, apart))
        assert one == other
        assert reduced(one, "result") == tuple(one[f"result.{n}"] for n in range(3))


@pytest.mark.parametrize("real", ["f4", "f8"])
def test_exact_sums_have_the_same_bits_on_any_blocks_and_in_python(real, device):
    """And so has what another task makes of them."""
    q, result, fields = uneven(real), [], []
    after = (
        (under_one_name, {"result": "result"}),
        (less_mean, {"moments": "m", "result": "result", "cells": float(q.size)}),
    )
    for blocks in BLOCKS:
        for way in (exact, exact_in_python):
            scalars, new = on_blocks(device, blocks, q, (way, {"moments": "m", "bound": "b"}), *after, b=1.0)
            result.append([scalars[name] for name in exact.numbers["moments"].of("m")])
            fields.append(new)
    assert all(parts == result[0] for parts in result)
    assert all((new == fields[0]).all() for new in fields)
    first, second = reduced(scalars, "m")
    wide = q.astype("f8")
    assert first == pytest.approx(math.fsum(wide.flat), rel=1e-15)
    assert second == pytest.approx(math.fsum((wide**2).flat), rel=1e-15)
    np.testing.assert_allclose(fields[0], 2 * (wide - first / q.size), rtol=0, atol=20 * np.finfo(real).eps)


def test_as_many_exact_sums_as_a_task_can_have(device):
    q, result = np.random.default_rng(5).uniform(-1.3, 1.3, CELLS[::-1]), []
    for blocks in BLOCKS[::3]:
        scalars, _ = on_blocks(device, blocks, q, (most, {"powers": "p"}))
        result.append(reduced(scalars, "p"))
    assert result[0] == result[1]
    assert result[0] == pytest.approx([math.fsum((q ** (n + 1)).flat) for n in range(10)], rel=1e-14)


@pytest.mark.parametrize(
    ("annotation", "declared"),
    [
        (Reduce["exact sum", 3], r'Reduce\["exact sum", 3\]: make it ExactPartial<3> m'),
        (Reduce["sum", 2], r'Reduce\["sum", 2\]: make it PartialOf<2> m'),
        (Reduce["sum"], "Reduce: make it Partial m"),
    ],
)
def test_a_text_takes_them_as_they_were_declared(annotation, declared):
    @task(kernel="TASK lengths(Range range, In q, ExactPartial<2> m) {}")
    def lengths(q: Read, *, m: annotation) -> None: ...

    with pytest.raises(
        KernelError, match=f"takes its parameter m as ExactPartial<2> m, but it was declared {declared}"
    ):
        compiled(lengths, "f8", cpu(1))
