"""Solution along z for every mode, on equal or stretched planes. Blocks exchange two numbers per mode and slab.

If all planes have the same height, x_(k-1) - (2 + kappa) x_k + x_(k+1) = d_k is solved by two recursive filters. The
operator is -(1 / lambda) (1 - lambda S) (1 - lambda S^-1), with S the shift by one plane and lambda the root in (0, 1]
of lambda + 1 / lambda = 2 + kappa. Its factors are inverted by f_k = -lambda d_k + lambda f_(k-1) from the lowest plane
up, and x_k = f_k + lambda x_(k+1) down.

If the heights h_k differ, with mu the eigenvalue of a mode along x and y,

    c_(k+1) (x_(k+1) - x_k) - c_k (x_k - x_(k-1)) - mu h_k x_k = h_k d_k

is solved by Gaussian elimination, where 1 / c_k is the distance between the centres of planes k - 1 and k. The pivots
c_(k+1) + e_k depend on the grid only. The e_k, one per mode and plane, are stored: sums of positive terms, without
cancellation. Before the first solve, blocks exchange two more numbers per mode and slab.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.spectrum import Spectrum
from taskflow.runtime.tasks import Foreign, Launch, Read, ReadWrite, Roles, Task, Write, lines, task

FILTERS = KERNELS / "poisson" / "tridiagonal.cu"
KERNEL = KERNELS / "poisson" / "elimination.cu"
ENDS = ("carry_up", "carry_down", "through", "reach")  # of slabs: the first two depend on the right-hand side


def dct(plain: Task) -> Task:
    """Return the same task for walls across x or y: `task`_dct, in the kernel file of that name."""
    kernel = Path(str(plain.kernel))
    return replace(plain, name=f"{plain.name}_dct", kernel=kernel.with_stem(f"{kernel.stem}_dct"))


@task(kernel=FILTERS, whole=True)
def slab_ends(carry_up: Write, carry_down: Write, spectrum: Foreign, *, s: Spectrum) -> None:
    """carry_up = last f and carry_down = first x of each slab, with zeros entering from the planes below and above."""


@task(kernel=FILTERS, whole=True)
def tridiagonal_slab(
    spectrum: ReadWrite, carry_up: Foreign[lines("z")], carry_down: Foreign[lines("z")], *, s: Spectrum
) -> None:
    """Replace d by x in one of several slabs, given the ends of all slabs, as in `tridiagonal`."""


@task(kernel=FILTERS, whole=True)
def tridiagonal(spectrum: ReadWrite, *, s: Spectrum) -> None:
    """Replace d by x in one slab of all planes. If singular, the mean of x over the lowest plane is 0."""


slab_ends_dct, tridiagonal_dct = dct(slab_ends), dct(tridiagonal)
tridiagonal_slab_dct = dct(tridiagonal_slab)


def filtering(f: Roles, s: Spectrum) -> Iterator[Launch]:
    """Replace the right-hand side by the solution, on planes of equal height."""
    if s.slabs == 1:
        yield (tridiagonal if s.plain else tridiagonal_dct)(f.spectrum, over=s.modes, s=s)
        return
    ends, solution = (slab_ends, tridiagonal_slab) if s.plain else (slab_ends_dct, tridiagonal_slab_dct)
    yield ends(f.carry_up, f.carry_down, f.spectrum, over=s.ends, s=s)
    yield solution(f.spectrum, f.carry_up, f.carry_down, over=s.modes, s=s)


@task(kernel=KERNEL, whole=True)
def find_pivots(pivots: Write, *, s: Spectrum) -> None:
    """e_k = mu h_k + c_k e_(k-1) / (c_k + e_(k-1)), from the lowest plane up"""


@task(kernel=KERNEL, whole=True)
def slab_gains(through: Write, reach: Write, pivots: Foreign, *, s: Spectrum) -> None:
    """through = outflow of a slab at its top for unit inflow from below, and reach = its first x then"""


@task(kernel=KERNEL, whole=True)
def slab_sums(carry_up: Write, carry_down: Write, spectrum: Foreign, pivots: Foreign, *, s: Spectrum) -> None:
    """carry_up = outflow of each slab to the plane above, and carry_down = its first x, both with zero inflow"""


@task(kernel=KERNEL, whole=True)
def eliminate_slab(
    spectrum: ReadWrite, pivots: Read, carry_up: Foreign[lines("z")], carry_down: Foreign[lines("z")],
    through: Foreign[lines("z")], reach: Foreign[lines("z")], *, s: Spectrum,
) -> None:  # fmt: skip
    """Replace d by x in one of several slabs, given the ends of all slabs, as in `eliminate`."""


@task(kernel=KERNEL, whole=True)
def eliminate(spectrum: ReadWrite, pivots: Read, *, s: Spectrum) -> None:
    """Replace d by x in one slab of all planes. If singular, the mean of x over the lowest plane is 0."""


find_pivots_dct, slab_gains_dct, slab_sums_dct = dct(find_pivots), dct(slab_gains), dct(slab_sums)
eliminate_slab_dct, eliminate_dct = dct(eliminate_slab), dct(eliminate)


def prepare_elimination(f: Roles, s: Spectrum) -> Iterator[Launch]:
    """Yield the launches for the data that depend on the grid only."""
    yield (find_pivots if s.plain else find_pivots_dct)(f.pivots, over=s.modes, s=s)
    if s.slabs > 1:
        gains = slab_gains if s.plain else slab_gains_dct
        yield gains(f.through, f.reach, f.pivots, over=s.ends, s=s)


def elimination(f: Roles, s: Spectrum) -> Iterator[Launch]:
    """Replace the right-hand side by the solution, on planes of different heights."""
    if s.slabs == 1:
        yield (eliminate if s.plain else eliminate_dct)(f.spectrum, f.pivots, over=s.modes, s=s)
        return
    sums, solution = (slab_sums, eliminate_slab) if s.plain else (slab_sums_dct, eliminate_slab_dct)
    yield sums(f.carry_up, f.carry_down, f.spectrum, f.pivots, over=s.ends, s=s)
    yield solution(f.spectrum, f.pivots, *(f[end] for end in ENDS), over=s.modes, s=s)
