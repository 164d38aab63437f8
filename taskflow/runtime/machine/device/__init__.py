"""Processors and memory: devices and their lanes."""

from taskflow.runtime.machine.device.device import (
    Array,
    Cpu,
    Device,
    Gpu,
    cpu,
    gpu,
    gpu_problem,
    open_device,
    processor_name,
)
from taskflow.runtime.machine.device.driver import gpu_lost, hush
from taskflow.runtime.machine.device.lane import Call, Event, Lane, lanes
from taskflow.runtime.machine.device.memory import Arena

__all__ = [
    "Arena", "Array", "Call", "Cpu", "Device", "Event", "Gpu", "Lane", "cpu", "gpu",
    "gpu_lost", "gpu_problem", "hush", "lanes", "open_device", "processor_name",
]  # fmt: skip
