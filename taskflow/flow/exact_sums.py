"""Sums over cells that have the same bits in any order, so that blocks, threads and devices do not change them.

Each number is cut into multiples of three others, of which sums are exact (after J. Demmel, H. D. Nguyen 2013, Proc.
21st IEEE Symp. Comput. Arith., 163).
"""

from taskflow.flow.kernels import KERNELS
from taskflow.tasks import Read, Reduce, Scalar, task

PARTS = ("total", "rest", "last")  # of a sum, by size


@task(kernel=KERNELS / "exact_sums.cu")
def exact_sum(
    q: Read, *, total: Reduce["sum"], rest: Reduce["sum"], last: Reduce["sum"], bound: Scalar, scale: float
) -> None:
    """total + rest + last = sum of q, each the same bits in any order.

    For fewer than 2^31 cells and |q| < 16 bound scale; beyond, and where bound is 0, they are plain sums. q counts to
    2^-58 bound scale.
    """


def parts(name: str) -> dict[str, str]:
    """The scalars that hold the parts of a sum of this name."""
    return {part: f"{part}_{name}" for part in PARTS}
