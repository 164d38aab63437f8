"""The equations along z: for every mode x_(k-1) - (2 + kappa) x_k + x_(k+1) = d_k, by two recursive filters.

The operator is -(1 / lambda) (1 - lambda S) (1 - lambda S^-1), S the shift by one plane and lambda the root in (0, 1]
of lambda + 1 / lambda = 2 + kappa. Its factors are inverted by f_k = -lambda d_k + lambda f_(k-1) from the lowest plane
up, and x_k = f_k + lambda x_(k+1) down again. What blocks send each other for that are two numbers per mode and slab.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.spectrum import Spectrum
from taskflow.runtime.tasks import Foreign, Launch, ReadWrite, Roles, Task, Write, lines, task

KERNEL = KERNELS / "poisson" / "tridiagonal.cu"


def dct(plain: Task) -> Task:
    """The task that does the same where x or y has walls: `task`_dct, in the text of that name."""
    kernel = Path(str(plain.kernel))
    return replace(plain, name=f"{plain.name}_dct", kernel=kernel.with_stem(f"{kernel.stem}_dct"))


@task(kernel=KERNEL, whole=True)
def slab_ends(carry_up: Write, carry_down: Write, spectrum: Foreign, *, s: Spectrum) -> None:
    """The last f and the first x of each slab, with zeros coming in from the planes below and above it."""


@task(kernel=KERNEL, whole=True)
def tridiagonal_slab(
    spectrum: ReadWrite, carry_up: Foreign[lines("z")], carry_down: Foreign[lines("z")], *, s: Spectrum
) -> None:
    """The solution in one of several slabs, from the ends of all; see `tridiagonal`."""


@task(kernel=KERNEL, whole=True)
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
