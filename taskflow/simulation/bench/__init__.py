"""Measurements of this machine and of taskflow on it: medians, with the machine, the versions and the command."""

from taskflow.simulation.bench.kernels import measure_kernels

__all__ = ["measure_kernels"]
