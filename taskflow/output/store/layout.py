"""The layout of a store, known before anything is written: grid, fields, and which block writes which piece."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from math import ceil, gcd, log2, prod
from typing import Any, Literal

import numpy as np

from taskflow.runtime.regions import Box, Location, triple

CHUNK_BYTES = 16 * 2**20  # what a reader has to load and unpack for one value

Vector = tuple[float, float, float]
Places = tuple[float, ...]
Edges = tuple[Places | None, Places | None, Places | None]


@dataclass(frozen=True)
class FieldMetadata:
    """The meaning of a stored field: its name in words, its units, and where in a cell its values live, in the centre
    ("c") or on the low face across x, y or z ("fx", "fy", "fz"). An average says of what in `cell_methods`, as CF does,
    and what a case computes by which `expression`.
    """

    long_name: str
    units: str = "1"
    location: Location = "c"
    cell_methods: str | None = None
    expression: str | None = None

    def dim(self, axis: str) -> str:
        """Return the dimension of the field along an axis, such as x_c or x_f."""
        return f"{axis}_{'f' if self.location == f'f{axis}' else 'c'}"


CENTRED = FieldMetadata("")  # the location of what nobody has described


@dataclass(frozen=True)
class ArrayLayout:
    """How the records of a `field` are stored in an array [time, z, y, x]: its dimensions in space, its number of
    points along them, and the shape of its shards, which one block writes alone.
    """

    field: str
    dims: tuple[str, str, str]
    shape: tuple[int, int, int]
    shard: tuple[int, int, int]

    def chunk(self, dtype: np.dtype) -> tuple[int, int, int]:
        """Return the shape of the pieces that are packed and read alone: divides `shard`."""
        return divide(self.shard, CHUNK_BYTES // dtype.itemsize)


@dataclass(frozen=True, kw_only=True)
class RecordsLayout(ABC):
    """A group of the store, which gets a record of all fields again and again.

    `fields` has the metadata of each field by name. Values are stored in a `precision`, rounded to a `relative_error`
    if that is given. `slots` is how many records are foreseen. `group` is the name of the group, "" that of the
    snapshots. `time` says in words what the time of a record is; `columns` are the numbers that come with each record,
    by name, with their attributes.
    Raises ValueError where there is no slot.
    """

    fields: Mapping[str, FieldMetadata]
    precision: Literal["single", "double"] = "single"
    compression: Literal["lz4", "zstd", "none"] = "lz4"
    relative_error: float | None = None
    slots: int = 8
    group: str = ""
    time: str = "time"
    columns: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.slots < 1:
            raise ValueError(f"a store needs at least one slot, not {self.slots}")

    @property
    def dtype(self) -> np.dtype:
        return np.dtype("f4" if self.precision == "single" else "f8")

    @property
    def kept_bits(self) -> int | None:
        """Bits kept of a rounded number's fraction, for an error of at most 2^-(bits + 1); None where all are."""
        if self.relative_error is None:
            return None
        bits = max(1, ceil(-log2(self.relative_error)) - 1)
        return bits if bits < np.finfo(self.dtype).nmant else None

    @property
    @abstractmethod
    def arrays(self) -> dict[str, ArrayLayout]:
        """The arrays with records, by their paths in the group."""


@dataclass(frozen=True, kw_only=True)
class StoreLayout(RecordsLayout):
    """A staggered grid, the fields on it, and the blocks that write them.

    `cells`, `lengths`, `origin`, `periodic`, `edges` and `starts` are in the order x, y, z; arrays have the order
    z, y, x. A direction that has `edges` has its n + 1 faces there; the others are uniform. `starts` holds, per
    direction, the first cell of each block. `first` is the number that the first cell has in the `whole`, where this is
    the layout of a part.
    Raises ValueError where the blocks do not start at 0 and increase, or there is no slot.
    """

    cells: tuple[int, int, int]
    lengths: Vector
    origin: Vector = (0.0, 0.0, 0.0)
    periodic: tuple[bool, bool, bool] = (False, False, False)
    edges: Edges = (None, None, None)
    starts: tuple[tuple[int, ...], ...] = ((0,), (0,), (0,))
    whole: StoreLayout | None = None
    first: tuple[int, int, int] = (0, 0, 0)

    def __post_init__(self) -> None:
        for starts, cells in zip(self.starts, self.cells, strict=True):
            if starts[0] != 0 or any(a >= b for a, b in pairwise((*starts, cells))):
                raise ValueError(f"blocks starting at {starts} do not cut {cells} cells")
        super().__post_init__()

    def layer(self, axis: int, index: int) -> StoreLayout:
        """Return the layer of cells number `index` across an axis, each with its low face there."""

        def changed(values: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
            return (*values[:axis], value, *values[axis + 1 :])

        return replace(
            self,
            whole=self,
            cells=changed(self.cells, 1),
            periodic=changed(self.periodic, True),
            starts=changed(self.starts, (0,)),
            first=changed(self.first, index),
        )

    def dims(self, field: str) -> tuple[str, str, str]:
        """Return the dimensions of a field in space, such as (z_c, y_c, x_f)."""
        return triple(map(self.fields.get(field, CENTRED).dim, "zyx"))

    def size(self, dim: str) -> int:
        """Return the number of points along a dimension: n centres; n + 1 faces between walls, n left faces where
        periodic.
        """
        axis = "xyz".index(dim[0])
        return self.cells[axis] + (dim.endswith("_f") and not self.periodic[axis])

    def shape(self, field: str) -> tuple[int, int, int]:
        """Return the number of points of a field in each direction."""
        return triple(map(self.size, self.dims(field)))

    def shard(self, field: str) -> tuple[int, int, int]:
        """Return the shape of the pieces that one block writes alone: those of the coarsest regular grid on which every
        block starts.

        A block is one such piece where all blocks but the last are equally wide; face n of the last may be one more.
        """
        return triple(gcd(*self.starts["xyz".index(dim[0])]) or self.size(dim) for dim in self.dims(field))

    @property
    def arrays(self) -> dict[str, ArrayLayout]:
        return {name: ArrayLayout(name, self.dims(name), self.shape(name), self.shard(name)) for name in self.fields}

    def coordinate(self, dim: str) -> np.ndarray:
        """Return the positions along a dimension, float64; both walls are met exactly."""
        axis = "xyz".index(dim[0])
        if self.whole is not None:
            return self.whole.coordinate(dim)[self.first[axis] :][: self.size(dim)]
        if edges := self.edges[axis]:
            faces = np.array(edges)
            return faces[: self.size(dim)] if dim.endswith("_f") else (faces[:-1] + faces[1:]) / 2
        places = np.arange(self.size(dim)) + (0.5 if dim.endswith("_c") else 0.0)
        return self.origin[axis] + self.lengths[axis] * places / self.cells[axis]

    def metric(self, dim: str) -> np.ndarray:
        """Return the size of each cell along the axis of centres, or at each face the distance between centres."""
        axis = "xyz".index(dim[0])
        if self.whole is not None:
            return self.whole.metric(dim)[self.first[axis] :][: self.size(dim)]
        if edges := self.edges[axis]:
            sizes = np.diff(np.array(edges))
        else:
            sizes = np.full(self.cells[axis], self.lengths[axis] / self.cells[axis])
        return sizes if dim.endswith("_c") else between_centres(sizes, self.periodic[axis])


def between_centres(sizes: np.ndarray, periodic: bool) -> np.ndarray:
    """Return the distance between the centres on both sides of each face, of cells of these sizes along an axis.

    At a wall it is the distance from the wall to the first centre, half a cell, as if a cell of no width were behind
    it: then the difference to a value on the wall, divided by it, is that of the equations, and the sum of all
    distances is the length of the domain, as it is with a periodic direction, which has no last face.
    """
    around = np.concatenate([sizes[-1:], sizes] if periodic else [[0.0], sizes, [0.0]])
    return (around[1:] + around[:-1]) / 2


def starts_of(blocks: Iterable[Box]) -> tuple[tuple[int, ...], ...]:
    """Return the first cells of the blocks of a partition, per direction, as a StoreLayout wants them."""
    corners = [block.lo for block in blocks]
    return tuple(tuple(sorted({corner[axis] for corner in corners})) for axis in range(3))


def divide(shape: tuple[int, int, int], most: int) -> tuple[int, int, int]:
    """Return the largest piece of at most `most` elements that tiles `shape`; of equal ones the longest in x."""
    divisors = [[d for d in range(1, n + 1) if n % d == 0] for n in shape]
    fitting = (piece for piece in product(*divisors) if prod(piece) <= most)
    z, y, x = max(fitting, key=lambda piece: (prod(piece), piece[2], piece[1]))
    return z, y, x
