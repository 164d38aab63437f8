"""The equations along z, for every mode, whether cells are alike or not. What blocks send each other for them are two
numbers per mode and slab.

Where all planes have one height, x_(k-1) - (2 + kappa) x_k + x_(k+1) = d_k, by two recursive filters. The operator is
-(1 / lambda) (1 - lambda S) (1 - lambda S^-1), S the shift by one plane and lambda the root in (0, 1] of
lambda + 1 / lambda = 2 + kappa. Its factors are inverted by f_k = -lambda d_k + lambda f_(k-1) from the lowest plane
up, and x_k = f_k + lambda x_(k+1) down again.

Where cells have different heights h_k, with mu the eigenvalue of a mode along x and y,

    c_(k+1) (x_(k+1) - x_k) - c_k (x_k - x_(k-1)) - mu h_k x_k = h_k d_k

by Gaussian elimination, c_k being one over the distance between the centres of the planes k - 1 and k. The pivots
follow from the grid alone. They are c_(k+1) + e_k, and the e_k are kept, a number per mode and plane: sums of positive
ones, which are right to the last digits. Once before the first solve blocks send each other two numbers more.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.spectrum import Spectrum
from taskflow.runtime.tasks import Foreign, Launch, Read, ReadWrite, Roles, Task, Write, lines, task

FILTERS = KERNELS / "poisson" / "tridiagonal.cu"
KERNEL = KERNELS / "poisson" / "elimination.cu"
ENDS = ("carry_up", "carry_down", "through", "reach")  # of slabs: the first two follow from the right-hand side


def dct(plain: Task) -> Task:
    """The task that does the same where x or y has walls: `task`_dct, in the text of that name."""
    kernel = Path(str(plain.kernel))
    return replace(plain, name=f"{plain.name}_dct", kernel=kernel.with_stem(f"{kernel.stem}_dct"))


@task(kernel=FILTERS, whole=True)
def slab_ends(carry_up: Write, carry_down: Write, spectrum: Foreign, *, s: Spectrum) -> None:
    """The last f and the first x of each slab, with zeros coming in from the planes below and above it."""


@task(kernel=FILTERS, whole=True)
def tridiagonal_slab(
    spectrum: ReadWrite, carry_up: Foreign[lines("z")], carry_down: Foreign[lines("z")], *, s: Spectrum
) -> None:
    """The solution in one of several slabs, from the ends of all; see `tridiagonal`."""


@task(kernel=FILTERS, whole=True)
def tridiagonal(spectrum: ReadWrite, *, s: Spectrum) -> None:
    """The solution in place of the right-hand side; all planes are one slab.

    Where the problem is singular the mean of x over a plane is 0 in the lowest plane.
    """


slab_ends_dct, tridiagonal_dct = dct(slab_ends), dct(tridiagonal)
tridiagonal_slab_dct = dct(tridiagonal_slab)


def filtering(f: Roles, s: Spectrum) -> Iterator[Launch]:
    """The solution in place of the right-hand side."""
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
    """Compute what a 1 that comes into a slab from below is above it, and what it adds to the first x of the slab."""


@task(kernel=KERNEL, whole=True)
def slab_sums(carry_up: Write, carry_down: Write, spectrum: Foreign, pivots: Foreign, *, s: Spectrum) -> None:
    """Compute what each slab sends to the plane above it, and its first x, with zeros coming in from around it."""


@task(kernel=KERNEL, whole=True)
def eliminate_slab(
    spectrum: ReadWrite, pivots: Read, carry_up: Foreign[lines("z")], carry_down: Foreign[lines("z")],
    through: Foreign[lines("z")], reach: Foreign[lines("z")], *, s: Spectrum,
) -> None:  # fmt: skip
    """The solution in one of several slabs, from the ends of all; see `eliminate`."""


@task(kernel=KERNEL, whole=True)
def eliminate(spectrum: ReadWrite, pivots: Read, *, s: Spectrum) -> None:
    """The solution in place of the right-hand side; all planes are one slab.

    Where the problem is singular the mean of x over a plane is 0 in the lowest plane.
    """


find_pivots_dct, slab_gains_dct, slab_sums_dct = dct(find_pivots), dct(slab_gains), dct(slab_sums)
eliminate_slab_dct, eliminate_dct = dct(eliminate_slab), dct(eliminate)


def prepare_elimination(f: Roles, s: Spectrum) -> Iterator[Launch]:
    """Yield the launches for what follows from the grid alone."""
    yield (find_pivots if s.plain else find_pivots_dct)(f.pivots, over=s.modes, s=s)
    if s.slabs > 1:
        gains = slab_gains if s.plain else slab_gains_dct
        yield gains(f.through, f.reach, f.pivots, over=s.ends, s=s)


def elimination(f: Roles, s: Spectrum) -> Iterator[Launch]:
    """The solution in place of the right-hand side."""
    if s.slabs == 1:
        yield (eliminate if s.plain else eliminate_dct)(f.spectrum, f.pivots, over=s.modes, s=s)
        return
    sums, solution = (slab_sums, eliminate_slab) if s.plain else (slab_sums_dct, eliminate_slab_dct)
    yield sums(f.carry_up, f.carry_down, f.spectrum, f.pivots, over=s.ends, s=s)
    yield solution(f.spectrum, f.pivots, *(f[end] for end in ENDS), over=s.modes, s=s)
