"""The equations along z: for every mode x_(k-1) - (2 + kappa) x_k + x_(k+1) = d_k, by two recursive filters.

The operator is -(1 / lambda) (1 - lambda S) (1 - lambda S^-1), S the shift by one plane and lambda the root in (0, 1]
of lambda + 1 / lambda = 2 + kappa. Its factors are inverted by f_k = -lambda d_k + lambda f_(k-1) from the lowest plane
up, and x_k = f_k + lambda x_(k+1) down again. What blocks tell each other for that are two numbers per mode and slab.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.spectrum import Spectrum
from taskflow.runtime.tasks import Foreign, Launch, ReadWrite, Roles, Task, Write, lines, task

KERNEL = KERNELS / "poisson" / "tridiagonal.cu"


def folded(plain: Task) -> Task:
    """The task that does the same where x or y has walls: `task`_folded, in the text of that name."""
    kernel = Path(str(plain.kernel))
    return replace(plain, name=f"{plain.name}_folded", kernel=kernel.with_stem(f"{kernel.stem}_folded"))


@task(kernel=KERNEL, whole=True)
def slab_ends(rising: Write, falling: Write, spectrum: Foreign, *, s: Spectrum) -> None:
    """The last f and the first x of each slab, with zeros coming in from the planes below and above it."""


@task(kernel=KERNEL, whole=True)
def tridiagonal_slab(
    spectrum: ReadWrite, rising: Foreign[lines("z")], falling: Foreign[lines("z")], *, s: Spectrum
) -> None:
    """The solution in one of several slabs, from the ends of all; see `tridiagonal`."""


@task(kernel=KERNEL, whole=True)
def tridiagonal(spectrum: ReadWrite, *, s: Spectrum) -> None:
    """The solution in place of the right-hand side; all planes are one slab.

    Where the problem is singular the mean of x over a plane is 0 in the lowest plane.
    """


slab_ends_folded, tridiagonal_folded = folded(slab_ends), folded(tridiagonal)
tridiagonal_slab_folded = folded(tridiagonal_slab)


def filtering(f: Roles, s: Spectrum) -> Iterator[Launch]:
    """The solution in place of the right-hand side."""
    if s.slabs == 1:
        yield (tridiagonal if s.plain else tridiagonal_folded)(f.spectrum, over=s.modes, s=s)
        return
    ends, solution = (slab_ends, tridiagonal_slab) if s.plain else (slab_ends_folded, tridiagonal_slab_folded)
    yield ends(f.rising, f.falling, f.spectrum, over=s.ends, s=s)
    yield solution(f.spectrum, f.rising, f.falling, over=s.modes, s=s)
