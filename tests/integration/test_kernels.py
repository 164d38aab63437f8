"""Kernels of the flow, as the machine compiles, counts and launches them."""

import threading

import numpy as np

from taskflow.bench.cost import operations
from taskflow.flow import StaggeredGrid
from taskflow.flow.measures.sums import divergence_max
from taskflow.flow.poisson import elimination
from taskflow.flow.poisson.relaxation import jacobi, jacobi_twice
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel import (
    Layout,
    compile_cuda,
    compiled,
    kernel,
)
from taskflow.runtime.machine.kernel.call import march
from taskflow.runtime.machine.kernel.kernel import CudaKernel
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Task, Variant

ROOM = 264  # thread blocks of two sweeps in single precision that an H200 does at once
WHOLE, CUT = Box.of((512, 512, 256)), Box((0, 0, 1), (512, 512, 254))
CELLS = Box.of((16, 8, 8))
ONE = Partition(Region(CELLS, FieldSpace(Field(name) for name in "abuvw")), (1, 1, 1))


def test_who_walks_whole_lines_has_them_alone():
    """However few there are: two threads on one line would spoil each other's values."""
    walking = [item for item in vars(elimination).values() if isinstance(item, Task)]
    assert len(walking) == 16
    for item in walking:
        assert kernel.CudaKernel(item, np.dtype("f8"), None).shape(Box.of((16, 8, 600)))[0][2] == 1, item.name


def test_the_tile_of_a_launch_goes_as_far_as_a_march(monkeypatch):
    """Of two sweeps: tiles of 64 x 16 cells, those on the rim being the neighbours', too; other kernels have none."""
    monkeypatch.setattr(compile_cuda, "room", lambda text, name, threads: ROOM if threads == 512 else 0)
    single = np.dtype("f4")
    kernel = CudaKernel(jacobi_twice, single, cpu(1))
    assert kernel.tile(WHOLE) == (62, 14, march(333, 256, ROOM))
    assert kernel.tile(WHOLE, CUT) == (62, 14, march(333, 256, ROOM, 2))
    assert kernel.tile(WHOLE, Box((0, 0, 0), (512, 512, 200))) == (62, 14, march(333, 256, ROOM, 1))
    assert kernel.tile(WHOLE, Box((62, 0, 0), (512, 512, 256))) == (62, 14, march(333, 256, ROOM, 0))
    assert kernel.tile(Box.of((0, 5, 5))) == (62, 14, 5)
    assert CudaKernel(jacobi, single, cpu(1)).tile(WHOLE) is None


def test_the_divergence():
    grid = StaggeredGrid((16, 8, 8), (1.0, 0.5, 0.5)).constants
    launch = divergence_max("u", "v", "w", over=CELLS, divergence="divergence", grid=grid)
    assert operations(launch, ONE) == 8  # three differences and as many products, two sums


def test_several_blocks_compute_at_once_in_threads_of_one_process():
    """Each with an OpenMP team of its own."""
    from taskflow.flow import StaggeredGrid

    cells, layout = (64, 40, 20), Layout((-1, -1, -1), (22, 42, 66))
    plain = jacobi.of(Variant(absent=frozenset({"solid"})))
    kernel, grid = compiled(plain, "f8", cpu(2)), StaggeredGrid(cells, (1.0, 1.0, 1.0)).constants
    fields = [[np.random.default_rng(n).random(layout.shape) for _ in range(3)] for n in range(4)]
    alone = []
    for p, rhs, _ in fields:
        new = np.zeros(layout.shape)
        kernel.bind(Box.of(cells), layout, [p, rhs, new], {"grid": grid}, {})()
        alone.append(new)
    together = [np.zeros(layout.shape) for _ in fields]

    def many(n: int) -> None:
        sweep = kernel.bind(Box.of(cells), layout, [*fields[n][:2], together[n]], {"grid": grid}, {})
        for _ in range(50):
            sweep()

    threads = [threading.Thread(target=many, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for expected, result in zip(alone, together, strict=True):
        np.testing.assert_array_equal(expected, result)
