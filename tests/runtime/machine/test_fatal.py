"""Which errors of CUDA cost a process its GPU, and what then: CuPy and the driver are played."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from taskflow.common.errors import Lost
from taskflow.runtime.machine.device import driver, gpu_lost, hush
from taskflow.runtime.machine.direct.link import Links
from tests.runtime.machine.driver import built

DRIVER = r"""
extern "C" {
static int asked = 0;  // two queries come too early; then the GPU is lost
int cuEventQuery(void* event) { return event != (void*)7 ? 400 : ++asked <= 2 ? 600 : 700; }
int cuGetErrorName(int error, const char** name) { *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : ""; return 0; }
}
"""


class CudaError(RuntimeError):
    def __init__(self, status):
        super().__init__(f"cudaError {status}")
        self.status = status


@pytest.fixture
def cupy(monkeypatch):
    played = ModuleType("cupy")
    played.cuda = SimpleNamespace(
        runtime=SimpleNamespace(CUDARuntimeError=type("CUDARuntimeError", (CudaError,), {})),
        driver=SimpleNamespace(CUDADriverError=type("CUDADriverError", (CudaError,), {})),
    )
    monkeypatch.setitem(sys.modules, "cupy", played)
    return played.cuda


@pytest.mark.parametrize(("status", "lost"), [
    (214, True), (700, True), (719, True), (2, False), (1, False), (9, False),
])  # fmt: skip
def test_what_the_driver_says(status, lost, cupy):
    """ECC, an illegal address, a launch that failed; no memory, a wrong value, a wrong launch."""
    assert gpu_lost(cupy.runtime.CUDARuntimeError(status)) == lost
    assert gpu_lost(cupy.driver.CUDADriverError(status)) == lost


def test_what_others_say(cupy):
    assert not gpu_lost(CudaError(700))
    assert not gpu_lost(MemoryError())


def test_what_a_lost_gpu_was_told_is_not_waited_for(monkeypatch, tmp_path):
    """An event that never comes is told from one that has not come yet."""
    library = built(DRIVER, tmp_path)
    monkeypatch.setattr(driver, "library", lambda: library)
    monkeypatch.setattr(driver, "at_once", lambda: library)
    event = SimpleNamespace(ptr=7)
    assert [driver.reached(event), driver.reached(event)] == [False, False]
    with pytest.raises(Lost, match="the GPU could not complete its work: CUDA_ERROR_ILLEGAL_ADDRESS"):
        driver.reached(event)


def test_objects_of_a_lost_gpu_end_in_silence(cupy, monkeypatch):
    """As they end, and as the interpreter does."""
    reported, ending = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: reported.append(what.exc_value))
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: reported.append(error))
    monkeypatch.setattr(driver.atexit, "register", ending.append)
    hush()
    for error in (cupy.driver.CUDADriverError(719), ValueError(1), cupy.runtime.CUDARuntimeError(1)):
        sys.unraisablehook(SimpleNamespace(exc_value=error))
        sys.excepthook(type(error), error, None)
    assert [type(error).__name__ for error in reported] == ["ValueError"] * 2 + ["CUDARuntimeError"] * 2
    assert len(ending) == 1


@pytest.mark.parametrize("lost", [False, True])
def test_memory_of_others_is_let_go_of_after_a_failure(lost, cupy):
    """When nothing uses it any more; a GPU that is lost uses nothing, and lets go with its process."""
    done = []

    def synchronize():
        if lost:
            raise cupy.runtime.CUDARuntimeError(700)
        done.append("all done")

    cupy.runtime.deviceSynchronize, cupy.runtime.ipcCloseMemHandle = synchronize, done.append
    links = Links.__new__(Links)
    links._runtime, links._opened = cupy.runtime, [1, 2]
    links.abandon()
    assert done == ([] if lost else ["all done", 2, 1])


def test_without_cupy(monkeypatch):
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    assert not gpu_lost(CudaError(700))
