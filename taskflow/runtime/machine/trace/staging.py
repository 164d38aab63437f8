"""Ways to pack messages: on the device, then in host memory, or not at all. The last two measure these costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.kernel import copiers
from taskflow.runtime.machine.kernel.copying import place, turned

Staging = Literal["device", "host", "rows"]
Pairs = Sequence[tuple[Array, Array]]


class MessageBuffer(NamedTuple):
    """Bytes of a message: cells are copied from or to `inner`, and the channel carries `outer`."""

    inner: Array
    outer: Array


class OnDevice:
    """Cells are packed in memory of the device by few launches, and the channel takes them from there."""

    def buffer(self, device: Device, nbytes: int) -> MessageBuffer:
        """Return a new buffer."""
        bytes_ = device.allocate((nbytes,), "u1")
        return MessageBuffer(bytes_, bytes_)

    def copies(self, device: Device, pairs: Pairs, buffer: MessageBuffer, lane: Lane, *, packs: bool) -> list[Call]:
        """Return operations that do `target[...] = source` for all pairs of cells and parts of the buffer."""
        return copiers(device, pairs, lane)


class ThroughHost(OnDevice):
    """Cells are packed on the device, and one copy moves them to or from host memory."""

    def buffer(self, device: Device, nbytes: int) -> MessageBuffer:
        """Return a new buffer."""
        return MessageBuffer(device.allocate((nbytes,), "u1"), device.host_buffer(nbytes))

    def copies(self, device: Device, pairs: Pairs, buffer: MessageBuffer, lane: Lane, *, packs: bool) -> list[Call]:
        """Return operations that do `target[...] = source` for all pairs, and move the buffer."""
        calls, (inner, outer) = copiers(device, pairs, lane), buffer
        target, source = (outer, inner) if packs else (inner, outer)
        whole = np.array([[place(target), place(source), target.nbytes]])
        move = [partial(_move, device, whole, lane, buffer)]
        return [*calls, *move] if packs else [*move, *calls]


class RowByRow(OnDevice):
    """No cells are packed: each contiguous row of them is a copy to or from host memory."""

    def buffer(self, device: Device, nbytes: int) -> MessageBuffer:
        """Return a new buffer."""
        bytes_ = device.host_buffer(nbytes)
        return MessageBuffer(bytes_, bytes_)

    def copies(self, device: Device, pairs: Pairs, buffer: MessageBuffer, lane: Lane, *, packs: bool) -> list[Call]:
        """Return operations that do `target[...] = source` for all pairs."""
        rows = np.concatenate([rows_of(*pair) for pair in pairs])
        return [partial(_move, device, rows, lane, pairs)]


STAGINGS: dict[Staging, OnDevice] = {"device": OnDevice(), "host": ThroughHost(), "rows": RowByRow()}


def rows_of(target: Array, source: Array) -> np.ndarray:
    """Return target, source and bytes of each part of two views of one shape that is contiguous in both: a row along x,
    or a value where the source is turned.
    """
    depth = target.ndim - (not turned(source))
    shape, size = target.shape[:depth], math.prod(target.shape[depth:]) * target.dtype.itemsize
    within = np.indices(shape).reshape(depth, -1)
    rows = [place(view) + np.array(view.strides[:depth]) @ within for view in (target, source)]
    return np.stack([*rows, np.full(math.prod(shape), size)], axis=1)


def _move(device: Device, rows: np.ndarray, lane: Lane, keep: object) -> None:
    """Copy each row, with its target, source and bytes. `keep` keeps their arrays alive."""
    for target, source, nbytes in rows.tolist():
        device.move(target, source, nbytes, lane.stream)
