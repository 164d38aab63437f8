"""The pictures of a case: what blocks leave for each, how often, and how the process that draws it has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.formula import Formula
from taskflow.output import FieldMetadata
from taskflow.output.pictures import PictureOrder
from taskflow.runtime.regions import Box, Location
from taskflow.simulation.case import Case
from taskflow.simulation.case.pictures import SPEED, PictureTable
from taskflow.simulation.field_expression import FieldExpression
from taskflow.simulation.schedule import Every

VELOCITY = ("u", "v", "w")
CENTRED = "centre_"  # how the role of a velocity in cell centres begins
FORMULAS = {SPEED: "sqrt(u*u + v*v + w*w)", **{CENTRED + name: name for name in VELOCITY}}
LEAST, MOST, VALUES = 2, 16, 2**25  # states of a picture that may wait to be drawn: so many, of so many values


@dataclass(frozen=True)
class Picture:
    """A picture as blocks know it: its name, the fields by role and the cells that it is made of, how often, and how
    many may wait to be drawn.
    """

    name: str
    roles: tuple[str, ...]
    cells: Box
    every: Every
    most: int


def pictured(case: Case) -> dict[str, Formula | None]:
    """The formulas of the fields in cell centres that pictures need and a case has not, by role."""
    known = {*case.recordable}
    roles = {_role(name, known) for picture in case.pictures for name in picture.fields} & FORMULAS.keys()
    return {role: FieldExpression(FORMULAS[role], case.fields).formula for role in sorted(roles - known)}


def pictures_of(case: Case) -> tuple[Picture, ...]:
    """The pictures of a case."""
    known, pictures = {*case.recordable}, []
    for table in case.pictures:
        roles = tuple(_role(name, known) for name in table.fields)
        cells = _cells(table, case.staggered)
        most = max(LEAST, min(MOST, VALUES // (cells.volume * len(roles))))
        pictures.append(Picture(table.name, roles, cells, table.every, most))
    return tuple(pictures)


def orders_of(case: Case, owned: Sequence[Box], metadata: Mapping[str, FieldMetadata]) -> list[PictureOrder]:
    """The pictures of a case as they are drawn, of blocks that own these cells."""
    orders = []
    for table, picture in zip(case.pictures, pictures_of(case), strict=True):
        surface = table.isosurface is not None
        words = {role: _words(name, metadata) for role, name in zip(picture.roles, table.fields, strict=True)}
        nx, ny, nz = (high - low for low, high in zip(picture.cells.lo, picture.cells.hi, strict=True))
        order = PictureOrder(
            name=table.name,
            fields=words,
            cells=(nz, ny, nx),
            parts=sum(1 for box in owned if box & picture.cells),
            axis=None if surface else table.axis,
            layer=0 if surface else picture.cells.lo[table.axis],
            value=table.value or 0.0,
            view=table.view,
            range=table.range,
            log=table.log,
            cmap=table.cmap,
            size=table.size,
        )
        orders.append(order)
    return orders


def _cells(table: PictureTable, grid: StaggeredGrid) -> Box:
    if table.isosurface is not None:
        return grid.box
    location: Location = "c"
    index = int(np.abs(grid.coordinates(location, table.axis) - table.position).argmin())
    return grid.box.layer(table.axis, 0, index, index + 1)


def _role(name: str, known: set[str]) -> str:
    """The role of a field in cell centres."""
    return CENTRED + name if name in VELOCITY and name in known else name


def _words(name: str, metadata: Mapping[str, FieldMetadata]) -> str:
    if name not in metadata:
        return "velocity magnitude"
    about = metadata[name]
    words = ", ".join(dict.fromkeys((name, about.long_name)))
    return words if about.units == "1" else f"{words} [{about.units}]"
