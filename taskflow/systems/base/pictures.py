"""The pictures of a case: the data that blocks write for each, their interval, and the requests to the drawing process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskflow.cases import Case
from taskflow.cases.formulas.field_expression import FieldExpression
from taskflow.cases.timing.intervals import Every
from taskflow.common.derived_names import SPEED, WORDS, label_of
from taskflow.flow.operators.formula import Formula
from taskflow.output import FieldMetadata
from taskflow.output.export.picture_files import PictureOrder
from taskflow.runtime.regions import Box, Partition
from taskflow.systems.base.domain import Domain

VELOCITY = ("u", "v", "w")
CENTRED = "centre_"  # how the role of a velocity in cell centres begins
FORMULAS = {SPEED: "sqrt(u*u + v*v + w*w)", **{CENTRED + name: name for name in VELOCITY}}
LEAST, MOST, VALUES = 2, 16, 2**25  # states of a picture that may wait to be drawn: least, most, and their values


@dataclass(frozen=True)
class Picture:
    """A picture for blocks: name, fields by role, their cells, interval, and the `most` that may wait to be drawn."""

    name: str
    roles: tuple[str, ...]
    boxes: tuple[Box, ...]
    every: Every
    most: int

    def part(self, cells: Sequence[Box]) -> list[Box]:
        """Return its cells within the given cells."""
        return [common for mine in cells for box in self.boxes if (common := mine & box)]

    def values(self, cells: Sequence[Box]) -> int:
        """Return the number of its values within the given cells."""
        return len(self.roles) * sum(box.volume for box in self.part(cells))


def pictured(case: Case) -> dict[str, Formula | None]:
    """Return the formulas of cell-centred fields that pictures need in addition to the fields of the case, by role."""
    known = {*case.recordable}
    roles = {_role(name, known) for picture in case.pictures for name in picture.fields} & FORMULAS.keys()
    return {role: FieldExpression(FORMULAS[role], case.fields).formula for role in sorted(roles - known)}


def pictures_of(case: Case, domain: Domain) -> tuple[Picture, ...]:
    known, pictures = {*case.recordable}, []
    for table in case.pictures:
        roles, boxes = tuple(_role(name, known) for name in table.fields), domain.shown(table)
        if not domain.derives:
            needed = (VELOCITY if name in WORDS and name not in case.fields else (name,) for name in table.fields)
            roles = tuple(dict.fromkeys(role for names in needed for role in names))
        values = len(roles) * sum(box.volume for box in boxes)
        most = max(LEAST, min(MOST, VALUES // values))
        pictures.append(Picture(table.name, roles, boxes, table.every, most))
    return tuple(pictures)


def orders_of(
    case: Case, domain: Domain, partition: Partition, metadata: Mapping[str, FieldMetadata]
) -> list[PictureOrder]:
    """Return the drawing requests of a case, for the blocks of a partition."""
    orders, known = [], {*case.recordable}
    for table, picture in zip(case.pictures, pictures_of(case, domain), strict=True):
        surface = table.isosurface is not None
        names = {_role(name, known) if domain.derives else name: name for name in table.fields}
        order = PictureOrder(
            name=table.name,
            fields={key: _words(name, metadata) for key, name in names.items()},
            roles=picture.roles,
            boxes=tuple((box.lo[::-1], box.shape[::-1]) for box in picture.boxes),
            parts=sum(1 for block in range(len(partition)) if picture.part(partition.cells_of(block))),
            axis=None if surface else table.axis,
            position=0.0 if surface else table.position,
            value=table.value or 0.0,
            view=table.view,
            range=table.range,
            log=table.log,
            cmap=table.cmap,
            size=table.size,
        )
        orders.append(order)
    return orders


def _role(name: str, known: set[str]) -> str:
    return CENTRED + name if name in VELOCITY and name in known else name


def _words(name: str, metadata: Mapping[str, FieldMetadata]) -> str:
    if name in WORDS and (name not in metadata or metadata[name].long_name == WORDS[name]):
        return label_of(name)
    about = metadata[name]
    words = ", ".join(dict.fromkeys((name, about.long_name)))
    return words if about.units == "1" else f"{words} [{about.units}]"
