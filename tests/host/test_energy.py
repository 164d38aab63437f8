"""Energy as a driver made for these tests counts it, or as follows from the power that it tells."""

import ctypes
import time

import pytest

from taskflow.host import energy
from taskflow.machine.device import cpu
from tests.machine.driver import built

DRIVER = r"""
extern "C" {
unsigned long long energy = 5000;
unsigned supported = 1, told = 1;
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  *millijoules = energy;
  return supported ? 0 : 3;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) { return *milliwatts = 250000, told ? 0 : 3; }
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return built(DRIVER, tmp_path_factory.mktemp("driver"))


@pytest.fixture
def driver(library, monkeypatch):
    """Change what the driver of the GPU says."""
    monkeypatch.setattr(energy, "_handle", lambda device: (library, ctypes.c_void_p(1)))

    def say(**numbers):
        for name, value in numbers.items():
            kind = ctypes.c_ulonglong if name == "energy" else ctypes.c_uint
            kind.in_dll(library, name).value = value

    say(energy=5000, supported=1, told=1)
    return say


def test_energy_that_is_counted(driver):
    with energy.Meter(cpu()) as meter:
        driver(energy=7500)
    assert meter.joules == 2.5


def test_energy_from_power(driver):
    driver(supported=0)
    outer = time.perf_counter()
    with energy.Meter(cpu()) as meter:
        inner = time.perf_counter()
        time.sleep(0.1)
        inner = time.perf_counter() - inner
    assert 250 * inner <= meter.joules <= 250 * (time.perf_counter() - outer)


def test_a_gpu_that_tells_nothing(driver):
    driver(supported=0, told=0)
    with energy.Meter(cpu()) as meter:
        pass
    assert meter.joules is None


def test_cores_tell_nothing():
    with energy.Meter(cpu()) as meter:
        pass
    assert meter.joules is None


@pytest.mark.gpu
def test_a_gpu():
    from taskflow.machine import copy_bandwidth
    from taskflow.machine.device import gpu

    device = gpu()
    with energy.Meter(device) as meter:
        end = time.perf_counter() + 1.0
        while time.perf_counter() < end:
            copy_bandwidth(device)
    assert meter.joules is None or 20 < meter.joules < 5000
