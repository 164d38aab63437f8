"""Shares in ghost cells of walls, from which normals, planes and heights in cells at walls follow.

With surface tension shares are mirrored, or with a contact angle theta through phase 1 the interface beyond the wall is
a parabola, in rows of cells outwards,

    X_n = X_0 + c n + b n (n - 1) / 2,    c = cot(theta) sqrt(1 + t^2),    b = X_1 - X_0 + c

X_0 and X_1 are the heights along the wall in the row at it and one farther in, t is the slope of the contact line.
Without surface tension an interface meets a wall as it comes: planes in cells at the wall are extended, with the
normals of cells one farther in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.boundary import AS_INSIDE, beyond, mirror
from taskflow.flow.boundaries.condition import Boundaries, Velocity
from taskflow.flow.boundaries.openings import parts
from taskflow.flow.boundaries.sides import open_sides
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Face, Launch, ReadWrite, facing, frame, task

TEXT = KERNELS / "two_phase" / "walls.cu"
HEIGHTS = 3  # layers of ghost cells that heights read
WET = 7  # cells along a wall that its ghost cells read, for a height up to two cells from one up to two cells away
RESTING = 90.0  # the angle of mirrored shares


@dataclass(frozen=True)
class WallLayer:
    """A layer of ghost cells at a wall, from 1."""

    layer: int


@dataclass(frozen=True)
class WetLayer:
    """A layer of ghost cells at a wall, with the cotangent of the contact angle."""

    layer: int
    cotangent: float


@task(kernel=TEXT)
def extend_planes(
    f: ReadWrite[facing(n=(1, 3), r=(-3, 3), s=(-3, 3))], *, on: Face, grid: Grid, wall: WallLayer
) -> None:
    """f = the share below planes in the cells at a wall, over its first layer of ghost cells."""


@task(kernel=TEXT)
def extend_wetting_planes(
    f: ReadWrite[facing(n=(1, 4), r=(-WET, WET), s=(-WET, WET))], *, on: Face, grid: Grid, wall: WetLayer
) -> None:
    """f = the share below the parabola at a wall with a contact angle, over a layer of its ghost cells."""


@dataclass(frozen=True)
class ShareGhosts:
    """Ghost values of shares at `boundaries`: from planes at `walls`, 2 f - inside where a prescribed f enters, the
    value inside elsewhere. Without `planes` walls mirror shares.
    """

    grid: Grid
    boundaries: Boundaries = field(default_factory=dict)
    tension: bool = True
    planes: bool = True

    @cached_property
    def walls(self) -> Mapping[str, float | None]:
        """The sides at which the interface is not mirrored, and their contact angles, None without surface tension.
        Normals need three cells across.
        """
        closed = (face for face in self.boundaries if self.planes and face not in open_sides(self.boundaries))
        found = {face: self.boundaries[face] for face in closed if self.grid.cells[frame(face)[0]] >= HEIGHTS}
        if not self.tension:
            return {face: None for face, condition in found.items() if not condition.mirrors}
        angles = {face: condition.contact_angle for face, condition in found.items()}
        return {face: angle for face, angle in angles.items() if angle not in (None, RESTING)}

    @property
    def reach(self) -> int:
        """The layers of ghost cells that filling them reads."""
        return WET if self.tension and self.walls else HEIGHTS

    @property
    def inner(self) -> Grid:
        """The grid for kernels that read shares: without these walls, whose ghost cells they read."""
        return self.grid.without(self.walls) if self.walls else self.grid

    def fill(self, share: str, velocity: Velocity) -> Iterator[Launch]:
        """Fill the ghost values of shares, with the velocity that decides where fluid enters. Edges between sides
        repeat the earlier side's.
        """
        for face in self.boundaries:
            yield mirror(share, over=beyond(face, self.grid), on=face, mirror=AS_INSIDE)
            if face in self.walls:
                yield from self._extend(share, face, self.walls[face])
        for side, condition in parts(self.boundaries, self.grid):
            yield from condition.share_ghosts(share, velocity, side)

    def _extend(self, share: str, face: str, angle: float | None) -> Iterator[Launch]:
        about = {"on": face, "grid": self.grid}
        axis, high = frame(face)
        layers = [Box.of(self.grid.cells).layer(axis, high, -n, 1 - n) for n in range(1, HEIGHTS + 1)]
        if angle is None:
            yield extend_planes(share, over=layers[0], wall=WallLayer(1), **about)
            return
        low, top = (
            triple(HEIGHTS * (number < axis and f"{name}_{end}" in self.walls) for number, name in enumerate("xyz"))
            for end in ("min", "max")
        )
        cotangent = 1 / math.tan(math.radians(angle))
        for layer, over in enumerate(layers, 1):
            yield mirror(share, over=over.expand(low, top), on=face, mirror=AS_INSIDE)
            yield extend_wetting_planes(share, over=over, wall=WetLayer(layer, cotangent), **about)
