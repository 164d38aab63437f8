"""Positions of bodies given by formulas, evaluated by kernels: displaced and rotated spheres, cylinders and boxes.

Flags, distances and shares are defined in `taskflow.flow.bodies.cuts` and, in NumPy, by the masks of a case. A body has
a centre, a rotation and the velocity of its centre. The nearest of its periodic images is used. Surfaces are
intersected by the equations of planes, circles and spheres, where masks use bisection.
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
SHAPE, POSE = 14, 9  # numbers of a shape: constant, and varying in time
POSES = "poses"
TEXT = KERNELS / "bodies" / "placement.cu"
COUNT = POSE * MOST_SHAPES
NUMBERS = Scalar["sum", COUNT]
WRITE_BYTE, WRITE_SHORT = replace(Write, precision="u1"), replace(Write, precision="u2")


@dataclass(frozen=True)
class BodyShapes:
    """`count` shapes on a grid.

    `shapes` has 14 numbers per shape: kind (0 sphere, 1 cylinder, 2 box), axis of a cylinder, radius, lowest and
    highest x, y and z relative to its centre, rotation axis, number of its body, whether it has a temperature, this
    temperature, and whether it moves. `faces` and `centres` are coordinates of low faces and centres of cells relative
    to the origin of the grid, as are positions in poses, `widths` their widths, and `gaps` the distances between
    consecutive centres, for the domain and some ghost cells.
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
    """Single shape, whose kernel keeps its numbers in registers: see `count_of` in `shapes.h`."""

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
    """Compute cell flags, `friction`, `blockage` and body velocity on low faces, and cell flags for temperature and
    scalars.

    BESIDE reaches up to 3.5 widths from a body. `owners` is the nearest body less than 4.5 widths from a cell, for its
    low faces, or 0. `poses` has for each shape the position of its centre, the cosine and sine of its rotation, the
    velocity of its centre, and its angular velocity.
    """


@task(kernel=TEXT)
def place_heat(
    conductance_T: Write, warm_T: Write, owner_T: WRITE_BYTE,
    *, poses: NUMBERS, shapes: BodyShapes, diffusivity: float,
) -> None:  # fmt: skip
    """Compute `conductance_T` and `warm_T` in cells adjacent to bodies with temperatures, `owner_T`, and T_b inside."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Program that computes the geometry at the end of a step.

    It writes the fields of `roles`. Roles that a step also needs at its beginning are written to their `other` field.
    """

    shapes: BodyShapes
    near: Box
    viscosity: float
    diffusivity: float
    roles: tuple[str, ...]
    other: tuple[tuple[str, str], ...]  # by role, the role of the field to write

    __name__ = "placement"

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """Yield the launches, which read the scalars `poses`."""
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
    """Program of a step that first computes the positions of bodies at its end."""

    placement: Placement
    step: Program

    __name__ = "step"

    def __call__(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Yield the launches of both programs."""
        yield from self.placement(f)
        yield from self.step(f)
