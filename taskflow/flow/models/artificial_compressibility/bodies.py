"""Bodies inside charts: fields of their surfaces, and the force on each body, bitwise identical for any blocks.

A surface cuts cells. Faces let through the open share of their flux, and the surface in a cell takes its pressure and
friction, so that the sum over all cells is the balance of the fluid (see `taskflow.flow.bodies.cut_cells`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from taskflow.flow.bodies.cut_cells import WALL
from taskflow.flow.grid import Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility.equations import LINES, SHORT, Numbers
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import (
    Components,
    Launch,
    Read,
    ReadByte,
    ReadWrite,
    Reduce,
    Roles,
    Scalar,
    Write,
    reduced,
    task,
)

TEXT = KERNELS / "artificial_compressibility" / "bodies.cu"
FIELDS = ("aperture", "wall", "fluid")
SURFACES = Components(aperture=Read[LINES] * 3, wall=Read * WALL, fluid=Read) | None
APERTURE = Read[SHORT] * 3 | None
NEIGHBOURS = Components(p=Read[SHORT], u=Read[SHORT], v=Read[SHORT], w=Read[SHORT])


@dataclass(frozen=True)
class CutBody:
    """The number of a body in the field `owner`, and the reference point of its moment."""

    number: int
    point: Vector


@task(kernel=TEXT)
def largest_on_body(
    flow: NEIGHBOURS, wall: Read * WALL, owner: ReadByte, *, most: Reduce[max], numbers: Numbers, body: CutBody
) -> None:
    """most = the largest magnitude of any summand of `force_on_body`."""


@task(kernel=TEXT)
def force_on_body(
    flow: NEIGHBOURS, wall: Read * WALL, owner: ReadByte,
    *, force: Reduce["exact sum", 9], most: Scalar, numbers: Numbers, body: CutBody,
) -> None:  # fmt: skip
    """force = sums over the cells of a body of p S, of the friction of a stage, and of r times their sum."""


@task(kernel=TEXT)
def largest_span(wall: Read * WALL, owner: ReadByte, *, most: Reduce[max], body: CutBody) -> None:
    """most = the largest magnitude of any summand of `span_of_body`."""


@task(kernel=TEXT)
def span_of_body(
    wall: Read * WALL, owner: ReadByte, *, span: Reduce["exact sum", 3], most: Scalar, body: CutBody
) -> None:  # fmt: skip
    """span = sums over the cells of a body of x S_x, y S_y, z S_z: minus its volume, for a closed surface."""


@task(kernel=TEXT)
def pressure_in_closed(p: Read[SHORT], fluid: Read[SHORT], filled: Write, *, numbers: Numbers) -> None:
    """filled = p in open cells, and in closed ones the mean of p in open neighbours, or without these in all."""


@task(kernel=TEXT)
def fill_closed(p: ReadWrite, old: ReadWrite, filled: Read, fluid: Read) -> None:
    """p = old = filled in closed cells, for a first guess where a moving body opens them."""


class BodyLoad(NamedTuple):
    """The force on a body, its pressure part, and its moment."""

    force: np.ndarray
    pressure: np.ndarray
    moment: np.ndarray


@dataclass(frozen=True)
class BodyForces:
    """The forces on named bodies, numbered from 1, with moments about `points`, in the cells of a model of this `unit`
    of length. For bodies that are `turning` the moment includes the transposed gradient of the stress: on a surface of
    the velocity omega x r it exerts viscosity omega x S, which sums to no force.
    """

    cells: tuple[Box, ...]
    numbers: Numbers
    points: Mapping[str, Vector]
    unit: float = 1.0
    turning: frozenset[str] = frozenset()

    def measure(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalars that `of` reads. Needs ghost values of the present state."""
        for number, (name, (x, y, z)) in enumerate(self.points.items(), start=1):
            body = CutBody(number, (x / self.unit, y / self.unit, z / self.unit))
            flow, most = (f.p, f.u, f.v, f.w), f.scalar(f"body_{name}.most")
            where: dict[str, Any] = {"over": self.cells, "numbers": self.numbers, "body": body, "most": most}
            yield largest_on_body(flow, f.wall, f.owner, **where)
            yield force_on_body(flow, f.wall, f.owner, force=f.scalar(f"body_{name}.force"), **where)
            if name in self.turning:
                most = f.scalar(f"body_{name}.widest")
                where = {"over": self.cells, "body": body, "most": most}
                yield largest_span(f.wall, f.owner, **where)
                yield span_of_body(f.wall, f.owner, span=f.scalar(f"body_{name}.span"), **where)

    def of(self, scalars: Mapping[str, float], name: str, spin: np.ndarray) -> BodyLoad:
        """Return the force on a body with an angular velocity `spin` about one axis."""
        total = self.unit**2 * np.array(reduced(scalars, f"body_{name}.force"))
        moment = total[6:9]
        if name in self.turning:
            span = self.unit**2 * np.array(reduced(scalars, f"body_{name}.span"))
            moment = moment + self.numbers.viscosity * self.unit * spin * (span.sum() - span)
        return BodyLoad(total[:3] + total[3:6], total[:3], self.unit * moment)
