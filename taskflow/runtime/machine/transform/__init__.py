"""Transforms: real Fourier transforms of planes and of rows, by the library that a device has for it.

`OPERATIONS` are what tasks can name as their library: functions of device, lane, the arrays [z, y, x] of the fields in
the order of the task, and its constants, that return an operation which only enqueues work on the lane.
"""

from collections.abc import Callable

from taskflow.runtime.machine.device import Call
from taskflow.runtime.machine.transform.planes import (
    forward,
    forward_in_place,
    forward_rows,
    inverse,
    inverse_in_place,
    width,
)

OPERATIONS: dict[str, Callable[..., Call]] = {
    operation.__name__: operation for operation in (forward, forward_in_place, forward_rows, inverse, inverse_in_place)
}

__all__ = ["OPERATIONS", "forward", "forward_in_place", "forward_rows", "inverse", "inverse_in_place", "width"]
