"""The list of GPUs, asked from a driver made for these tests: two GPUs, and a third that does not answer."""

import uuid

import pytest

from taskflow.host import accelerators as room
from tests.machine.driver import built

DRIVER = r"""
#include <cstring>
extern "C" {
int cuInit(unsigned flags) { return 0; }
int cuDeviceGetCount(int* count) { *count = 3; return 0; }
int cuDeviceGet(int* device, int ordinal) { *device = 70 + ordinal; return ordinal == 2 ? 101 : 0; }
int cuDeviceGetName(char* name, int length, int device) { std::strncpy(name, device == 70 ? "One" : "Two", length); return 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int device) { *bytes = 150ull << 30; return 0; }
int cuDeviceGetUuid_v2(unsigned char* uuid, int device) { for (int n = 0; n < 16; ++n) uuid[n] = device + n; return 0; }

int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = (void*)0x700000000001;
  return std::strcmp(uuid, "GPU-46474849-4a4b-4c4d-4e4f-505152535455") ? 6 : 0;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  memory[0] = 150ull << 30, memory[1] = 99ull << 30, memory[2] = 51ull << 30;
  return device == (void*)0x700000000001 ? 0 : 2;
}
}
"""  # noqa: E501


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    return built(DRIVER, tmp_path_factory.mktemp("driver"))


def test_gpus_of_a_driver(driver, monkeypatch):
    monkeypatch.setattr(room, "_library", lambda name: driver)
    one, two = room.accelerators()
    assert (one.ordinal, one.name, one.memory, one.free) == (0, "One", 150 << 30, 99 << 30)
    assert one.identity == str(uuid.UUID(bytes=bytes(range(70, 86))))
    assert (two.ordinal, two.name, two.free) == (1, "Two", 150 << 30)


def test_without_nvml_all_memory_is_free(driver, monkeypatch):
    monkeypatch.setattr(room, "_library", lambda name: driver if "cuda" in name else None)
    assert [gpu.free for gpu in room.accelerators()] == [150 << 30] * 2


def test_without_a_driver_there_are_none(monkeypatch):
    monkeypatch.setattr(room, "_library", lambda name: None)
    assert room.accelerators() == ()
