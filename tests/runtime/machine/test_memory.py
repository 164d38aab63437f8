"""Memory of a GPU, which is played: arrays of an arena, and copies to the host in pieces."""

import ctypes
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from taskflow.common.errors import Lost, RunFailed
from taskflow.runtime.machine.device import memory as module
from taskflow.runtime.machine.device.memory import ALIGN, Alarm, Arena, HostCopier
from tests.runtime.machine.played_gpu import CudaError, GpuArray, Memory, played_cupy


def test_arrays_of_an_arena_are_apart_aligned_and_zero():
    gpu = Memory()
    arena = Arena(played_cupy(gpu), 4 * ALIGN)
    one, two = arena.allocate((3, 5), "f8"), arena.allocate((ALIGN + 1,), "u1")
    assert (one.shape, one.dtype, two.shape) == ((3, 5), np.dtype("f8"), (ALIGN + 1,))
    assert not one.any()
    assert not two.any()
    assert one.ctypes.data == arena.pointer
    assert two.ctypes.data == arena.pointer + ALIGN
    one[:], two[:] = 3.0, 5
    assert (one == 3.0).all()
    assert arena.allocate((1,), "f4").ctypes.data == arena.pointer + 3 * ALIGN


def test_an_arena_says_what_it_lacks():
    gpu = Memory(room=10 * ALIGN)
    arena = Arena(played_cupy(gpu), 2 * ALIGN)
    arena.allocate((ALIGN,), "u1")
    with pytest.raises(MemoryError, match=f"{2 * ALIGN} bytes from an arena with {ALIGN} bytes left"):
        arena.allocate((ALIGN + 1,), "u1")
    with pytest.raises(MemoryError, match=f"{9 * ALIGN} bytes on a GPU with {8 * ALIGN} of {10 * ALIGN} bytes free"):
        Arena(played_cupy(gpu), 9 * ALIGN)


def test_an_arena_is_given_back_with_its_last_array():
    gpu = Memory()
    arena = Arena(played_cupy(gpu), ALIGN)
    array = arena.allocate((8,), "f8")
    del arena
    assert len(gpu.held) == 1
    assert not array.any()
    del array
    assert gpu.held == {}


@pytest.fixture
def copier(monkeypatch):
    """Pieces of 100 bytes, by one way."""
    monkeypatch.setattr(module, "PIECE", 100)
    monkeypatch.setattr(module, "WAYS", 1)
    played, gpu = ModuleType("cupyx"), Memory()
    played.empty_pinned = np.empty
    monkeypatch.setitem(sys.modules, "cupyx", played)
    made = HostCopier(played_cupy(gpu), 0)
    made.gpu = gpu
    return made


@pytest.mark.parametrize("shape", [(7, 11), (25,), (5, 5), (1,), (0, 3)])
def test_values_come_whole_in_pieces(shape, copier):
    values = np.random.default_rng(1).random(shape).astype("f4")
    result = copier.fetch(values.copy().view(GpuArray))
    assert (result == values).all()
    assert type(result) is np.ndarray
    assert sum(copier.gpu.done) == values.nbytes
    assert max(copier.gpu.done, default=0) <= 100


@pytest.mark.parametrize(("status", "raised"), [(700, Lost), (1, CudaError)])
def test_a_failed_copy_leaves_the_way_to_the_next(status, raised, copier, monkeypatch):
    """An error that costs the process its GPU is one of the GPU, and others are passed on."""
    runtime = SimpleNamespace(CUDARuntimeError=CudaError)
    driver = SimpleNamespace(CUDADriverError=type("CUDADriverError", (RuntimeError,), {}))
    played = ModuleType("cupy")
    played.cuda = SimpleNamespace(runtime=runtime, driver=driver)
    monkeypatch.setitem(sys.modules, "cupy", played)

    def fails(*_):
        raise CudaError(status)

    array = np.arange(4.0).view(GpuArray)
    with monkeypatch.context() as patch:
        patch.setattr(copier.gpu, "memcpyAsync", fails)
        with pytest.raises(raised):
            copier.fetch(array)
    assert [*copier.fetch(array)] == [0, 1, 2, 3]


def test_an_alarm_is_raised_once():
    word = np.array([9], np.uint32)
    alarm = Alarm(word)
    assert alarm.check()
    ctypes.c_uint32.from_address(alarm.pointer).value = 4
    with pytest.raises(RunFailed, match="thread block 4 timed out waiting for earlier blocks"):
        alarm.check()
    assert alarm.check()
