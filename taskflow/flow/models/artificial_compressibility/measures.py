"""Reductions over all cells for steps and the log. Sums are bitwise identical for any blocks."""

from __future__ import annotations

from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility.equations import SHORT, Numbers
from taskflow.runtime.tasks import Components, Read, ReadWrite, Reduce, Scalar, Write, task

TEXT = KERNELS / "artificial_compressibility" / "measures.cu"
VELOCITY = Components(u=Read, v=Read, w=Read)
METRICS = Read[SHORT] * 10 | None


@task(kernel=TEXT)
def least_step(
    velocity: VELOCITY, metrics: METRICS, b: Read | None, nu_t: Read[SHORT] | None,
    *, dtau: Reduce[min], numbers: Numbers,
) -> None:  # fmt: skip
    """dtau = min over cells of the longest step for a CFL number of 1, see `stage`."""


@task(kernel=TEXT)
def fastest(velocity: VELOCITY, metrics: METRICS, *, rate: Reduce[max], numbers: Numbers) -> None:
    """rate = max over cells of the sum over directions of |u.S| / V, S the mean of both faces."""


@task(kernel=TEXT)
def compressibility_to_exceed(
    velocity: VELOCITY, metrics: METRICS, swept: Read[SHORT] * 3, least: Write, *, most: Reduce[max], numbers: Numbers
) -> None:
    """least = max over directions of u.n (u_g - u).n, or 0, S and u_g.S being means of both faces: with a larger b
    sound is faster than the flow through a moving face. most = max least.
    """


@task(kernel=TEXT)
def local_compressibility(velocity: VELOCITY, b: Write, *, least: float) -> None:
    """b = max(|u|^2, least)."""


@task(kernel=TEXT)
def largest(q: Read, *, most: Reduce[max]) -> None:
    """most = max |q|; NaN anywhere makes it NaN."""


@task(kernel=TEXT)
def sum_of_squares(q: Read, *, squares: Reduce["exact sum", 1], most: Scalar) -> None:
    """squares = sum of q^2; `most` is the largest |q|."""


@task(kernel=TEXT)
def content(
    q: Read, metrics: METRICS, fluid: Read | None,
    *, sums: Reduce["exact sum", 2], most: Scalar, numbers: Numbers,
) -> None:  # fmt: skip
    """sums = V and V q, of the fluid in cut cells. `most`: largest |q|, `numbers.volume`: largest volume."""


@task(kernel=TEXT)
def take_off_mean(q: ReadWrite, *, sums: Scalar["exact sum", 2]) -> None:
    """q = q - sums[1] / sums[0]."""


@task(kernel=TEXT)
def value(q: Read, *, number: Reduce[sum]) -> None:
    """number = the sum of q: launched over one cell, its value there."""


@task(kernel=TEXT)
def take_off(q: ReadWrite, *, number: Scalar) -> None:
    """q = q - number."""
