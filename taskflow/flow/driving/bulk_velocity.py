"""A mean velocity that is kept: a uniform force along a periodic direction, as large as it takes in every stage.

The mean over the domain is measured before the projection, which leaves it as it is, and the velocity shifted by what
it lacks. Like the pressure, the force is what holds a constraint, so the order of the time scheme stays.
"""

from collections.abc import Iterable, Iterator, Mapping

from taskflow.flow.exact_sums import exact_sum, parts
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.regions import Box
from taskflow.tasks import Launch, ReadWrite, Scalar, task

Means = tuple[float | None, float | None, float | None]  # None: as the flow will have it


@task(kernel=KERNELS / "driving" / "bulk_shift.cu")
def shift_to_mean(q: ReadWrite, *, total: Scalar, rest: Scalar, last: Scalar, mean: float, share: float) -> None:
    """q = q + mean - (total + rest + last) share, share being one over the number of cells: then its mean is `mean`."""


def keep(q: str, mean: float, axis: int, *, over: Box, grid: Grid, stage: str) -> Iterator[Launch]:
    """Gives the velocity along an axis its mean over all cells; the scalars total_u, ... have names that end with
    `stage`.

    The scalar rate has to be that of this velocity or of one before: see `taskflow.flow.diagnostics.advective_rate`.
    """
    sums = parts("uvw"[axis] + stage)
    most = grid.largest(axis) * grid.unevenness
    yield exact_sum(q, over=over, **sums, bound="rate", scale=most, grid=grid, axis=axis, layer=False)
    yield shift_to_mean(q, over=over, **sums, mean=mean, share=1.0 / over.volume)


def force(
    scalars: Mapping[str, float], mean: float, axis: int, stages: Iterable[str], cells: int, dt: float
) -> float:
    """The mean over a step of length dt of the acceleration along an axis that kept the mean over so many cells."""
    sums = [[scalars[name] for name in parts("uvw"[axis] + stage).values()] for stage in stages]
    return sum(mean - (total + (rest + last)) / cells for total, rest, last in sums) / dt
