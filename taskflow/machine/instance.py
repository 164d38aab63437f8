"""Physical instances: the arrays that hold the fields of regions on one block."""

from __future__ import annotations

from typing import Any

from taskflow.machine.device import Arena, Device
from taskflow.regions import Box, Partition

Array = Any  # numpy.ndarray or cupy.ndarray, in the order [z, y, x]


class Instances:
    """One array of zeros per field, of all regions of a partition, over what a block has memory for, on a device.

    `boxes` are what the arrays cover; their first elements are the cells `lo`. `box` is that of the first region.
    """

    def __init__(self, partition: Partition, block: int, device: Device) -> None:
        self.boxes = {name: home.memory[block] for name, home in partition.homes.items()}
        self.box = partition.memory[block]
        wanted = [(name, self.boxes[name].shape[::-1], field.dtype) for name, field in partition.fields.items()]
        self.memory = device.arena(sum(Arena.room(shape, dtype) for _, shape, dtype in wanted))
        self.arrays: dict[str, Array] = {n: self.memory.allocate(shape, dtype) for n, shape, dtype in wanted}

    def view(self, name: str, box: Box) -> Array:
        """The cells of `box` of one field, in place."""
        return self.arrays[name][box.slices(self.boxes[name].lo)]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays.values())
