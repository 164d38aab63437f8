"""Sums over faces that have the same bits in any order, so that blocks, threads and devices do not change them.

Each number is cut into multiples of three others, of which sums are exact (after J. Demmel, H. D. Nguyen 2013, Proc.
21st IEEE Symp. Comput. Arith., 163).
"""

from taskflow.flow.kernels import KERNELS
from taskflow.flow.metrics import Grid
from taskflow.tasks import Read, Reduce, Scalar, task

PARTS = ("total", "rest", "last")  # of a sum, by size


@task(kernel=KERNELS / "exact_sums.cu")
def exact_sum(
    q: Read,
    *,
    total: Reduce["sum"],
    rest: Reduce["sum"],
    last: Reduce["sum"],
    bound: Scalar,
    scale: float,
    grid: Grid,
    axis: int,
    layer: bool,
) -> None:
    """total + rest + last = sum of q, which lives on faces across an axis; each part has the same bits in any order.

    A face counts as the volume around it over the mean one, in a single `layer` of faces as its area. For fewer than
    2^31 cells and terms below 16 bound scale; beyond, and where bound is 0, they are plain sums. Terms count to
    2^-58 bound scale.
    """


def parts(name: str) -> dict[str, str]:
    """The scalars that hold the parts of a sum of this name."""
    return {part: f"{part}_{name}" for part in PARTS}
