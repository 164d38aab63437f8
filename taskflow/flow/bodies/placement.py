"""Where bodies that formulas describe are at a time, found by kernels: spheres, cylinders and boxes that are displaced
and turned. What flags, distances and shares are say `taskflow.flow.bodies.cuts` and, in NumPy, the masks of a case.

A body is known by its middle, how it is turned, and the velocity of its middle; of its images beyond periodic sides the
nearest counts. Surfaces are met where the equations of planes, circles and spheres say, for which the masks halve
intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from taskflow.flow.grid import Counts, Vector
from taskflow.flow.grid.metrics import Flags
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import (
    Components,
    Derive,
    Launch,
    LookupTable,
    LookupTables,
    Program,
    Repeat,
    Roles,
    Scalar,
    Write,
    task,
)

MOST_SHAPES = 6
SHAPE, POSE = 14, 9  # numbers of a shape: those that stay, and those that change in time
POSES = "poses"
TEXT = KERNELS / "bodies" / "placement.cu"
COUNT = POSE * MOST_SHAPES
NUMBERS = Scalar["sum", COUNT]
WRITE_BYTE, WRITE_SHORT = replace(Write, precision="u1"), replace(Write, precision="u2")


@dataclass(frozen=True)
class BodyShapes:
    """So many shapes on a grid. `shapes` has 14 numbers of each: kind (0 sphere, 1 cylinder, 2 box), axis of a
    cylinder, radius, the lowest and the highest x, y and z from its middle, the axis of its turn, the number of the
    body that it is part of, whether it has a temperature, and which, and whether it moves.

    `faces` and `centres` have the coordinates of low faces and centres of cells, relative to the origin of the grid, as
    places in poses are, `widths` those of cells, and `gaps` the distances from one centre to the next, of the cells of
    the domain and some beyond.
    """

    count: int
    shapes: LookupTable
    cells: Counts
    periodic: Flags
    length: Vector
    faces: LookupTables
    centres: LookupTables
    widths: LookupTables
    gaps: LookupTables


class OneShape(BodyShapes):
    """One shape alone, of which a text for it keeps the numbers in registers: see `count_of` in `shapes.h`."""

    defines: ClassVar[tuple[str, ...]] = ("SINGLE",)


SURFACE = Components(
    friction_x=Write, friction_y=Write, friction_z=Write, blockage_x=Write, blockage_y=Write, blockage_z=Write,
    body_x=Write, body_y=Write, body_z=Write,
)  # fmt: skip


OWNERS = Components(owner_x=WRITE_BYTE, owner_y=WRITE_BYTE, owner_z=WRITE_BYTE)


@task(kernel=TEXT)
def place_faces(
    solid: WRITE_BYTE, owners: OWNERS, surface: SURFACE, T_faces: WRITE_SHORT | None, scalar_faces: WRITE_SHORT | None,
    *, poses: NUMBERS, shapes: BodyShapes, viscosity: float,
) -> None:  # fmt: skip
    """The flags of cells, where BESIDE is up to 3.5 widths from a body, `friction`, `blockage` and the velocity of
    bodies on their low faces, and the flags of cells as the temperature and passive scalars meet them. `owners` is the
    number of the body that is nearest to a cell, of those less than 4.5 widths away, for its low faces; 0 for none.
    `poses` are of each shape the place of its middle, the cosine and the sine of its turn, the velocity of its middle,
    and how fast it turns.
    """


@task(kernel=TEXT)
def place_heat(
    conductance_T: Write, warm_T: Write, owner_T: WRITE_BYTE,
    *, poses: NUMBERS, shapes: BodyShapes, diffusivity: float,
) -> None:  # fmt: skip
    """Find what bodies with temperatures weigh in cells beside them, without and with these, whose a cell is, and in
    the bodies their temperature.
    """


@dataclass(frozen=True, eq=False)
class Placement:
    """The program that finds the geometry of the end of a step: it writes the fields of these `roles`, of which those
    that a step needs at its beginning, too, are called `kept` and written as the other one.
    """

    shapes: BodyShapes
    near: Box
    viscosity: float
    diffusivity: float
    roles: tuple[str, ...]
    other: tuple[tuple[str, str], ...]  # by role, that of the field to be written

    __name__ = "placement"

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """Reads the scalars `poses`."""
        names = dict(self.other)
        at = {role: f[names.get(role, role)] for role in self.roles}
        known: dict[str, Any] = {"over": self.near, "poses": POSES, "shapes": self.shapes}
        surface = tuple(at[f"{kind}_{axis}"] for kind in ("friction", "blockage", "body") for axis in "xyz")
        owners, flags = tuple(at[f"owner_{axis}"] for axis in "xyz"), (at.get("T_faces"), at.get("scalar_faces"))
        yield place_faces(at["solid"], owners, surface, *flags, viscosity=self.viscosity, **known)
        if "conductance_T" in at:
            yield place_heat(at["conductance_T"], at["warm_T"], at["owner_T"], diffusivity=self.diffusivity, **known)


@dataclass(frozen=True, eq=False)
class PlacedStep:
    """The program of a step that first finds where the bodies are at its end."""

    placement: Placement
    step: Program

    __name__ = "step"

    def __call__(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Reads the scalars of both."""
        yield from self.placement(f)
        yield from self.step(f)
