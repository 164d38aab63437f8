"""Kernel texts: compiled for a device, bound to memory, called."""

from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.copying import copier, copiers, copy_bandwidth
from taskflow.runtime.machine.kernel.kernel import Layout, compile_together, compiled, partial_bytes

__all__ = [
    "KernelError",
    "Layout",
    "compile_together",
    "compiled",
    "copier",
    "copiers",
    "copy_bandwidth",
    "partial_bytes",
]
