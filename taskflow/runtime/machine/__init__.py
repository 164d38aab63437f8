"""Execution of an analysed program on one block.

Knows devices, kernels, arrays, channels, traces, and the actor that owns a block. Does not know which blocks a run has
or where, what the program means, nor any file.
"""

from taskflow.runtime.machine.actor import Control, Job, Plan, Status
from taskflow.runtime.machine.keeper import Keeper
from taskflow.runtime.machine.kernel import copy_bandwidth, known_copy_bandwidth
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.machine.trace.gather import compile_others
from taskflow.runtime.machine.trace.mapper import Mapper

__all__ = [
    "Control", "Job", "Keeper", "Mapper", "Plan", "Shard", "Status", "compile_others", "copy_bandwidth",
    "known_copy_bandwidth", "run_threads",
]  # fmt: skip
