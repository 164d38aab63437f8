"""Pictures that are drawn during a run: [[pictures]]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Annotated, Any

from taskflow.cases.formulas.values import checked, number, tuple_of, whole
from taskflow.cases.language.problems import Problem, exclusive, missing, names_differ, numbered, wrong
from taskflow.cases.language.table import Number, Text, Truth, Vector, entry, optional, reads
from taskflow.cases.tables.control import Interval
from taskflow.cases.tables.grid import GridTable
from taskflow.cases.tables.probes import Across, GroupName, plane_is_inside
from taskflow.cases.timing.intervals import Every
from taskflow.common.derived_names import SPEED, WORDS
from taskflow.common.errors import BadInput

ACROSS = "a slice across this direction, through the nearest layer of cell centres"
_NUMBERS = "give two numbers, the lower one first, as [0.0, 1.5]"


_range = checked(tuple_of(number, 2, _NUMBERS), lambda ends: ends[0] < ends[1], _NUMBERS)
_size = tuple_of(whole, 2, "give width and height in points of the screen, as [1280, 720]")


class PictureTable(Across):
    """A picture of a slice, or of a surface on which a field has a value, drawn again and again."""

    name: GroupName = entry(
        "of its files, `pictures/NAME_STEP.png`",
        remedy="give the name of its files",
    )
    x: Number | None = optional(ACROSS)
    y: Number | None = optional(ACROSS)
    z: Number | None = optional(ACROSS)
    isosurface: Text | None = optional("instead of a slice: the isosurface of this field at `value`")
    value: Number | None = optional("of the field on the surface", otherwise="required with `isosurface`")
    field: Text = entry(
        "drawn on the slice or colouring the isosurface: a field, or a [derived one](#derived-fields)", SPEED
    )
    every: Interval = entry("interval of records, time 0 included", Every(steps=100))
    range: Annotated[tuple[float, float] | None, reads(_range)] = optional(
        "of the colours, the lower end first", otherwise="the range in each picture"
    )
    log: Truth = entry("logarithmic colours", False)
    cmap: Text | None = optional("colour map, a name of matplotlib", otherwise="as for `taskflow plot`")
    size: Annotated[tuple[int, int] | None, reads(_size)] = optional(
        "width and height in pixels", otherwise="as the domain needs, 1024 x 768 for surfaces"
    )
    view: Vector = entry("of a surface: vector from the domain to the eye, z is up", (1.0, -1.5, 0.8))

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        needed = missing("z", "give x, y or z, where a slice is, or an isosurface")
        yield from exclusive(values, "x", "y", "z", "isosurface", needed=needed)
        surface, level = values.get("isosurface"), values.get("value")
        if surface is not None and level is None:
            yield missing("value", "give the value of the field on the surface, a number")
        if surface is None and level is not None:
            yield wrong("value", level, "a slice has none; give isosurface, or omit it")

    @property
    def fields(self) -> tuple[str, ...]:
        """The field that is drawn, and the one whose surface that is."""
        return tuple(dict.fromkeys((self.field, *((self.isosurface,) if self.isosurface is not None else ()))))


Pictures = tuple[PictureTable, ...]


def _pictures_have_names_and_fields(recordable: tuple[str, ...], pictures: Pictures) -> Iterator[Problem]:
    known = dict.fromkeys((*recordable, *WORDS))
    yield from names_differ(set(), numbered(pictures=pictures), "another picture has this name; give another name")
    for key, picture in numbered(pictures=pictures):
        for name, asked in (("field", picture.field), ("isosurface", picture.isosurface)):
            if asked is not None and asked not in known:
                yield wrong((*key, name), asked, f"unknown field; give one of {', '.join(known)}")


def _slices_are_inside(grid: GridTable, pictures: Pictures) -> Iterator[Problem]:
    for key, picture in numbered(pictures=pictures):
        if picture.isosurface is None:
            yield from plane_is_inside(grid, key, picture)
        elif 1 in grid.cells:
            remedy = "a surface needs two cells in each direction; give x, y or z: where a slice is"
            yield wrong((*key, "isosurface"), picture.isosurface, remedy)


def _colours_are_there(pictures: Pictures) -> Iterator[Problem]:
    """Yield a problem for what `taskflow plot` refuses; matplotlib is loaded only for pictures."""
    for key, picture in numbered(pictures=pictures):
        from taskflow.plots.look import Look

        for name, value in (("cmap", picture.cmap), ("size", picture.size)):
            try:
                Look(**{name: value})
            except BadInput as error:
                yield wrong((*key, name), value, str(error).partition(": ")[2])
        if picture.log and picture.range is not None and picture.range[0] <= 0:
            yield wrong((*key, "range"), picture.range, "colours are logarithmic; give a lower end above 0")
        if not any(picture.view):
            yield wrong((*key, "view"), picture.view, "give a direction")


PictureTable.rules = (_pictures_have_names_and_fields, _slices_are_inside, _colours_are_there)


def check_libraries(pictures: Pictures) -> None:
    """Raises BadInput where a picture needs a library that is not installed here."""
    for key, picture in numbered(pictures=pictures):
        if picture.isosurface is not None and find_spec("pyvista") is None:
            where = f"{key[0]}{key[1]}.isosurface = {picture.isosurface}"
            raise BadInput(f'{where}: it needs pyvista, which is not installed: pip install "taskflow-cfd[pictures]"')
