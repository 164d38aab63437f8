"""Message buffers: contiguous one-dimensional byte arrays in host memory (NumPy) or device memory (CuPy)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from taskflow.errors import BadInput

Buffer: TypeAlias = Any
"""A 1-D contiguous uint8 `numpy.ndarray`, or a device array of the same shape (`__cuda_array_interface__`)."""


def on_device(buffer: Buffer) -> bool:
    return hasattr(buffer, "__cuda_array_interface__")


def checked(buffer: Buffer) -> Buffer:
    """The buffer itself, if it is one; `BadInput` otherwise."""
    if buffer.ndim != 1 or buffer.dtype != np.uint8 or not buffer.flags.c_contiguous:
        raise BadInput(
            f"a message is a contiguous 1-D uint8 array, not {buffer.dtype} of shape {buffer.shape}: "
            "pass array.reshape(-1).view('u1')"
        )
    return buffer


def copy(pairs: Iterable[tuple[Buffer, Buffer]]) -> None:
    """Copy each (target, source) of equal size; on return all bytes are there, and nothing reads the sources any more.

    Pairs with a device array are copied on the caller's current CUDA stream, which is synchronised once, at the end.
    """
    device = []
    for target, source in pairs:
        if on_device(target) or on_device(source):
            device.append((target, source))
        else:
            np.copyto(target, source)
    if device:
        _copy_on_stream(device)


def staged(buffer: Buffer) -> np.ndarray:
    """The bytes in host memory: the buffer itself, or a copy of a device array."""
    if not on_device(buffer):
        return buffer
    host = np.empty(buffer.size, np.uint8)
    copy([(host, buffer)])
    return host


def _copy_on_stream(pairs: Iterable[tuple[Buffer, Buffer]]) -> None:
    from cupy.cuda import get_current_stream, runtime

    stream = get_current_stream()
    for target, source in pairs:  # memcpyDefault: the driver sees from a pointer on which device, or host, it is
        runtime.memcpyAsync(_pointer(target), _pointer(source), target.size, runtime.memcpyDefault, stream.ptr)
    stream.synchronize()


def _pointer(buffer: Buffer) -> int:
    if on_device(buffer):
        return buffer.__cuda_array_interface__["data"][0]
    return buffer.ctypes.data
