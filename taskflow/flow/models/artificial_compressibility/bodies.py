"""Bodies at rest inside charts: fields of their surfaces, and the force on each body, bitwise identical for any blocks.

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
from taskflow.runtime.tasks import Components, Launch, Read, ReadByte, Reduce, Roles, Scalar, reduced, task

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


class BodyLoad(NamedTuple):
    """The force on a body, its pressure part, and its moment."""

    force: np.ndarray
    pressure: np.ndarray
    moment: np.ndarray


@dataclass(frozen=True)
class BodyForces:
    """The forces on named bodies, numbered from 1, with moments about `points`, in the cells of a model of this `unit`
    of length.
    """

    cells: tuple[Box, ...]
    numbers: Numbers
    points: Mapping[str, Vector]
    unit: float = 1.0

    def measure(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalars that `of` reads. Needs ghost values of the present state."""
        for number, (name, (x, y, z)) in enumerate(self.points.items(), start=1):
            body = CutBody(number, (x / self.unit, y / self.unit, z / self.unit))
            flow, most = (f.p, f.u, f.v, f.w), f.scalar(f"body_{name}.most")
            where: dict[str, Any] = {"over": self.cells, "numbers": self.numbers, "body": body, "most": most}
            yield largest_on_body(flow, f.wall, f.owner, **where)
            yield force_on_body(flow, f.wall, f.owner, force=f.scalar(f"body_{name}.force"), **where)

    def of(self, scalars: Mapping[str, float], name: str) -> BodyLoad:
        """Return the force on a body."""
        total = self.unit**2 * np.array(reduced(scalars, f"body_{name}.force"))
        return BodyLoad(total[:3] + total[3:6], total[:3], self.unit * total[6:9])
