"""Fields of several values per cell are exchanged, computed with, poisoned, proved and kept like any other."""

from __future__ import annotations

import numpy as np
import pytest

import taskflow as tf
from taskflow.common.errors import BadInput
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.proof import Hardware, prove
from taskflow.runtime.regions import Box, Field, Partition, region
from taskflow.runtime.tasks import Read, ReadWrite, Write, box, serial, task

N, CELLS = 5, (9, 6, 7)
UNCUT = Mapper("none")
TEXT = f"""
TASK mix(Range range, InValues<{N}> a, In b, OutValues<{N}> a_new) {{
  for_cells(range, CELL(c) {{
    for (int n = 0; n < {N}; ++n) {{
      const int m = (n + 1) % {N};
      a_new(c, n) = a(c, n) + b[c] * a(c, m, 1, 0, 0) - a(c, n, 0, -1, 1) + real(0.5) * a(c, m, -1, 1, -1);
    }}
  }});
}}
TASK scale(Range range, InOutValues<{N}> a) {{
  for_cells(range, CELL(c) {{ for (int n = 0; n < {N}; ++n) a(c, n) *= real(n + 1); }});
}}
"""


@task(kernel=TEXT)
def mix(a: Read[box(1)] * N, b: Read, a_new: Write * N):
    """a_new of each value from the next value, and from neighbours"""


@task(kernel=TEXT)
def scale(a: ReadWrite * N):
    """a_n = (n + 1) a_n"""


@task
def mix_in_python(a: Read[box(1)] * N, b: Read, a_new: Write * N):
    """What mix does."""
    following = np.roll(np.arange(N), -1)
    after = {step: a[step][:, :, following] for step in ((1, 0, 0), (-1, 1, -1))}
    a_new[...] = a[...] + b[...][:, :, None] * after[1, 0, 0] - a[0, -1, 1] + 0.5 * after[-1, 1, -1]


def where(dtype="f8", periodic="xyz"):
    fields = [Field("a", dtype, values=N), Field("b", dtype), Field("a_new", dtype, values=N)]
    return region(CELLS, fields, periodic=periodic)


def program(mixed):
    def step(f):
        yield mixed(f.a, f.b, f.a_new, over=Box.of(CELLS))
        f.swap("a", "a_new")
        yield scale(f.a, over=Box.of(CELLS))

    return step


def start(field):
    cells = Box.of(CELLS)
    return np.random.default_rng(3).uniform(-1, 1, field.shape(cells)).astype(field.dtype)


def expected(dtype, steps):
    """By NumPy alone, [z, y, value, x]; all directions are periodic."""
    fields = where(dtype).fields
    a, b = start(fields["a"]), start(fields["b"])
    half, factors = np.dtype(dtype).type(0.5), np.arange(1, N + 1).astype(dtype)[:, None]
    for _ in range(steps):
        after = np.roll(a, -1, 2)
        a = a + b[:, :, None] * np.roll(after, -1, 3) - np.roll(a, (1, -1), (1, 0)) + half * np.roll(
            after, (1, -1, 1), (3, 1, 0)
        )  # fmt: skip
        a = a * factors
    return a


def solved(partition, mixed, steps=3, mapper=UNCUT):
    def job(shard):
        for name in ("a", "b"):
            mine = start(partition.fields[name])[shard.cells.slices((0, 0, 0))]
            shard.write({name: mine})
        for _ in range(steps):
            shard.run(program(mixed))
        return shard.cells, shard.read("a"), shard.extreme("a")

    whole, largest = np.empty(partition.fields["a"].shape(Box.of(CELLS))), []
    for cells, values, most in run_threads(partition, job, cpu(1), mapper):
        whole[cells.slices((0, 0, 0))] = values
        largest.append(most[1])
    assert max(map(abs, largest)) == abs(whole).max()
    return whole


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2), (1, 3, 1)])
@pytest.mark.parametrize("mapper", [UNCUT, Mapper("full"), Mapper("full", debug=True)], ids=str)
def test_kernels_and_halos(mapper, blocks, dtype):
    result = solved(Partition(where(dtype), blocks), mix, mapper=mapper)
    np.testing.assert_array_equal(result, expected(dtype, 3))


def test_python_bodies():
    np.testing.assert_allclose(solved(Partition(where(), (2, 1, 1)), mix_in_python), expected("f8", 3), rtol=1e-13)


def test_the_serial_oracle_knows_several_values():
    memory = serial.allocate(where())
    inside = Box.of(CELLS).slices((-1, -1, -1))
    for name in ("a", "b"):
        memory[name][inside] = start(where().fields[name])
    launch = mix_in_python("a", "b", "a_new", over=Box.of(CELLS))
    serial.run_program(where(), memory, [launch], {})
    result = memory["a_new"][inside] * np.arange(1, N + 1)[:, None]
    np.testing.assert_allclose(result, expected("f8", 1), rtol=1e-13)


@pytest.mark.parametrize("near", [None, (0, 0)], ids=["messages", "memory of the other"])
def test_programs_of_several_values_are_proved(near):
    hardware = Hardware(True, near)
    prove(Partition(where(), (2, 1, 1)), {program(mix): ()}, Mapper("full"), hardware).hold()


def test_bytes():
    partition = Partition(where(), (2, 1, 1))
    assert partition.fields["a"].nbytes == 8 * N
    assert partition.fields["a"].shape(Box.of((2, 3, 4))) == (4, 3, N, 2)


def test_from_a_script():
    """A region of one's own: filled, run and read."""
    with tf.distribute(where(), blocks=(1, 1, 2), device="cpu", workers=1, threads=1) as blocks:
        blocks.fill(a=start(where().fields["a"]), b=start(where().fields["b"]))
        blocks.run(program(mix), 3)
        np.testing.assert_array_equal(blocks.read("a"), expected("f8", 3))
        blocks.fill(a=lambda i, j, k: i + 10 * j + 100 * k, b=2.0)
        assert (blocks.read("a")[6, 5, :, 8] == 8 + 50 + 600).all()
        with pytest.raises(BadInput, match=r"a = array of shape .*; the region has \(7, 6, 5, 9\), \[z, y, value, x\]"):
            blocks.fill(a=np.zeros((7, 6, 9)))


def test_what_is_wrong_is_told():
    with pytest.raises(ValueError, match="field 'a': values = 0; give an integer, 1 or more"):
        Field("a", values=0)
    for wrong in (1, 2.0, "3"):
        with pytest.raises(TypeError, match="is not a number of values per cell; give 2 or more"):
            Read * wrong
    with pytest.raises(TypeError, match="only Read, Write, ReadWrite and Swept take several values"):
        tf.Foreign * 3
    few = region(CELLS, [Field("a", values=3), Field("b"), Field("a_new", values=N)], periodic="xyz")
    with pytest.raises(BadInput, match=r"'a' has 3 values per cell, but the task takes 5: declare it Read \* 3"):
        solved(Partition(few, (1, 1, 1)), mix)
