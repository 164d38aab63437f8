"""The list of GPUs, asked from a driver made for these tests: two GPUs, and a third that does not answer."""

import os
import subprocess
import sys
import uuid
from types import SimpleNamespace

import pynvml
import pytest

from taskflow.runtime.host import accelerators as room
from tests.runtime.machine.driver import built

DRIVER = r"""
#include <cstring>
extern "C" {
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int* count) { *count = 3; return 0; }
int cuDeviceGet(int* device, int ordinal) { *device = 70 + ordinal; return ordinal == 2 ? 101 : 0; }
int cuDeviceGetName(char* name, int length, int device) { std::strncpy(name, device == 70 ? "One" : "Two", length); return 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int device) { *bytes = 150ull << 30; return 0; }
int cuDeviceGetUuid_v2(unsigned char* uuid, int device) { for (int n = 0; n < 16; ++n) uuid[n] = device + n; return 0; }
}
"""  # noqa: E501


FIRST = "46474849-4a4b-4c4d-4e4f-505152535455"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return built(DRIVER, tmp_path_factory.mktemp("driver"))


@pytest.fixture
def driver(library, monkeypatch):
    monkeypatch.setattr(room, "library", lambda: library)


def by_uuid(name):
    if name != f"GPU-{FIRST}":
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
    return "the first"


@pytest.fixture
def nvml(monkeypatch):
    """NVML that knows the first GPU alone."""
    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", by_uuid)
    free = {"the first": SimpleNamespace(total=150 << 30, free=99 << 30, used=51 << 30)}
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", free.__getitem__)


@pytest.mark.usefixtures("driver", "nvml")
def test_gpus_of_a_driver():
    one, two = room.accelerators()
    assert (one.ordinal, one.name, one.memory, one.free) == (0, "One", 150 << 30, 99 << 30)
    assert one.identity == str(uuid.UUID(bytes=bytes(range(70, 86)))) == FIRST
    assert (two.ordinal, two.name, two.free) == (1, "Two", 150 << 30)


@pytest.mark.usefixtures("driver", "nvml")
def test_a_part_of_a_gpu_has_its_own_memory(monkeypatch):
    """MIG: NVML knows it by another name."""
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByUUID", lambda name: by_uuid(name.replace("MIG", "GPU")))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", lambda _: SimpleNamespace(free=7 << 30))
    assert [gpu.free for gpu in room.accelerators()] == [7 << 30, 150 << 30]


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize("problem", [pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED])
def test_without_nvml_all_memory_is_free(monkeypatch, problem):
    def begin():
        raise pynvml.NVMLError(problem)

    monkeypatch.setattr(pynvml, "nvmlInit", begin)
    assert [gpu.free for gpu in room.accelerators()] == [150 << 30] * 2


@pytest.mark.usefixtures("driver", "nvml")
def test_where_nvml_does_not_tell_all_memory_is_free(monkeypatch):
    def refuse(_):
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", refuse)
    assert [gpu.free for gpu in room.accelerators()] == [150 << 30] * 2


def test_without_a_driver_there_are_none(monkeypatch):
    def absent():
        raise OSError

    monkeypatch.setattr(room, "library", absent)
    assert room.accelerators() == ()


def test_nvml_is_loaded_where_it_is_asked_only():
    """It takes a process a hundredth of a second."""
    script = "import sys, taskflow.runtime.host.accelerators as a; a.accelerators(); print('pynvml' in sys.modules)"
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["False"]
