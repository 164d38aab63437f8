"""A mean velocity that is kept: a uniform force along a periodic direction, as large as it takes in every stage.

The mean over the domain is measured before the projection, which leaves it as it is, and the velocity shifted by what
it lacks. Like the pressure, the force is what holds a constraint, so the order of the time scheme stays.
"""

from collections.abc import Iterable, Iterator, Mapping

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.rates import exact_sum
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, ReadWrite, Roles, Scalar, reduced, task

Means = tuple[float | None, float | None, float | None]  # None: as the flow will have it


@task(kernel=KERNELS / "forcing" / "bulk_shift.cu")
def shift_to_mean(q: ReadWrite, *, total: Scalar["exact sum"], mean: float, share: float) -> None:
    """q = q + mean - total share, share being one over the number of cells: then its mean is `mean`."""


def sum_of(axis: int, stage: str) -> str:
    """The scalar that holds the sum of the velocity along an axis, for the stage whose names end so."""
    return f"total_{'uvw'[axis]}{stage}"


def keep(f: Roles, q: str, mean: float, axis: int, *, over: Box, grid: Grid, stage: str) -> Iterator[Launch]:
    """Gives the velocity along an axis its mean over all cells.

    The scalar rate has to be that of this velocity or of one before: see `advective_rate`.
    """
    total, most = f.scalar(sum_of(axis, stage)), grid.largest(axis) * grid.unevenness
    constants = {"scale": most, "grid": grid, "axis": axis, "layer": False}
    yield exact_sum(q, over=over, total=total, bound=f.scalar("rate"), **constants)
    yield shift_to_mean(q, over=over, total=total, mean=mean, share=1.0 / over.volume)


def force(scalars: Mapping[str, float], mean: float, axis: int, stages: Iterable[str], cells: int, dt: float) -> float:
    """The mean over a step of length dt of the acceleration along an axis that kept the mean over so many cells."""
    sums = (reduced(scalars, sum_of(axis, stage))[0] for stage in stages)
    return sum(mean - total / cells for total in sums) / dt
