"""Body-fitted cells: [grid] of a case on charts, a shape by formula or a file of another program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, PrivateAttr, WithJsonSchema

from taskflow.cases.formulas.values import text
from taskflow.cases.language.problems import Key, Problem, no_such_side, present, shown, wrong
from taskflow.cases.language.table import Positive, Table, Text, entry, optional, reads, written
from taskflow.cases.tables.charts.openings import ChartOpenings
from taskflow.common.errors import BadArgument, BadInput
from taskflow.geometry.grids import (
    CGNS,
    SHAPES,
    BadGrid,
    Gap,
    GridShape,
    MultiBlockGrid,
    Patch,
    gaps,
    map_beside,
    read_grid,
    shape,
)
from taskflow.geometry.grids.multiblock.opening import opened
from taskflow.geometry.grids.multiblock.plane import upright
from taskflow.runtime.regions import Triple

PLAIN = "box"  # the shape where none is named
OF_FILES = ("map", "scale")
NAMES = {"type": "object", "additionalProperties": {"type": "string"}}


def _renames(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping | tuple):
        raise BadInput('give a table of names, as { k_min_1 = "wing" }')
    return tuple((text(old), text(new)) for old, new in dict(value).items())


class BodyFittedGrid(Table):
    """Body-fitted cells in one or several charts. The keys of its shape are further keys."""

    model_config = ConfigDict(extra="allow")
    _openings: ChartOpenings = PrivateAttr(())

    shape: Text | None = optional(
        "a shape by formula, with its keys in this table",
        otherwise=f"`{PLAIN}`, without a `file`",
    )
    file: Text | None = optional(
        "instead of a shape: a file relative to the case file. `.cgns` is CGNS, other names are PLOT3D, text or binary"
    )
    map: Text | None = optional(
        "the neutral map of a PLOT3D file, with its seams and sides",
        otherwise="the map of the same name next to the file. Without a map, seams are found from coincident faces",
    )
    scale: Positive = entry("factor applied to the lengths in that file", 1.0)
    sides: Annotated[tuple[tuple[str, str], ...], reads(_renames), WithJsonSchema(NAMES)] = entry(
        'new names of sides, as `{ k_min_1 = "wing" }`. Sides of the same name become one side',
        (),
        otherwise="unchanged",
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        file = values.get("file")
        if file is None:
            for key in present(values, *OF_FILES):
                yield wrong(key, values[key], "it belongs to a file; omit it, or give grid.file")
            yield from _shape_problems(values)
        else:
            for key, value in values.items():
                if key not in ("file", "sides", *OF_FILES):
                    yield wrong(key, value, "the file has the cells; omit it, or grid.file")
            if isinstance(file, str) and file.lower().endswith(CGNS) and values.get("map") is not None:
                yield wrong("map", values["map"], "a CGNS file has its own seams and sides; omit it")

    @classmethod
    def as_schema(cls, made: dict[str, Any]) -> dict[str, Any]:
        """Return the schema, with the keys of each shape next to its name."""
        keys, forms = made["properties"], []
        for name, kind in SHAPES.items():
            own = {"shape": {**keys["shape"], "anyOf": [{"const": name}]}, "sides": keys["sides"]}
            for key in kind.entries():
                own[key.name] = {**key.kind.schema, "description": key.meaning}
            required = [key.name for key in kind.entries() if key.default is MISSING] + ["shape"] * (name != PLAIN)
            forms.append({"type": "object", "properties": own, "required": required, "additionalProperties": False})
        files = {name: key for name, key in keys.items() if name != "shape"}
        forms.append({"type": "object", "properties": files, "required": ["file"], "additionalProperties": False})
        return {"anyOf": forms, "title": made["title"], "description": made["description"]}

    @classmethod
    def paths(cls) -> list[Key]:
        """Return the keys of this table and of all shapes."""
        keys = dict.fromkeys(entry.name for kind in SHAPES.values() for entry in kind.entries())
        return [*super().paths(), *((name,) for name in keys)]

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        """With all keys of the shape."""
        if values.get("file") is not None or _named(values) is None:
            return values
        try:
            form = _shape(values)
        except BadInput:
            return values
        entries = {key.name: getattr(form, key.name) for key in form.entries()}
        return {**values, "shape": form.shape, **{name: value for name, value in entries.items() if value is not None}}

    def written(self) -> dict[str, Any]:
        values = {name: written(value) for name, value in self if value is not None and name != "sides"}
        if self.file is None:
            del values["scale"]
        return {**values, "sides": dict(self.sides)} if self.sides else values

    def completed(self, tables: Mapping[str, Any]) -> BodyFittedGrid:
        """Return the grid with the openings of a case, which become sides."""
        copied = self.model_copy()
        copied._openings = tables["openings"]
        return copied

    def grid(self) -> MultiBlockGrid:
        """The grid. Raises BadInput, or BadGrid with all that is wrong with it."""
        values = tuple((name, value) for name, value in self if value is not None and name != "sides")
        made = _renamed(_made(values, tuple(_stamp(path) for path in self.files)), self.sides)
        return _opened(made, self._openings) if self._openings else made

    def gaps(self) -> list[Gap]:
        """Return faces that may have been meant to coincide, without a map that decides."""
        return gaps(self.grid()) if self.file and len(self.files) == 1 else []

    @property
    def room(self) -> Triple:
        return 1, 1, self.grid().cells

    @property
    def key_text(self) -> str:
        return f"grid.file = {shown(self.file)}" if self.file else f"grid.shape = {shown(self.shape)}"

    @property
    def size(self) -> str:
        made = self.grid()
        charts = len(made.charts)
        return f"{made.cells:,} cells in {charts} chart{'s' * (charts > 1)}"

    @property
    def count(self) -> int:
        return self.grid().cells

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the file and its map if the grid is from a file, else the files of its shape."""
        if self.file is None:
            return _shape(dict(self)).files
        path = Path(self.file)
        beside = Path(self.map) if self.map else map_beside(path)
        return (path, beside) if beside else (path,)


def _named(values: Mapping[str, Any]) -> str | None:
    """The name of the shape; None if it is not a name, which is reported for its key."""
    try:
        return text(PLAIN if values.get("shape") is None else values["shape"])
    except BadInput:
        return None


def _shape(values: Mapping[str, Any]) -> GridShape:
    keys = {name: value for name, value in values.items() if name not in BodyFittedGrid.model_fields}
    return shape(_named(values) or PLAIN, keys)


def _shape_problems(values: Mapping[str, Any]) -> Iterator[Problem]:
    if _named(values) is None:
        return
    try:
        _shape(values)
    except BadGrid as error:
        yield from (_keyed(problem) for problem in error.problems)
    except BadInput as error:  # too many cells for this machine
        yield wrong("cells", values.get("cells"), str(error).partition(": ")[2])


def _keyed(problem: BadInput) -> Problem:
    if not isinstance(problem, BadArgument):
        return Problem(("cells",), str(problem))
    about = f"{problem.problem.removeprefix(':').strip()}; " if problem.problem else ""
    return Problem((problem.parameter,), f"{about}{problem.remedy}", problem.value)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=2)
def _made(values: tuple[tuple[str, Any], ...], stamps: tuple[tuple[int, int], ...]) -> MultiBlockGrid:
    """The grid of these keys, and of files with these times and sizes."""
    keys = dict(values)
    if "file" not in keys:
        return upright(_shape(keys).grid())
    table = BodyFittedGrid(**keys)
    path, *beside = table.files
    return upright(read_grid(path, beside[0] if beside else None, table.scale))


@lru_cache(maxsize=2)
def _renamed(grid: MultiBlockGrid, names: tuple[tuple[str, str], ...]) -> MultiBlockGrid:
    sides: dict[str, tuple[Patch, ...]] = {}
    for name, patches in grid.sides.items():
        new = dict(names).get(name, name)
        sides[new] = (*sides.get(new, ()), *patches)
    return replace(grid, sides=sides) if names else grid


@lru_cache(maxsize=2)
def _opened(grid: MultiBlockGrid, openings: ChartOpenings) -> MultiBlockGrid:
    return opened(grid, [opening.part for opening in openings])


def made(table: BodyFittedGrid) -> MultiBlockGrid | None:
    """The grid, where it can be made."""
    return None if any(grid_can_be_made(table)) else table.grid()


def grid_can_be_made(grid: BodyFittedGrid) -> Iterator[Problem]:
    """Yield the problems of files and vertices, and unknown names of sides."""
    key = ("grid", "file") if grid.file else ("grid",)
    try:
        whole = grid.model_copy(update={"sides": ()}).grid()
    except BadGrid as error:
        yield from (Problem(key, f"{problem}") for problem in error.problems)
        return
    except BadInput as error:
        yield Problem(key, f"{error}")
        return
    for old, new in grid.sides:
        if old not in whole.sides:
            yield wrong(("grid", "sides", old), new, no_such_side(old, whole.sides))


BodyFittedGrid.rules = (grid_can_be_made,)
