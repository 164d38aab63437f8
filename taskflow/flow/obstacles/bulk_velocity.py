"""A mean velocity of the fluid that is kept around bodies: over the open faces across a periodic direction.

Here the projection does change the mean: what the pressure pushes against bodies it takes from the fluid. So the mean
is kept of u* - dt grad(p), with the last pressure known: then it is U but for dt times the change of the mean gradient
over a stage, and U itself where the flow is steady.
"""

from collections.abc import Iterator, Mapping

from taskflow.flow.exact_sums import parts
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import BESIDE
from taskflow.regions import Box
from taskflow.tasks import Launch, Read, ReadByte, ReadWrite, Reduce, Roles, Scalar, task

KERNEL = KERNELS / "obstacles" / "bulk_velocity_obstructed.cu"


@task(kernel=KERNEL)
def open_faces_sum(
    q: Read, p: Read[BESIDE], solid: ReadByte,
    *, total: Reduce["sum"], rest: Reduce["sum"], last: Reduce["sum"], faces: Reduce["sum"],
    rate: Scalar, dt: Scalar, grid: Grid, number: int,
) -> None:  # fmt: skip
    """total + rest + last = sum over open faces of q - dt dp/dx, x being the axis of that number, the same bits in any
    order: see `taskflow.flow.exact_sums`, with rate spacing for the bound. faces = how many these are.
    """


@task(kernel=KERNEL)
def shift_open_to_mean(
    q: ReadWrite, solid: ReadByte,
    *, total: Scalar, rest: Scalar, last: Scalar, faces: Scalar, mean: float, number: int,
) -> None:  # fmt: skip
    """q = q + mean - (total + rest + last) / faces where faces are open."""


def keep_around_bodies(
    f: Roles, q: str, mean: float, number: int, names: Mapping[str, str], *, over: Box, grid: Grid, stage: str
) -> Iterator[Launch]:
    """Gives a velocity its mean over the open faces across its axis, for when it will have been projected; `names` has
    that of the stage's dt. The scalars are those of `taskflow.flow.driving.bulk_velocity.keep`.
    """
    sums = {**parts("uvw"[number] + stage), "faces": open_faces(number)}
    yield open_faces_sum(q, f.p, f.solid, over=over, **sums, rate="rate", dt=names["dt"], grid=grid, number=number)
    yield shift_open_to_mean(q, f.solid, over=over, **sums, mean=mean, number=number)


def open_faces(number: int) -> str:
    """The scalar with the number of open faces across an axis."""
    return f"open_{'xyz'[number]}"
