"""Logical regions: an index space times a field space, which says what is stored per cell and where it lives in the
cell; without storage or place.
"""

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
    """One number per cell, or several `values`, such as the entries of a matrix: at its centre (`c`) or at its low face
    across x, y or z (`fx`, `fy`, `fz`). Arrays of a field are C-ordered [z, y, x], or [z, y, value, x].

    A `constant` field is written by the host alone, ghost cells included, such as the vertices of a grid: no task
    writes it, nothing of it is ever exchanged, and no checkpoint holds it. A `private` field is one that points read
    and write in their own cells alone, such as the factors of a matrix: it has no ghost cells or boundary layers, and
    the values of a cell lie behind each other in memory, whatever its arrays look like, but in `rows` those of a row.
    With a `tile` the memory of a CPU is in the order in which a sweep with such tiles takes it.

    Raises ValueError for a location that is none of these, values that are no whole number above 0, a field that is
    constant and private, in rows and not private, or in tiles and not private or in rows, and for a tile of other
    numbers of cells than powers of two; and TypeError for a dtype that NumPy does not know.
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
            raise ValueError(f"field {self.name!r}: location {self.location!r} is none of {', '.join(LOCATIONS)}")
        if not whole_number(self.values, 1):
            raise ValueError(f"field {self.name!r}: values = {self.values!r}; give a whole number, 1 or more")
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
        """Whether the values of a cell lie behind each other in memory."""
        return self.private and not self.rows

    def held(self, values: np.ndarray, name: str) -> np.ndarray:
        """The values as the field, called `name`, holds them: whole numbers as they are, others maybe rounded. Costs
        nothing where their type cannot hold more than that of the field. Raises BadInput for a value that would become
        another one.
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
        """The shape of an array of the field over the cells of a box."""
        nx, ny, nz = box.shape
        return (nz, ny, nx) if self.values == 1 else (nz, ny, self.values, nx)


def whole_number(value: object, least: int) -> bool:
    """Whether a value is a whole number, `least` or more."""
    return isinstance(value, SupportsIndex) and index(value) >= least


def powers_of_two(tile: Triple) -> bool:
    """Whether a tile has so many cells along x, y and z that a field can be stored by such tiles."""
    return all(n > 0 and n & (n - 1) == 0 for n in tile)


def _range(dtype: np.dtype) -> str:
    """The values of a type."""
    if dtype.kind in "iu":
        return f"whole numbers from {np.iinfo(dtype).min} to {np.iinfo(dtype).max}"
    if dtype.kind == "f":
        return f"real numbers up to {np.finfo(dtype).max:.4g}"
    return "True and False" if dtype.kind == "b" else "numbers"


class FieldSpace(Mapping[str, Field]):
    """The fields of a region by name, in order. Raises ValueError where one has none, or that of another."""

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
    """Fields over the cells of a box, or of the charts of an atlas, whose hull is `cells` then (see `charted`).

    `periodic` directions close on themselves. Across the others the region has `ghost` more layers of cells beyond each
    face, the boundary layers, which tasks write like any other cell to impose boundary conditions. A box is an atlas of
    one chart, whose seams are its periods. A program may use several regions: `scale` says how many cells of the finest
    one a cell of this one is long along x, y and z. Raises ValueError where there is no cell, the ghost width is
    no whole number or negative, a scale is below one, or an atlas has other cells or ghost layers, or fields on faces.
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
            raise ValueError(f"the ghost width is {self.ghost!r}; it must be a whole number, 0 or more")
        if min(self.scale) < 1:
            raise ValueError(f"the scale is {self.scale}; cells are 1 or more cells of the finest region long")
        if self.atlas is not None and (self.cells, self.ghost, any(self.periodic)) != (
            self.atlas.hull, self.atlas.ghost, False
        ):  # fmt: skip
            raise ValueError("a region on an atlas has its hull, its ghost layers and no periodic directions")
        if self.atlas is not None and (faces := [f.name for f in self.fields.values() if f.location != "c"]):
            raise ValueError(f"{', '.join(faces)}: values on faces of cells do not go over turned seams; use centres")

    @cached_property
    def charts(self) -> tuple[Box, ...]:
        """The cells of each chart: those of the box, where the region has no atlas."""
        return self.atlas.charts if self.atlas else (self.cells,)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return sum(chart.volume for chart in self.charts)

    @cached_property
    def own(self) -> tuple[tuple[Box, ...], ...]:
        """Per chart, as disjoint boxes: every cell that can hold a value of its own, cells first."""
        return self.atlas.own if self.atlas else ((self.bounds,),)

    def images(self, box: Box) -> list[Image]:
        """The cells of `box`, cut into boxes of cells that hold a value of their own, each with the turn that takes it
        to where it lies in `box`; cells beyond the bounds of a box stay as they are, of an atlas they are left out.
        """
        if self.atlas is not None:
            return self.atlas.images(box)
        moved = periodic_images(box, self.cells, self.periodic)
        return [(piece, Turn(shift=shift)) for piece, shift in moved]

    @cached_property
    def margin(self) -> Triple:
        """Boundary layers beyond each face, per direction: `ghost`, or 0 where periodic."""
        return triple(0 if p else self.ghost for p in self.periodic)

    @cached_property
    def bounds(self) -> Box:
        """A box with every cell that can hold a value of its own: the cells and the boundary layers."""
        return self.cells.expand(self.margin, self.margin)

    def corresponding(self, box: Box, other: Region) -> Box:
        """The cells of this region that share space with the cells `box` of another one. Where the last cell of that
        is larger than what is left here, it ends with this region.
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
    """Fields over so many cells along x, y and z, the first of which is the cell (0, 0, 0).

    `fields` are names, of fields of `dtype`, or Fields. `ghost` is the width of the widest stencil. `periodic` has the
    letters of the directions that close on themselves: "xy". Raises BadInput where there is no such region.
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
    """Fields over the charts of an atlas. Raises ValueError where a name occurs twice."""
    return Region(atlas.hull, FieldSpace(fields), ghost=atlas.ghost, atlas=atlas)
