"""Kernel texts: compiled for a device, bound to memory, called."""

from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.bandwidth import copy_bandwidth, known_copy_bandwidth
from taskflow.runtime.machine.kernel.call import Layout, partial_bytes
from taskflow.runtime.machine.kernel.compile_host import never_spin
from taskflow.runtime.machine.kernel.copying import copier, copiers
from taskflow.runtime.machine.kernel.kernel import compile_together, compiled, kernel_of
from taskflow.runtime.machine.kernel.pieces import bind_pieces
from taskflow.runtime.machine.kernel.texts import listable
