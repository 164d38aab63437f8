"""The compiler of a GPU and what it caches, played: where CuPy may write, what NVRTC refuses, shared memory, room."""

import os
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.machine.kernel import compile_cuda
from taskflow.runtime.machine.kernel.agreement import KernelError

CACHED = compile_cuda.room, compile_cuda.own_cache, compile_cuda.module, compile_cuda._kernel_on


@pytest.fixture(autouse=True)
def nothing_cached():
    for one in CACHED:
        one.cache_clear()
    yield
    for one in CACHED:
        one.cache_clear()


class CompileError(Exception):
    """What CuPy raises."""


class Module:
    """A module of kernels, of which those with `error` in the text do not compile."""

    made = 0

    def __init__(self, code, options, backend):
        assert (backend, "--fmad=false" in options) == ("nvrtc", True)
        self.code, Module.made = code, Module.made + 1

    def compile(self):
        if "error" in self.code:
            raise CompileError("line 1: error")

    def get_function(self, name):
        return SimpleNamespace(name=name, kernel=SimpleNamespace(ptr=len(name)), max_dynamic_shared_size_bytes=0)

    def get_global(self, name):
        assert name == "shared_bytes"
        return np.array([3072], np.uint32)


@pytest.fixture
def cupy(monkeypatch, tmp_path):
    played = ModuleType("cupy")
    played.RawModule = Module
    played.ndarray = lambda shape, dtype, at: SimpleNamespace(get=lambda: at)
    played.device = 0
    played.cuda = SimpleNamespace(
        compiler=SimpleNamespace(CompileException=CompileError),
        runtime=SimpleNamespace(getDevice=lambda: played.device),
        Device=lambda: SimpleNamespace(attributes={"MultiProcessorCount": 132}),
        driver=SimpleNamespace(occupancyMaxActiveBlocksPerMultiprocessor=lambda pointer, threads, _: 2048 // threads),
    )
    monkeypatch.setitem(sys.modules, "cupy", played)
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "own"))
    Module.made = 0
    return played


def test_a_text_is_compiled_once_and_its_kernels_found_once_per_device(cupy):
    first, shared = compile_cuda.kernel("text", "jacobi")
    assert (first.name, shared, compile_cuda.kernel("text", "jacobi")[0] is first) == ("jacobi", 0, True)
    cupy.device = 1
    assert compile_cuda.kernel("text", "jacobi")[0] is not first
    assert Module.made == 1


def test_the_limit_of_shared_memory_is_what_the_text_asks_for(cupy):
    function, shared = compile_cuda.kernel("\nSHARED(1024 * sizeof(real))\n", "held")
    assert (shared, function.max_dynamic_shared_size_bytes) == (3072, 3072)


def test_what_nvrtc_refuses_is_an_error_of_the_text(cupy):
    with pytest.raises(KernelError, match=r"does not compile for the GPU:\nline 1: error"):
        compile_cuda.module("error")


def test_room_is_of_all_processors(cupy):
    assert compile_cuda.room("text", "jacobi", 256) == 132 * 8


def test_the_cache_is_private_to_the_user(cupy, tmp_path):
    compile_cuda.own_cache()
    assert (tmp_path / "own").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("given", [True, False])
def test_kernels_of_a_folder_that_others_may_change_are_not_used(given, cupy, tmp_path, monkeypatch):
    """A folder that was chosen is refused; CuPy's usual one is left for that of the other kernels."""
    monkeypatch.setattr(compile_cuda, "weakness", lambda folder: "others may write to it")
    if given:
        with pytest.raises(BadInput, match=r"own: others may write to it, and could exchange kernels; choose a folder"):
            compile_cuda.own_cache()
        return
    monkeypatch.delenv("CUPY_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(compile_cuda, "cache_folder", lambda: tmp_path / "kept")
    compile_cuda.own_cache()
    assert os.environ["CUPY_CACHE_DIR"] == str(tmp_path / "kept" / "cupy")


def test_without_a_place_to_write_cupy_caches_nothing(cupy, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "file" / "below"))
    compile_cuda.own_cache()
    assert os.environ["CUPY_CACHE_DIR"] == str(tmp_path / "file" / "below")
