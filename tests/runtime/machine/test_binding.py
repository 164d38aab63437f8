"""Binding: what occurs again in a step, or in another trace of it, is bound once, and only what is the same."""

import numpy as np
import pytest

from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel.kernel import Kernel
from taskflow.runtime.machine.trace import binding, staging
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Read, Reduce, Write, task

NOISE = np.random.default_rng(0).random((8, 4, 5))
SPACE = Region(Box.of((5, 4, 8)), FieldSpace(Field(name) for name in "ab"), (True, True, True))
TEXT = """
TASK scale(Range range, In a, Out b, real by) {
  STRIDES(range)
  for_cells(range, CELL(c) { b[c] = by * (a[c] + a[c + Z]); });
}
TASK top(Range range, In a, Partial most) { reduce_cells(range, most, MAX, CELL(c) { return a[c]; }); }
"""


@task(kernel=TEXT)
def scale(a: Read[1], b: Write, *, by: float) -> None: ...


@task(kernel=TEXT)
def top(a: Read, *, most: Reduce[max]) -> None: ...


def sweeps(number, by):
    def program(f):
        for _ in range(number):
            yield scale(f.a, f.b, over=SPACE.cells, by=by)
            f.swap("a", "b")

    return program


def run(*programs, overlap="none"):
    """Field `a` after programs, on two blocks, that begin with noise where blocks own it, and with NaN elsewhere."""

    def job(shard):
        owned = shard.partition.owned[shard.block]
        for name in "ab":
            shard.instances.array(name)[...] = np.nan
            shard.instances.view(name, owned)[...] = NOISE[owned.slices((0, 0, 0))]
        for program in programs:
            shard.run(program)
        return shard.read("a", owned)

    return np.concatenate(run_threads(Partition(SPACE, (1, 1, 2)), job, cpu(1), Mapper(overlap)))


@pytest.fixture
def bound(monkeypatch):
    """The boxes for which kernels are bound, and how many copies are, of both blocks."""
    kernels, copies = [], []
    bind = Kernel.arguments

    def copiers(device, pairs, lane):
        copies.extend(pairs)
        return usual(device, pairs, lane)

    usual = binding.copiers
    seen = lambda self, box, *more, **how: kernels.append(box) or bind(self, box, *more, **how)  # noqa: E731
    monkeypatch.setattr(Kernel, "arguments", seen)
    for module in (binding, staging):
        monkeypatch.setattr(module, "copiers", copiers)
    return kernels, copies


@pytest.mark.parametrize("overlap", ["none", "full"])
def test_sweeps_are_bound_once_for_each_of_two_fields(bound, overlap):
    """Messages, too, for each buffer of a ring; and other traces of the same find most of it bound."""
    kernels, copies = bound
    result = []
    for numbers in ((12,), (96,), (48, 96, 12)):
        kernels.clear()
        copies.clear()
        expected = NOISE
        for _ in range(sum(numbers)):
            expected = 0.625 * (expected + np.roll(expected, -1, axis=0))
        np.testing.assert_array_equal(run(*(sweeps(n, 0.625) for n in numbers), overlap=overlap), expected)
        assert len(kernels) == 2 * len(set(kernels))
        result.append(len(copies))
    assert result[0] == result[1]
    assert result[2] < 2 * result[0]


def test_factors_that_are_worked_out_anew_are_the_same_ones(bound):
    """On a CPU what is reduced is, too: it does one launch after the other."""
    kernels, _ = bound

    def program(f):
        for number in range(1, 6):
            yield scale(f.a, f.b, over=SPACE.cells, by=number / number / 3)
            yield top(f.b, over=SPACE.cells, most="most")

    run(program)
    assert len(kernels) == 2 * (1 + 1)


def test_constants_that_are_equal_may_not_be_the_same():
    """0.0 == -0.0"""
    signs = []
    for factors in ((0.0, -0.0), (-0.0, 0.0)):

        def program(f, factors=factors):
            for by in factors:
                yield scale(f.b, f.a, over=SPACE.cells, by=by)

        signs.append(np.signbit(run(program)))
    assert signs[0].all()
    assert not signs[1].any()
