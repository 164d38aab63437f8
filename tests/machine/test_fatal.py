"""Which errors of CUDA cost a process its GPU: CuPy is played."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from taskflow.machine.device import gpu_lost


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


def test_without_cupy(monkeypatch):
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    assert not gpu_lost(CudaError(700))
