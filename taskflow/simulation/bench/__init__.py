"""Measurements of this machine and of taskflow on it: medians, with the machine, the versions and the command."""

from taskflow.simulation.bench.channels import measure_channels
from taskflow.simulation.bench.kernels import measure_kernels
from taskflow.simulation.bench.passes import Conditions
from taskflow.simulation.bench.runtime import measure_runtime
from taskflow.simulation.bench.scaling import Growth, measure_scaling
from taskflow.simulation.bench.shapes import Size
from taskflow.simulation.bench.sweep import measure_sweep

__all__ = [
    "Conditions",
    "Growth",
    "Size",
    "measure_channels",
    "measure_kernels",
    "measure_runtime",
    "measure_scaling",
    "measure_sweep",
]
