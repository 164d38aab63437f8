"""A mean velocity that is kept: a uniform force along a periodic direction, as large as it takes in every stage.

The mean over the domain is measured before the projection, which leaves it as it is, and the velocity shifted by what
it lacks. Like the pressure, the force is what holds a constraint, so the order of the time scheme stays.

The sum over all cells is made of three sums of multiples of one number each, which are exact, and so the same in any
order (after J. Demmel, H. D. Nguyen 2013, Proc. 21st IEEE Symp. Comput. Arith., 163): blocks do not change a bit.
"""

from collections.abc import Iterable, Iterator, Mapping

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.regions import Box
from taskflow.tasks import Launch, Read, ReadWrite, Reduce, Scalar, task

Means = tuple[float | None, float | None, float | None]  # None: as the flow will have it
PARTS = ("total", "rest", "last")  # of a sum, by size


@task(kernel=KERNELS / "driving" / "bulk_velocity.cu")
def total_velocity(
    q: Read, *, total: Reduce["sum"], rest: Reduce["sum"], last: Reduce["sum"], rate: Scalar, spacing: float
) -> None:
    """total + rest + last = sum of q over all cells, each the same bits in any order.

    For fewer than 2^31 cells and |q| < 16 rate spacing; beyond, and where rate is 0, they are plain sums. q counts to
    2^-58 rate spacing.
    """


@task(kernel=KERNELS / "driving" / "bulk_shift.cu")
def shift_to_mean(q: ReadWrite, *, total: Scalar, rest: Scalar, last: Scalar, mean: float, share: float) -> None:
    """q = q + mean - (total + rest + last) share, share being one over the number of cells: then its mean is `mean`."""


def keep(velocity: tuple[str, str, str], means: Means, *, over: Box, grid: Grid, stage: str = "") -> Iterator[Launch]:
    """Gives three velocities their means over all cells; the scalars total_u, ... have names that end with `stage`.

    The scalar rate has to be that of this velocity or of one before: see `taskflow.flow.diagnostics.advective_rate`.
    """
    for axis, (q, mean) in enumerate(zip(velocity, means, strict=True)):
        if mean is not None:
            parts = _parts(axis, stage)
            yield total_velocity(q, over=over, **parts, rate="rate", spacing=grid.spacing[axis])
            yield shift_to_mean(q, over=over, **parts, mean=mean, share=1.0 / over.volume)


def force(scalars: Mapping[str, float], mean: float, axis: int, stages: Iterable[str], cells: int, dt: float) -> float:
    """The mean over a step of length dt of the acceleration along an axis that kept the mean."""
    sums = [[scalars[name] for name in _parts(axis, stage).values()] for stage in stages]
    return sum(mean - (total + (rest + last)) / cells for total, rest, last in sums) / dt


def _parts(axis: int, stage: str) -> dict[str, str]:
    return {part: f"{part}_{'uvw'[axis]}{stage}" for part in PARTS}
