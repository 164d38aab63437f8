"""A mean velocity of the fluid that is kept around bodies: over the open faces across a periodic direction, each of
which counts as the volume around it.

Here the projection does change the mean: what the pressure pushes against bodies it takes from the fluid. So the mean
is kept of u* - dt grad(p), with the last pressure known: then it is U but for dt times the change of the mean gradient
over a stage, and U itself where the flow is steady. Immersed bodies slow faces beside them down at the end of the step,
what is added there, too (`taskflow.flow.obstacles.adherence`): u* - dt grad(p) becomes kept (u* + push - dt grad(p)) +
added, and the push is such that the mean of that is U.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from taskflow.flow.exact_sums import PARTS
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import BESIDE
from taskflow.tasks import Read, ReadByte, ReadWrite, Reduce, Scalar, task

KERNEL = KERNELS / "obstacles" / "bulk_velocity_obstructed.cu"


@dataclass(frozen=True)
class Wanted:
    """The mean velocity along the axis of a number. For the bounds of exact sums: the widest cell along it, and how
    much larger than the mean the largest cell is.
    """

    number: int
    mean: float
    crossing: float
    unevenness: float

    @classmethod
    def along(cls, number: int, mean: float, grid: Grid) -> Wanted:
        """On a grid."""
        return cls(number, mean, grid.largest(number), grid.unevenness)


@task(kernel=KERNEL)
def missing_around_bodies(
    q: Read, p: Read[BESIDE], solid: ReadByte,
    *, total: Reduce[sum], rest: Reduce[sum], last: Reduce[sum],
    total_gain: Reduce[sum], rest_gain: Reduce[sum], last_gain: Reduce[sum],
    rate: Scalar, dt: Scalar, grid: Grid, wanted: Wanted,
) -> None:  # fmt: skip
    """total + rest + last = sum over open faces of mean - (q - dt dp/dx), x being the axis, and with _gain that of 1:
    the same bits in any order, see `taskflow.flow.exact_sums`. `rate` is that of this velocity or of one before.
    """


@task(kernel=KERNEL)
def missing_around_immersed(
    q: Read, q_old: Read[1], p: Read[BESIDE], solid: ReadByte, stick: Read, cover: Read[1],
    *, total: Reduce[sum], rest: Reduce[sum], last: Reduce[sum],
    total_gain: Reduce[sum], rest_gain: Reduce[sum], last_gain: Reduce[sum],
    rate: Scalar, dt: Scalar, grid: Grid, wanted: Wanted, viscosity: float,
) -> None:  # fmt: skip
    """`missing_around_bodies` of mean - kept (q - dt dp/dx) - added, and that of kept, as in `adhere`; q_old is that
    before the step.
    """


@task(kernel=KERNEL)
def push_where_open(
    q: ReadWrite, solid: ReadByte,
    *, total: Scalar, rest: Scalar, last: Scalar, total_gain: Scalar, rest_gain: Scalar, last_gain: Scalar, number: int,
) -> None:  # fmt: skip
    """q = q + (total + rest + last) / (total_gain + rest_gain + last_gain) where faces are open."""


def stage(dt: str) -> str:
    """How the names of what belongs to a stage end, from that of its length."""
    return dt.removeprefix("dt")


def sums(number: int, ending: str) -> dict[str, str]:
    """The scalars of what is missing along an axis, for the stage whose names end so."""
    roles = [f"{part}{kind}" for kind in ("", "_gain") for part in PARTS]
    return {role: f"{role}_{'xyz'[number]}{ending}" for role in roles}


def force_around_bodies(scalars: Mapping[str, float], number: int, stages: Iterable[str], dt: float) -> float:
    """The mean over a step of length dt of the acceleration of the open faces that kept the mean."""
    found = [[scalars[name] for name in sums(number, ending).values()] for ending in stages]
    return sum((a + (b + c)) / (d + (e + f)) for a, b, c, d, e, f in found) / dt
