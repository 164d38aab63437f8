"""A mean velocity that is kept: a uniform force along a periodic direction, as large as it takes in every stage.

The mean over the domain is measured before the projection, which leaves it as it is, and the velocity shifted by what
it lacks. Like the pressure, the force is what holds a constraint, so the order of the time scheme stays.
"""

from collections.abc import Iterable, Iterator, Mapping

from taskflow.flow.kernels import KERNELS
from taskflow.regions import Box
from taskflow.tasks import Launch, Read, ReadWrite, Reduce, Scalar, task

Means = tuple[float | None, float | None, float | None]  # None: as the flow will have it


@task(kernel=KERNELS / "bulk_velocity.cu")
def total_velocity(q: Read, *, total: Reduce["sum"]) -> None:
    """total = sum of q over all cells"""


@task(kernel=KERNELS / "bulk_shift.cu")
def shift_to_mean(q: ReadWrite, *, total: Scalar, mean: float, share: float) -> None:
    """q = q + mean - total share, share being one over the number of cells: then its mean is as given."""


def keep(velocity: tuple[str, str, str], means: Means, *, over: Box, stage: str = "") -> Iterator[Launch]:
    """Gives three velocities their means over all cells; the scalars total_u, ... have names that end with `stage`."""
    for name, q, mean in zip("uvw", velocity, means, strict=True):
        if mean is not None:
            total = f"total_{name}{stage}"
            yield total_velocity(q, over=over, total=total)
            yield shift_to_mean(q, over=over, total=total, mean=mean, share=1.0 / over.volume)


def force(scalars: Mapping[str, float], mean: float, name: str, stages: Iterable[str], cells: int, dt: float) -> float:
    """The mean over a step of length dt of the acceleration along one velocity that kept its mean."""
    return sum(mean - scalars[f"total_{name}{stage}"] / cells for stage in stages) / dt
