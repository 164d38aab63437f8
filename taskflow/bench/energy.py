"""Energy consumption of a GPU, as counted by its driver (NVML)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from taskflow.runtime.host.accelerators import accelerators, nvml_handle
from taskflow.runtime.machine.device import Device, Gpu

PERIOD = 0.02  # seconds between samples of the power, if energy is not counted


class EnergyMeter:
    """Meter of the energy of a device while it is open: `joules`, or None if it is not counted or the time was too
    short.

    GPUs of the Volta generation and later count energy in intervals of about 0.1 s. On older ones the power is sampled.
    CPUs and parts of a GPU (MIG) are not measured.
    """

    def __init__(self, device: Device) -> None:
        self.joules: float | None = None
        self._gpu = _handle(device)
        self._began: float | None = None
        self._integral: _PowerIntegral | None = None

    def __enter__(self) -> EnergyMeter:
        self._began = _energy(self._gpu)
        if self._began is None and _power(self._gpu) is not None:
            self._integral = _PowerIntegral(self._gpu)
            self._integral.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._began is not None:
            ended = _energy(self._gpu)
            self.joules = None if ended is None else ended - self._began or None
        elif self._integral is not None:
            self.joules = self._integral.end()


class _PowerIntegral(threading.Thread):
    """Thread that integrates power over time."""

    def __init__(self, gpu: Any) -> None:
        super().__init__(daemon=True)
        self._gpu, self._over, self._joules, self._began = gpu, threading.Event(), 0.0, time.perf_counter()

    def run(self) -> None:
        last, power, over = self._began, _power(self._gpu) or 0.0, False
        while not over:
            over = self._over.wait(PERIOD)
            now, present = time.perf_counter(), _power(self._gpu) or power
            self._joules += 0.5 * (power + present) * (now - last)
            last, power = now, present

    def end(self) -> float:
        """Return the joules since the start."""
        self._over.set()
        self.join()
        return self._joules


def _handle(device: Device) -> Any:
    """Return NVML's handle of a GPU, or None for CPUs and GPUs unknown to NVML."""
    if not isinstance(device, Gpu):
        return None
    identity = next((gpu.identity for gpu in accelerators() if gpu.ordinal == device.ordinal), None)
    return None if identity is None else nvml_handle(identity)


def _energy(gpu: Any) -> float | None:
    """Return the joules since the driver was loaded."""
    import pynvml

    return _asked(pynvml.nvmlDeviceGetTotalEnergyConsumption, gpu)


def _power(gpu: Any) -> float | None:
    import pynvml

    return _asked(pynvml.nvmlDeviceGetPowerUsage, gpu)


def _asked(question: Callable[[Any], int], gpu: Any) -> float | None:
    """Return an NVML value converted from thousandths, or None if it or the GPU is unavailable."""
    import pynvml

    if gpu is None:
        return None
    try:
        return question(gpu) / 1e3
    except pynvml.NVMLError:
        return None
