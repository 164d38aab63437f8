"""Layout of a store, fixed before anything is written: charts, fields, and the cells of each block. A box is one chart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from math import ceil, gcd, log2, prod
from typing import Any, Literal

import numpy as np

from taskflow.runtime.regions import Box, Location, Triple, complete, triple

CHUNK_BYTES = 16 * 2**20  # loaded and unpacked by a reader for one value

Vector = tuple[float, float, float]
Places = tuple[float, ...]
Edges = tuple[Places | None, Places | None, Places | None]


@dataclass(frozen=True)
class FieldMetadata:
    """Metadata of a stored field: description, units, and location in a cell.

    `location`: centre ("c") or low face across x, y or z ("fx", "fy", "fz"). `cell_methods`: of an average, as in CF.
    `expression`: the formula of a derived field.
    """

    long_name: str
    units: str = "1"
    location: Location = "c"
    cell_methods: str | None = None
    expression: str | None = None

    def dim(self, axis: str) -> str:
        """Return the dimension of the field along an axis, such as x_c or x_f."""
        return f"{axis}_{'f' if self.location == f'f{axis}' else 'c'}"


CENTRED = FieldMetadata("")  # default location


@dataclass(frozen=True)
class ArrayLayout:
    """Storage of a `field`'s records [time, z, y, x]: dimensions, points, the pieces that a block writes, and shards of
    pieces that a host writes.
    """

    field: str
    dims: tuple[str, str, str]
    shape: tuple[int, int, int]
    piece: tuple[int, int, int]
    shard: tuple[int, int, int]

    @property
    def files(self) -> int:
        """The number of shards of a record."""
        return prod(-(-n // width) for n, width in zip(self.shape, self.shard, strict=True))

    def chunk(self, dtype: np.dtype) -> tuple[int, int, int]:
        """Return the shape of separately packed chunks, which divides `piece`."""
        return divide(self.piece, CHUNK_BYTES // dtype.itemsize)


@dataclass(frozen=True, kw_only=True)
class RecordsLayout(ABC):
    """Group of the store that gets records of all fields repeatedly, on charts: boxes of cells in one index space.

    `fields`: metadata by name. `blocks`: the cells of each block in that space, by default of a single one. `hosts`:
    the number of the host of each block, by default a different one for each. Values are stored in a `precision`,
    rounded to a `relative_error` if given. `slots`: number of records to make room for. `group`: its name, "" for the
    snapshots. `time`: description of the time of a record. `columns`: attributes of the numbers of each record, by
    name. Raises ValueError if the blocks do not have every cell of the charts once, or `slots` is below 1.
    """

    fields: Mapping[str, FieldMetadata]
    blocks: tuple[tuple[Box, ...], ...] = ()
    hosts: tuple[int, ...] = ()
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
        if not self.blocks:
            object.__setattr__(self, "blocks", (self.charts,))
        if not self.hosts:
            object.__setattr__(self, "hosts", tuple(range(len(self.blocks))))
        _check_complete(self.charts, self.blocks)

    @property
    @abstractmethod
    def charts(self) -> tuple[Box, ...]:
        """Cells of each chart in the index space of the blocks."""

    @property
    def dtype(self) -> np.dtype:
        return np.dtype("f4" if self.precision == "single" else "f8")

    @property
    def kept_bits(self) -> int | None:
        """Bits kept of a rounded fraction, for an error of at most 2^-(bits + 1), or None for all."""
        if self.relative_error is None:
            return None
        bits = max(1, ceil(-log2(self.relative_error)) - 1)
        return bits if bits < np.finfo(self.dtype).nmant else None

    @property
    @abstractmethod
    def arrays(self) -> dict[str, ArrayLayout]:
        """Arrays with records, by their paths in the group."""

    def array(self, field: str, dims: tuple[str, str, str], shape: tuple[int, int, int], chart: int = 0) -> ArrayLayout:
        """Return the layout of an array [z, y, x] of a field on a chart."""
        cuts, widths = _cuts(self.charts[chart], self.blocks, self.hosts)
        piece = triple(cut or n for cut, n in zip(cuts[::-1], shape, strict=True))
        shard = triple(-(-min(w, n) // p) * p for w, n, p in zip(widths[::-1], shape, piece, strict=True))
        return ArrayLayout(field, dims, shape, piece, shard)


@dataclass(frozen=True, kw_only=True)
class StoreLayout(RecordsLayout):
    """Staggered grid, the fields on it, and the blocks that write them.

    `cells`, `lengths`, `origin`, `periodic` and `edges` are in the order x, y, z, and arrays in the order z, y, x. A
    direction with `edges` has its n + 1 faces there, others are uniform. In the layout of a part, `first` is the number
    of its first cell in the `whole`.
    """

    cells: Triple
    lengths: Vector
    origin: Vector = (0.0, 0.0, 0.0)
    periodic: tuple[bool, bool, bool] = (False, False, False)
    edges: Edges = (None, None, None)
    whole: StoreLayout | None = None
    first: Triple = (0, 0, 0)

    @property
    def charts(self) -> tuple[Box, ...]:
        return (Box.of(self.cells).shift(self.first),)

    def layer(self, axis: int, index: int) -> StoreLayout:
        """Return the layout of the layer of cells number `index` across an axis, with their low faces."""

        def changed(values: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
            return (*values[:axis], value, *values[axis + 1 :])

        return replace(
            self,
            whole=self,
            cells=changed(self.cells, 1),
            periodic=changed(self.periodic, True),
            first=changed(self.first, index),
        )

    def dims(self, field: str) -> tuple[str, str, str]:
        """Return the dimensions of a field in space, such as (z_c, y_c, x_f)."""
        return triple(map(self.fields.get(field, CENTRED).dim, "zyx"))

    def size(self, dim: str) -> int:
        """Return the points along a dimension: n centres, n + 1 faces between walls, n left faces if periodic."""
        axis = "xyz".index(dim[0])
        return self.cells[axis] + (dim.endswith("_f") and not self.periodic[axis])

    def shape(self, field: str) -> tuple[int, int, int]:
        """Return the number of points of a field in each direction."""
        return triple(map(self.size, self.dims(field)))

    @property
    def arrays(self) -> dict[str, ArrayLayout]:
        return {name: self.array(name, self.dims(name), self.shape(name)) for name in self.fields}

    def coordinate(self, dim: str) -> np.ndarray:
        """Return the positions along a dimension in float64, exact at both walls."""
        axis = "xyz".index(dim[0])
        if self.whole is not None:
            return self.whole.coordinate(dim)[self.first[axis] :][: self.size(dim)]
        if edges := self.edges[axis]:
            faces = np.array(edges)
            return faces[: self.size(dim)] if dim.endswith("_f") else (faces[:-1] + faces[1:]) / 2
        places = np.arange(self.size(dim)) + (0.5 if dim.endswith("_c") else 0.0)
        return self.origin[axis] + self.lengths[axis] * places / self.cells[axis]

    def metric(self, dim: str) -> np.ndarray:
        """Return the cell sizes along an axis for centres, or the distances between centres for faces."""
        axis = "xyz".index(dim[0])
        if self.whole is not None:
            return self.whole.metric(dim)[self.first[axis] :][: self.size(dim)]
        if edges := self.edges[axis]:
            sizes = np.diff(np.array(edges))
        else:
            sizes = np.full(self.cells[axis], self.lengths[axis] / self.cells[axis])
        return sizes if dim.endswith("_c") else between_centres(sizes, self.periodic[axis])


@lru_cache(maxsize=64)
def _cuts(chart: Box, blocks: tuple[tuple[Box, ...], ...], hosts: tuple[int, ...]) -> tuple[Triple, Triple]:
    """Return the widths, in cells along x, y and z, of the pieces of an array on a chart that a single block writes,
    and of the shards that a single host writes.

    Pieces are the coarsest regular grid on which every block's part starts, 0 along a direction that is not cut. A
    block is one such piece if all blocks except the last are equally wide. Face n of the last may be another piece.
    Shards are the largest boxes of pieces that begin regularly and have a single host each.
    """
    parts = [
        ((chart & cells).shift(triple(-n for n in chart.lo)), host)
        for block, host in zip(blocks, hosts, strict=True) for cells in block if chart.meets(cells)
    ]  # fmt: skip
    cuts = triple(gcd(*(part.lo[a] for part, _ in parts)) for a in range(3))
    volumes = Counter[int]()
    for part, host in parts:
        volumes[host] += part.volume
    most = max(volumes.values())
    whole = triple(n + 1 for n in chart.shape)  # with the last face
    begins = ({part.lo[a] or whole[a] for part, _ in parts} | {cuts[a] or whole[a]} for a in range(3))
    sizes = {widths: prod(map(min, widths, chart.shape)) for widths in product(*begins)}
    fitting = sorted((widths for widths, size in sizes.items() if size <= most), key=lambda w: (sizes[w], w))
    return cuts, triple(next(widths for widths in reversed(fitting) if one_host_each(widths, parts)))  # or `cuts`


def one_host_each(widths: Sequence[int], parts: Iterable[tuple[Box, int]]) -> bool:
    """Return True if each shard of these widths has points of a single host, given boxes with their host."""
    hosts: dict[tuple[int, ...], int] = {}
    return all(
        hosts.setdefault(number, host) == host
        for box, host in parts
        for number in product(*(range(lo // w, -(-hi // w)) for lo, hi, w in zip(box.lo, box.hi, widths, strict=True)))
    )


@lru_cache(maxsize=8)
def _check_complete(charts: tuple[Box, ...], blocks: tuple[tuple[Box, ...], ...]) -> None:
    """Raise ValueError if the blocks do not have every cell of the charts once."""
    for number, chart in enumerate(charts):
        own = [chart & cells for block in blocks for cells in block if chart.meets(cells)]
        if not complete(own, [chart]):
            raise ValueError(f"the blocks have {own}, not the {chart.shape} cells of chart {number}, each once")


def between_centres(sizes: np.ndarray, periodic: bool) -> np.ndarray:
    """Return the distance between the centres on both sides of each face, for cells of these sizes along an axis.

    At a wall it is half a cell, from the wall to the first centre, as with an outer cell of zero width. The difference
    to a wall value over it is then the derivative in the equations, and the distances sum to the length of the domain.
    This also holds in a periodic direction, which has no last face.
    """
    around = np.concatenate([sizes[-1:], sizes] if periodic else [[0.0], sizes, [0.0]])
    return (around[1:] + around[:-1]) / 2


def divide(shape: tuple[int, int, int], most: int) -> tuple[int, int, int]:
    """Return the largest piece of at most `most` elements that tiles `shape`, preferring length in x."""
    divisors = [[d for d in range(1, n + 1) if n % d == 0] for n in shape]
    fitting = (piece for piece in product(*divisors) if prod(piece) <= most)
    z, y, x = max(fitting, key=lambda piece: (prod(piece), piece[2], piece[1]))
    return z, y, x
