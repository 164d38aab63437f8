"""Physical instances: the arrays that hold a region's fields on one block."""

from __future__ import annotations

from typing import Any

from taskflow.machine.device import Arena, Device
from taskflow.regions import Box, Region

Array = Any  # numpy.ndarray or cupy.ndarray, in the order [z, y, x]


class Instances:
    """One array of zeros per field over a block and its ghost layers, on a device.

    `box` is what the arrays cover; their first element is the cell `box.lo`.
    """

    def __init__(self, region: Region, block: Box, device: Device) -> None:
        self.box = block.grow(region.ghost)
        shape = self.box.shape[::-1]
        self.memory = device.arena(sum(Arena.room(shape, field.dtype) for field in region.fields.values()))
        self.arrays: dict[str, Array] = {n: self.memory.allocate(shape, f.dtype) for n, f in region.fields.items()}

    def view(self, name: str, box: Box) -> Array:
        """The cells of `box` of one field, in place."""
        return self.arrays[name][box.slices(self.box.lo)]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays.values())
