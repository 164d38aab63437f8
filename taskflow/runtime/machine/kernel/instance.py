"""Physical instances: the arrays that hold the fields of regions on one block."""

from __future__ import annotations

from typing import Any

import numpy as np

from taskflow.runtime.machine.device import Arena, Device
from taskflow.runtime.regions import Box, Copy, Field, Partition, Triple, difference, seen
from taskflow.runtime.tasks import Place

LINE = 128  # bytes
Array = Any  # numpy.ndarray or cupy.ndarray, in the order [z, y, x] or [z, y, value, x]


class Instances:
    """One array of zeros for each of the `fields` of all regions of a partition and each piece of a block, including
    ghost cells. A place is a field and a piece of its region.

    `boxes` are the cells of the arrays, whose first elements are the cells `lo`. `box` belongs to the first piece.
    """

    def __init__(self, partition: Partition, block: int, device: Device) -> None:
        self.partition, self.block, self._tiled = partition, block, device.tiled
        self.fields, self._homes = partition.fields, partition.homes
        pieces = {name: home.pieces_of(block) for name, home in partition.homes.items()}
        self.first = {name: numbers[0] for name, numbers in pieces.items()}
        places = [(name, piece) for name in partition.fields for piece in pieces[name]]
        self.boxes: dict[Place, Box] = {(name, n): partition.homes[name].allocated(name, n) for name, n in places}
        self.box = partition.memory[partition.pieces_of(block)[0]]
        leads = dict.fromkeys(places, 0)
        if device.kind == "gpu":
            leads = {(name, n): _lead(partition.homes[name], n, partition.fields[name]) for name, n in places}
        sizes = {
            place: (leads[place] + box.volume * self.fields[place[0]].values, self.fields[place[0]].dtype)
            for place, box in self.boxes.items()
        }
        self.memory = device.arena(sum(Arena.room((size,), dtype) for size, dtype in sizes.values()))
        self.arrays: dict[Place, Array] = {}
        for place, (size, dtype) in sizes.items():
            array, field = self.memory.allocate((size,), dtype)[leads[place] :], self.fields[place[0]]
            self.arrays[place] = _shaped(array, field, self.boxes[place], tiled=self.tile(place[0]) is not None)

    def poison(self) -> None:
        """Fill cells that no message fills (beyond sides of charts, and where other than four charts meet) with NaN,
        which exposes reads before the first write. Integer, constant and private fields are unchanged.
        """
        for name, piece in self.arrays:
            field, home = self.fields[name], self._homes[name]
            if home.region.atlas and np.dtype(field.dtype).kind == "f" and not field.constant and not field.private:
                for box in difference(home.own[piece], home.region.charts):
                    self.view(name, box, piece)[...] = np.nan

    def view(self, name: str, box: Box, piece: int | None = None) -> Array:
        """Return a view of the cells of `box` of one field on a piece, by default the piece that owns them all, or else
        has them as ghost cells. Raises ValueError if none has.
        """
        place = name, self._piece(name, box) if piece is None else piece
        return self.arrays[place][box.slices(self.boxes[place].lo)]

    def read(self, name: str, box: Box) -> Array:
        """Return the values of a field in the cells of `box`: a view, or a copy if the field is stored in tiles."""
        if self.tile(name) is None:
            return self.view(name, box)
        array, cells = self._numbers(name, box)
        values = array[cells]
        return values if values.ndim == 3 else values.swapaxes(2, 3)

    def write(self, name: str, box: Box, values: Array) -> None:
        if self.tile(name) is None:
            self.view(name, box)[...] = values
        else:
            array, cells = self._numbers(name, box)
            array[cells] = values if values.ndim == 3 else values.swapaxes(2, 3)

    def tile(self, name: str) -> Triple | None:
        """Return the tiles in which a field is stored here, or None."""
        return self.fields[name].tile if self._tiled else None

    def _numbers(self, name: str, box: Box) -> tuple[Array, np.ndarray]:
        """Return the memory of a field in tiles, and the positions [z, y, x] of cells in it."""
        place, tile = (name, self._piece(name, box)), self.tile(name)
        assert tile is not None
        return self.arrays[place], tile_order(self.boxes[place].shape, tile)[box.slices(self.boxes[place].lo)]

    def array(self, name: str) -> Array:
        """Return the array of a field on the first piece of its region."""
        return self.arrays[name, self.first[name]]

    def dtype(self, name: str) -> np.dtype:
        return np.dtype(self.array(name).dtype)

    def source(self, name: str, copy: Copy) -> Array:
        """Return the cells that a copy reads, oriented as its target."""
        return seen(self.view(name, copy.source_box, copy.source), copy.axes)

    def target(self, name: str, copy: Copy) -> Array:
        return self.view(name, copy.target_box, copy.target)

    def _piece(self, name: str, box: Box) -> int:
        first, home = self.first[name], self._homes[name]
        if home.pieces is None:
            return first
        mine = [n for field, n in self.boxes if field == name]
        owners = [n for n in mine if any(box in own for own in home.own[n])]
        holders = owners or [n for n in mine if box in home.memory[n]]
        if not holders:
            raise ValueError(f"no piece of this block has memory for {name!r} in {box}")
        return holders[0]

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())


def _shaped(array: Array, field: Field, box: Box, *, tiled: bool) -> Array:
    """Return a flat array as the array of a field over the cells of a box; [cell] or [cell, value] if it is `tiled`."""
    shape = field.shape(box)
    if tiled:
        return array.reshape((box.volume, *shape[2:-1]))
    if field.together and field.values > 1:
        return array.reshape((*shape[:2], shape[3], field.values)).swapaxes(2, 3)
    return array.reshape(shape)


def tile_order(shape: Triple, tile: Triple) -> np.ndarray:
    """Return the positions [z, y, x] in memory of the cells of a shape, tile by tile, as in `Numbered` of stored.h."""
    along = [np.arange(n) for n in shape]
    begin = [at // n * n for at, n in zip(along, tile, strict=True)]
    size = [np.minimum(n, count - at) for n, count, at in zip(tile, shape, begin, strict=True)]
    (x, tx, nx), (y, ty, ny), (z, tz, nz) = (
        tuple(np.expand_dims(part, [other for other in range(3) if other != 2 - axis]) for part in parts)
        for axis, parts in enumerate(zip(along, begin, size, strict=True))
    )
    before: np.ndarray = (tz * shape[1] + ty * nz) * shape[0] + tx * nz * ny
    return before + ((z - tz) * ny + (y - ty)) * nx + (x - tx)


def _lead(home: Partition, piece: int, field: Field) -> int:
    """Return the values to skip before an array so that a piece's own cells begin at a memory line: libraries that need
    such addresses can then work on fields in place.
    """
    if field.private:
        return 0
    memory, first = home.memory[piece], home.parts[piece].lo
    (x, y, z), (nx, ny, _) = (a - b for a, b in zip(first, memory.lo, strict=True)), memory.shape
    return -(x + nx * field.values * (y + ny * z)) % (LINE // np.dtype(field.dtype).itemsize)


def extreme(array: Array, device: Device) -> tuple[Triple, float]:
    """Return the first index x, y, z of an array whose value is not finite, or else the index of largest magnitude, and
    the value. Needs memory for one plane.
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
