"""A mean velocity of the fluid that is kept around bodies: the momentum on all faces across a periodic direction, each
of which counts as the volume around it, over the volume of the fluid. The force that keeps it acts on all faces, as
others do, and bodies take what they get of it.

Here the projection does change the mean: what the pressure pushes against bodies it takes from the fluid. So the mean
is kept of u* - dt grad(p), with the last pressure known: then it is U but for dt times the change of the mean gradient
over a stage, and U itself where the flow is steady. Immersed bodies slow faces beside them down at the end of the step,
what is added there, too (`taskflow.flow.bodies.immersed`): u* - dt grad(p) becomes kept (u* + push - dt grad(p)) +
added, and the push is such that the mean of that is U.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import BESIDE
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Read, ReadByte, ReadWrite, Reduce, Scalar, reduced, task

KERNEL = KERNELS / "bodies" / "bulk_velocity_obstructed.cu"


@dataclass(frozen=True)
class BulkVelocityTarget:
    """The mean velocity along the axis of a number over the whole domain, bodies included. For the bounds of exact
    sums: the widest cell along it, and how much larger than the mean the largest cell is.
    """

    number: int
    mean: float
    crossing: float
    unevenness: float

    @classmethod
    def along(cls, number: int, mean: float, grid: Grid) -> BulkVelocityTarget:
        return cls(number, mean, grid.largest(number), grid.unevenness)


@task(kernel=KERNEL)
def bulk_velocity_deficit(
    q: Read, q_old: Read[1] | None, p: Read[BESIDE], solid: ReadByte, friction: Read | None, blockage: Read[1] | None,
    *, missing: Reduce["exact sum", 2], rate: Scalar, dt: Scalar, grid: Grid, bulk: BulkVelocityTarget,
    viscosity: float | None,
) -> None:  # fmt: skip
    """missing = sum over all faces of mean, less that over open ones of q - dt dp/dx, x being the axis; and the number
    of open ones. `rate` is that of this velocity or of one before.

    With immersed bodies, by `friction` and `blockage`, open faces count kept (q - dt dp/dx) + added, and kept, as in
    `apply_wall_friction`; q_old is the velocity before the step.
    """


@task(kernel=KERNEL)
def apply_uniform_force(q: ReadWrite, *, missing: Scalar["exact sum", 2]) -> None:
    """q = q + missing[0] / missing[1], on closed faces, too: bodies take that."""


def stage(dt: str) -> str:
    """Return the ending of the names that belong to a stage, from the name of its length."""
    return dt.removeprefix("dt")


def missing_along(number: int, ending: str) -> str:
    """The scalar of what is missing along an axis, for the stage whose names end so."""
    return f"missing_{'xyz'[number]}{ending}"


def is_kept_around_bodies(scalars: Mapping[str, float], number: int, ending: str) -> bool:
    """Return whether it was measured what is missing along an axis: there are bodies then."""
    return scalars.keys() >= {*bulk_velocity_deficit.numbers["missing"].of(missing_along(number, ending))}


def force_around_bodies(scalars: Mapping[str, float], number: int, stages: Iterable[str], dt: float) -> float:
    """The mean over a step of length dt of the acceleration that kept the mean."""
    sums = (reduced(scalars, missing_along(number, ending)) for ending in stages)
    return sum(lack / gain for lack, gain in sums) / dt
