"""Physical instances: the arrays that hold the fields of regions on one block."""

from __future__ import annotations

from typing import Any

import numpy as np

from taskflow.runtime.machine.device import Arena, Device
from taskflow.runtime.regions import Box, Field, Partition, Triple

LINE = 128  # bytes
Array = Any  # numpy.ndarray or cupy.ndarray, in the order [z, y, x] or [z, y, value, x]


class Instances:
    """One array of zeros for each of the `fields` of all regions of a partition, over what a block has memory for.

    `boxes` are what the arrays cover; their first elements are the cells `lo`. `box` is that of the first region.
    """

    def __init__(self, partition: Partition, block: int, device: Device) -> None:
        self.boxes = {name: home.memory[block] for name, home in partition.homes.items()}
        self.box, self.fields = partition.memory[block], partition.fields
        leads = dict.fromkeys(partition.fields, 0)
        if device.kind == "gpu":
            leads = {name: _lead(home, block, partition.fields[name]) for name, home in partition.homes.items()}
        sizes = {
            name: (leads[name] + self.boxes[name].volume * field.values, field.dtype)
            for name, field in partition.fields.items()
        }
        self.memory = device.arena(sum(Arena.room((size,), dtype) for size, dtype in sizes.values()))
        self.arrays: dict[str, Array] = {}
        for name, (size, dtype) in sizes.items():
            array = self.memory.allocate((size,), dtype)
            self.arrays[name] = array[leads[name] :].reshape(self.fields[name].shape(self.boxes[name]))

    def view(self, name: str, box: Box) -> Array:
        """The cells of `box` of one field, in place."""
        return self.arrays[name][box.slices(self.boxes[name].lo)]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays.values())


def _lead(home: Partition, block: int, field: Field) -> int:
    """Values to be left out before an array so that a block's own cells begin where a line of memory does: libraries
    that take only such addresses work on fields in place.
    """
    memory, first = home.memory[block], home.blocks[block].lo
    (x, y, z), (nx, ny, _) = (a - b for a, b in zip(first, memory.lo, strict=True)), memory.shape
    return -(x + nx * field.values * (y + ny * z)) % (LINE // np.dtype(field.dtype).itemsize)


def extreme(array: Array, device: Device) -> tuple[Triple, float]:
    """The first place x, y, z of an array with a value that is not finite, or else that with the largest magnitude; and
    the value. Takes no more memory than a plane.
    """
    rows = tuple(range(1, array.ndim))
    with np.errstate(invalid="ignore"):
        high, low = device.to_host(array.max(axis=rows)), device.to_host(array.min(axis=rows))
        k = _largest(np.maximum(high, -low))
        plane = device.to_host(array[k])
        place = np.unravel_index(_largest(np.abs(plane).ravel()), plane.shape)
    return (int(place[-1]), int(place[0]), k), float(plane[place])


def _largest(magnitudes: np.ndarray) -> int:
    wrong: np.ndarray = ~np.isfinite(magnitudes)
    return int((wrong if wrong.any() else magnitudes).argmax())
