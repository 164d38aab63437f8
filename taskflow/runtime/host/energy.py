"""The energy that a GPU takes, as its driver counts it (NVML)."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any

from taskflow.runtime.host.accelerators import accelerators, handle
from taskflow.runtime.machine.device import Device, Gpu

PERIOD = 0.02  # seconds between two looks at the power, where energy is not counted


class Meter:
    """Measures the energy of a device while it is open: `joules`, None where nobody counts it.

    A GPU of the Volta generation or later counts it by itself, in steps of some 0.1 s; of older ones the power is
    looked at again and again. Of cores, and of parts of a GPU (MIG), nothing is known.
    """

    def __init__(self, device: Device) -> None:
        self.joules: float | None = None
        self._gpu = _handle(device)
        self._began: int | None = None
        self._watch: _Watch | None = None

    def __enter__(self) -> Meter:
        if self._gpu is not None:
            self._began = _energy(self._gpu)
            if self._began is None and _power(self._gpu) is not None:
                self._watch = _Watch(self._gpu)
                self._watch.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._began is not None:
            ended = _energy(self._gpu)
            self.joules = None if ended is None else (ended - self._began) / 1e3
        elif self._watch is not None:
            self.joules = self._watch.end()


class _Watch(threading.Thread):
    """Integrates power over time."""

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
        """Joules since the start."""
        self._over.set()
        self.join()
        return self._joules


def _handle(device: Device) -> Any:
    """NVML's handle of a GPU; None for cores, and where NVML does not know it."""
    if not isinstance(device, Gpu):
        return None
    identity = next((gpu.identity for gpu in accelerators() if gpu.ordinal == device.ordinal), None)
    return None if identity is None else handle(identity)[0]


def _energy(gpu: Any) -> int | None:
    """Millijoules since the driver was loaded."""
    import pynvml

    try:
        return int(pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu))
    except pynvml.NVMLError:
        return None


def _power(gpu: Any) -> float | None:
    """Watts."""
    import pynvml

    try:
        return float(pynvml.nvmlDeviceGetPowerUsage(gpu)) / 1e3
    except pynvml.NVMLError:
        return None
