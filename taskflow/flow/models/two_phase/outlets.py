"""Outflows with a pressure, and vents: what enters comes from rest, and along gravity the pressure is hydrostatic.

With the normal velocity q and the loss coefficient K of a vent, 0 at an outflow, the pressure on the face is higher by
K rho q^2 / 2 where fluid leaves, and lower by (1 + K) rho q^2 / 2 where it enters (Bernoulli), rho being the density of
what passes. With the same pressure as where it leaves, a jet that enters gains speed without bound. Along gravity

    P = rho_light g.(x - top)  where the light phase is alone,    dP/dz = rho g  below, as between cells

`top` is the highest corner of the domain. P is stored in the unused layer of ghost cells of a tendency. It is known
cell by cell from above: two cells per step, and all of them at the start. An interface moves less than a cell in a
step, so that P lags only if the interface rises or falls by many cells within a column's number of half steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from taskflow.flow.boundaries.boundary import beyond
from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.boundaries.opening import Opening, opening
from taskflow.flow.boundaries.openings import parts
from taskflow.flow.boundaries.sides import pressure_sides
from taskflow.flow.boundaries.vent import Loss
from taskflow.flow.grid import Grid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.tasks import (
    Face,
    Launch,
    Read,
    ReadWrite,
    Repeat,
    Roles,
    Scalar,
    Write,
    facing,
    frame,
    repeat,
    task,
)

TEXT = KERNELS / "two_phase" / "outlets.cu"
TENDENCIES = "h_u", "h_v", "h_w"
COLUMN = facing(r=(-1, 1)) | facing(s=(-1, 1))
INSIDE = facing(n=(1, 1)) | facing(n=(1, 1), r=(-1, 1)) | facing(n=(1, 1), s=(-1, 1))
OUTSIDE = facing(n=(-1, -1), high=(0, 0))
ACROSS = facing(n=(-1, 0), high=(0, 1))


@dataclass(frozen=True)
class OutletColumn:
    """The cells of a side along an axis: `up` is 1 if gravity points down along it, else -1. `half` is the weight of
    half a cell over its density, `face` the position of the side across it, and `top` the highest corner of the domain.
    """

    along: int
    up: int
    half: float
    face: float
    top: Vector


@task(kernel=TEXT)
def weigh_outlet(
    P: Read[COLUMN], f: Read[INSIDE], fall: Read[INSIDE] | None, P_new: Write,
    *, on: Face, grid: Grid, phases: Phases, column: OutletColumn,
) -> None:  # fmt: skip
    """P_new = P in the next higher cell plus the weight between, over the layer of ghost cells at a side, with f and
    `fall` of the adjacent cells. In the highest cell and in those with the light phase alone it is known.
    """


@task(kernel=TEXT)
def resist_by_density(
    q_new: ReadWrite, q: Read, p: Read[facing(n=(0, 0), high=(1, 1))], f: Read[ACROSS],
    *, on: Face, dt: Scalar, phases: Phases, opening: Opening, loss: Loss,
) -> None:  # fmt: skip
    """`resist` with the density on the face: back = sign dt p / (rho spacing / 2)."""


@task(kernel=TEXT)
def push_weighed(
    q: ReadWrite, P: Read[OUTSIDE], f: Read[ACROSS],
    *, on: Face, dt: Scalar, phases: Phases, opening: Opening,
) -> None:  # fmt: skip
    """q = q - sign dt P / (rho spacing / 2), over the faces of a side, q being the normal velocity."""


@dataclass(frozen=True)
class WeighedOutlets:
    """The launches at outflows with a pressure on sides along gravity."""

    grid: Grid
    boundaries: Boundaries
    phases: Phases

    @property
    def columns(self) -> dict[str, OutletColumn]:
        """The columns of each such side."""
        gravity, found = self.phases.gravity, dict[str, OutletColumn]()
        x, y, z = (0.0 if g > 0 else self.grid.length(axis) for axis, g in enumerate(gravity))
        for face in pressure_sides(self.boundaries):
            across, high = frame(face)
            for axis, g in enumerate(gravity):
                if axis != across and g:
                    half = abs(g) * self.grid.spacing[axis] / 2
                    place = self.grid.length(across) if high else 0.0
                    found[face] = OutletColumn(axis, -1 if g > 0 else 1, half, place, (x, y, z))
        return found

    def begin(self, f: Roles, share: str, fall: str | None) -> Iterator[Launch | Repeat]:
        """Compute P in all cells."""
        if self.columns:
            longest = max(self.grid.cells[column.along] for column in self.columns.values())
            yield repeat(partial(self.weigh, share=share, fall=fall), (longest + 1) // 2)

    def weigh(self, f: Roles, share: str, fall: str | None) -> Iterator[Launch]:
        """Compute P in two more cells from above, for the shares and the field `InterfaceMethod.weighed`."""
        for face, column in self.columns.items():
            kept, other = TENDENCIES[frame(face)[0]], TENDENCIES[column.along]
            about = {"on": face, "grid": self.grid, "phases": self.phases, "column": column}
            for source, target in ((f[kept], f[other]), (f[other], f[kept])):
                over = beyond(face, self.grid, edges=False)
                yield weigh_outlet(source, share, fall, target, over=over, **about)

    def push(self, f: Roles, share: str) -> Iterator[Launch]:
        """Accelerate the normal velocity of the next state by the pressure on faces, and reduce it by losses."""
        columns = self.columns
        for side, condition in parts(self.boundaries, self.grid):
            if not condition.fixes_pressure:
                continue
            now, new, kept = (f[name.format("uvw"[side.axis])] for name in ("{}", "{}_new", "h_{}"))
            about: dict[str, Any] = {"over": side.faces, "on": side.face, "dt": "dt", "opening": opening(side)}
            about |= {"phases": self.phases}
            if side.face in columns:
                yield push_weighed(new, kept, share, **about)
            yield resist_by_density(new, now, f.p, share, loss=Loss(condition.loss), **about)
