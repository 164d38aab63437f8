"""Energy as a driver played by these tests counts it, or as follows from the power that it tells."""

import time

import pynvml
import pytest

from taskflow.bench import energy
from taskflow.runtime.machine.device import cpu


@pytest.fixture
def driver(monkeypatch):
    """Change what the driver of the GPU says."""
    says = {"energy": 5000, "supported": True, "told": True}

    def told(known, number):
        if not known:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return number

    monkeypatch.setattr(energy, "_handle", lambda device: "a GPU")
    counted, used = (lambda _: told(says["supported"], says["energy"])), (lambda _: told(says["told"], 250000))
    monkeypatch.setattr(pynvml, "nvmlDeviceGetTotalEnergyConsumption", counted)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetPowerUsage", used)
    return lambda **what: says.update(what)


def test_energy_that_is_counted(driver):
    with energy.EnergyMeter(cpu()) as meter:
        driver(energy=7500)
    assert meter.joules == 2.5


def test_energy_from_power(driver):
    driver(supported=False)
    outer = time.perf_counter()
    with energy.EnergyMeter(cpu()) as meter:
        inner = time.perf_counter()
        time.sleep(0.1)
        inner = time.perf_counter() - inner
    assert 250 * inner <= meter.joules <= 250 * (time.perf_counter() - outer)


def test_a_gpu_that_tells_nothing(driver):
    driver(supported=False, told=False)
    with energy.EnergyMeter(cpu()) as meter:
        pass
    assert meter.joules is None


def test_cores_tell_nothing():
    with energy.EnergyMeter(cpu()) as meter:
        pass
    assert meter.joules is None


@pytest.mark.gpu
def test_a_gpu():
    from taskflow.runtime.machine import copy_bandwidth
    from taskflow.runtime.machine.device import gpu

    device = gpu()
    with energy.EnergyMeter(device) as meter:
        end = time.perf_counter() + 1.0
        while time.perf_counter() < end:
            copy_bandwidth(device)
    assert meter.joules is None or 20 < meter.joules < 5000
