"""Prescribed mean velocity of the fluid around bodies.

The mean is taken over all faces across a periodic direction, weighted by the volume around each, over the volume of the
fluid. The driving force acts on all faces, as other forces do, and bodies take their part of it.

With bodies the projection changes the mean, because the pressure acts on them. The constraint is therefore imposed on
u* - dt grad(p) with the last pressure: the mean equals U up to dt times the change of the mean pressure gradient over a
stage, and exactly in steady flow. Immersed bodies also slow adjacent faces, including this force, at the end of the
step (`taskflow.flow.bodies.immersed`): u* - dt grad(p) becomes kept (u* + push - dt grad(p)) + added, and the push is
chosen so that its mean is U.
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
    """Mean velocity along axis `number` over the whole domain, bodies included.

    Bounds of exact sums: `crossing`, the widest cell along the axis, and `unevenness`, the largest over the mean
    volume.
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
    """missing = (sum of mean over all faces - sum of q - dt dp/dx over open faces, number of open faces), x along the
    axis.

    `rate` belongs to this velocity or an earlier one. With immersed bodies, `friction` and `blockage`, open faces
    contribute kept (q - dt dp/dx) + added to the first sum and kept to the second, as in `apply_wall_friction`, with
    q_old the velocity before the step.
    """


@task(kernel=KERNEL)
def apply_uniform_force(q: ReadWrite, *, missing: Scalar["exact sum", 2]) -> None:
    """q = q + missing[0] / missing[1], also on closed faces, where bodies take it"""


def stage(dt: str) -> str:
    """Return the suffix of the names of a stage, given the name of its length."""
    return dt.removeprefix("dt")


def missing_along(number: int, ending: str) -> str:
    """Return the scalar with the deficit along an axis, for the stage with this suffix."""
    return f"missing_{'xyz'[number]}{ending}"


def is_kept_around_bodies(scalars: Mapping[str, float], number: int, ending: str) -> bool:
    """Return True if the deficit along an axis was measured, as with bodies."""
    return scalars.keys() >= {*bulk_velocity_deficit.numbers["missing"].of(missing_along(number, ending))}


def force_around_bodies(scalars: Mapping[str, float], number: int, stages: Iterable[str], dt: float) -> float:
    """Return the mean acceleration that kept the mean velocity over a step of length dt."""
    sums = (reduced(scalars, missing_along(number, ending)) for ending in stages)
    return sum(lack / gain for lack, gain in sums) / dt
