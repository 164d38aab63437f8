"""Logical regions: an index space times a field space, without storage or place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import index
from typing import Literal, SupportsIndex

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.runtime.regions.atlas import Atlas, Image, Turn
from taskflow.runtime.regions.box import Box, Triple, periodic_images, triple

Location = Literal["c", "fx", "fy", "fz"]
LOCATIONS: tuple[Location, ...] = ("c", "fx", "fy", "fz")


@dataclass(frozen=True, slots=True)
class Field:
    """Values per cell at the centre (`c`) or on the low face across x, y or z (`fx`, `fy`, `fz`).

    Arrays of a field are C-ordered [z, y, x], or [z, y, value, x].

    Parameters
    ----------
    name : str
    dtype : str
        NumPy type.
    location : {"c", "fx", "fy", "fz"}
    values : int
        Numbers per cell, 1 or more.
    constant : bool
        Written by the host alone, ghost cells included, such as the vertices of a grid. No task writes the field, and
        it is neither exchanged nor stored in checkpoints.
    private : bool
        Read and written in the cell itself alone, such as the factors of a matrix. The field has no ghost cells, and
        the values of a cell are adjacent in memory.
    rows : bool
        A private field whose values are stored in rows along x.
    tile : (int, int, int), optional
        Storage order of a private field on a CPU: tiles of a sweep, powers of two.

    Raises
    ------
    ValueError
        If an argument is invalid, or two of them exclude each other.
    TypeError
        If NumPy does not know `dtype`.
    """

    name: str
    dtype: str = "f8"
    location: Location = "c"
    values: int = 1
    constant: bool = False
    private: bool = False
    rows: bool = False
    tile: Triple | None = None

    def __post_init__(self) -> None:
        if self.location not in LOCATIONS:
            raise ValueError(f"field {self.name!r}: location {self.location!r} is not one of {', '.join(LOCATIONS)}")
        if not whole_number(self.values, 1):
            raise ValueError(f"field {self.name!r}: values = {self.values!r}; give an integer, 1 or more")
        if self.constant and self.private:
            raise ValueError(f"field {self.name!r} is constant, which neighbours may read, and private")
        if self.rows and not self.private:
            raise ValueError(f"field {self.name!r} has rows=True, which only private fields have: others are in rows")
        if self.tile is not None and (self.rows or not self.private):
            raise ValueError(f"field {self.name!r} has a tile, which private fields have that are not in rows")
        if self.tile is not None and not powers_of_two(self.tile):
            raise ValueError(f"field {self.name!r}: tile = {self.tile}; give three powers of two")
        np.dtype(self.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes per cell."""
        return self.values * np.dtype(self.dtype).itemsize

    @property
    def together(self) -> bool:
        """True if the values of a cell are adjacent in memory."""
        return self.private and not self.rows

    def held(self, values: np.ndarray, name: str) -> np.ndarray:
        """Return values as the field stores them: integers exactly, real numbers possibly rounded.

        No copy is made if the type of `values` fits into the type of the field. Raises BadInput, naming the field
        `name`, for a value that the field cannot hold.
        """
        kind, own = values.dtype.kind, np.dtype(self.dtype)
        if np.can_cast(values.dtype, own):
            return values
        if kind not in "biufc" or (kind == "c" and own.kind != "c"):
            cast, wrong = values, np.ones_like(values, np.bool_)
        else:
            with np.errstate(invalid="ignore", over="ignore"):
                cast = values.astype(own)
            wrong = cast != values if own.kind in "biu" else np.isinf(cast) & ~np.isinf(values)
        if wrong.any():
            (first,) = values[wrong][:1].tolist()
            remedy = "fill it with such values, or declare it with another dtype"
            raise BadInput(f"{name} = {first!r}; a field of the type {own} holds {_range(own)}: {remedy}")
        return cast

    def shape(self, box: Box) -> tuple[int, ...]:
        """Return the shape of an array of the field over the cells of a box."""
        nx, ny, nz = box.shape
        return (nz, ny, nx) if self.values == 1 else (nz, ny, self.values, nx)


def whole_number(value: object, least: int) -> bool:
    """Return True if a value is an integer, `least` or more."""
    return isinstance(value, SupportsIndex) and index(value) >= least


def powers_of_two(tile: Triple) -> bool:
    """Return True if a field can be stored in tiles of this shape."""
    return all(n > 0 and n & (n - 1) == 0 for n in tile)


def _range(dtype: np.dtype) -> str:
    if dtype.kind in "iu":
        return f"integers from {np.iinfo(dtype).min} to {np.iinfo(dtype).max}"
    if dtype.kind == "f":
        return f"real numbers up to {np.finfo(dtype).max:.4g}"
    return "True and False" if dtype.kind == "b" else "numbers"


class FieldSpace(Mapping[str, Field]):
    """Fields of a region by name, in order. Raises ValueError for an empty or repeated name."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self._fields: dict[str, Field] = {}
        for field in fields:
            if not field.name:
                raise ValueError("a field has the name ''; give it one of a letter or more")
            if field.name in self._fields:
                raise ValueError(f"field {field.name!r} is declared twice")
            self._fields[field.name] = field

    def __getitem__(self, name: str) -> Field:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"FieldSpace({list(self._fields.values())})"


@dataclass(frozen=True, eq=False)
class Region:
    """Fields over the cells of a box, or of the charts of an atlas (see `charted`).

    A box is an atlas of one chart whose seams are its periods. A program may use several regions.

    Parameters
    ----------
    cells : Box
        Cells of the region. With an atlas, the hull of its charts.
    fields : FieldSpace
    periodic : (bool, bool, bool)
        Directions that wrap around. Across the others each face has `ghost` boundary layers, which tasks write like any
        other cell to impose boundary conditions.
    ghost : int
        Layers of ghost cells.
    scale : (int, int, int)
        Length of a cell along x, y and z, in cells of the finest region.
    atlas : Atlas, optional

    Raises
    ------
    ValueError
        If the region is empty, `ghost` is negative, a scale is below 1, or the atlas has other cells, ghost layers or
        fields on faces.
    """

    cells: Box
    fields: FieldSpace
    periodic: tuple[bool, bool, bool] = (False, False, False)
    ghost: int = 1
    scale: Triple = (1, 1, 1)
    atlas: Atlas | None = None

    def __post_init__(self) -> None:
        if not self.cells:
            raise ValueError(f"a region needs at least one cell in every direction, not {self.cells.shape}")
        if not whole_number(self.ghost, 0):
            raise ValueError(f"the ghost width is {self.ghost!r}; it must be an integer, 0 or more")
        if min(self.scale) < 1:
            raise ValueError(f"the scale is {self.scale}; cells are 1 or more cells of the finest region long")
        if self.atlas is not None and (self.cells, self.ghost, any(self.periodic)) != (
            self.atlas.hull, self.atlas.ghost, False
        ):  # fmt: skip
            raise ValueError("a region on an atlas has its hull, its ghost layers and no periodic directions")
        if self.atlas is not None and (faces := [f.name for f in self.fields.values() if f.location != "c"]):
            raise ValueError(f"{', '.join(faces)}: values on faces of cells cannot cross turned seams; use centres")

    @cached_property
    def charts(self) -> tuple[Box, ...]:
        """Cells of each chart. Without an atlas, the cells of the box."""
        return self.atlas.charts if self.atlas else (self.cells,)

    @property
    def count(self) -> int:
        """Number of cells."""
        return sum(chart.volume for chart in self.charts)

    @cached_property
    def own(self) -> tuple[tuple[Box, ...], ...]:
        """Cells per chart that hold a separate value, as disjoint boxes, interior cells first."""
        return self.atlas.own if self.atlas else ((self.bounds,),)

    def images(self, box: Box) -> list[Image]:
        """Return the cells of `box` as boxes of cells that hold a separate value, with their turns into `box`.

        Cells outside the bounds are unchanged for a box and omitted for an atlas.
        """
        if self.atlas is not None:
            return self.atlas.images(box)
        moved = periodic_images(box, self.cells, self.periodic)
        return [(piece, Turn(shift=shift)) for piece, shift in moved]

    @cached_property
    def margin(self) -> Triple:
        """Boundary layers outside each face, per direction: `ghost`, or 0 if periodic."""
        return triple(0 if p else self.ghost for p in self.periodic)

    @cached_property
    def bounds(self) -> Box:
        """Box of all cells that hold a separate value: interior cells and boundary layers."""
        return self.cells.expand(self.margin, self.margin)

    def corresponding(self, box: Box, other: Region) -> Box:
        """Return the cells of this region that share space with the cells `box` of another region.

        The last cell of the other region may extend past the end of this region; the result ends with this region.
        """
        lo, hi = [], []
        for axis, (mine, theirs) in enumerate(zip(self.scale, other.scale, strict=True)):
            end = -(-box.hi[axis] * theirs // mine)
            lo.append(box.lo[axis] * theirs // mine)
            hi.append(min(end, self.cells.hi[axis]) if box.hi[axis] <= other.cells.hi[axis] else end)
        return Box(triple(lo), triple(hi))


def region(
    cells: Iterable[int], fields: Iterable[str | Field], *, dtype: str = "f8", ghost: int = 1, periodic: str = ""
) -> Region:
    """Create a region whose first cell is (0, 0, 0).

    Parameters
    ----------
    cells : (int, int, int)
        Number of cells along x, y and z.
    fields : iterable of str or Field
        Names stand for fields of `dtype` at cell centres.
    dtype : str
    ghost : int
        Width of the widest stencil, in cells.
    periodic : str
        Letters of the directions that wrap around, such as "xy".

    Returns
    -------
    Region

    Raises
    ------
    BadInput
        If an argument is invalid.
    """
    if not isinstance(periodic, str) or set(periodic) - set("xyz"):
        raise BadInput(f'periodic = {periodic!r} is not some of the letters x, y and z; write "xy" for x and y')
    if isinstance(fields, str):
        raise BadInput(f"fields = {fields!r}; give a list of names: [{fields!r}]")
    try:
        space = FieldSpace(field if isinstance(field, Field) else Field(field, dtype) for field in fields)
        box = Box.of(index(count) for count in cells)
        return Region(box, space, ("x" in periodic, "y" in periodic, "z" in periodic), ghost)
    except (TypeError, ValueError) as error:
        raise BadInput(f"region(cells={cells!r}, fields={fields!r}): {error}") from error


def charted(atlas: Atlas, fields: Iterable[Field]) -> Region:
    """Create a region over the charts of an atlas. Raises ValueError if a name occurs twice."""
    return Region(atlas.hull, FieldSpace(fields), ghost=atlas.ghost, atlas=atlas)
