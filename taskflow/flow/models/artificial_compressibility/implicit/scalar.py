"""Scalars in the linear equations: the first-order matrix of a scalar, and its factors.

    (V / dtau + V rate) q + sum over faces of (mass q_upwind - diffusivity |S|^2 / V dq) - q times the mass outflow

The factors are ILU(0) as for the flow, see `factor`, with numbers instead of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.flow.models.artificial_compressibility.equations import SHORT, Numbers
from taskflow.flow.models.artificial_compressibility.implicit.derivative import TEXTS
from taskflow.flow.models.artificial_compressibility.stage import BESIDE, EDDIES, METRICS, SWEPT
from taskflow.runtime.regions import Box, Triple
from taskflow.runtime.tasks import (
    Components,
    Launch,
    Ordering,
    Read,
    ReadByte,
    ReadWrite,
    Scalar,
    Sweep,
    Swept,
    Write,
    sweeps,
    task,
)

TEXT, VALUE = TEXTS / "scalar.cu", TEXTS / "value.cu"
CARRY = 7
"""Numbers per cell: the coefficients of its neighbours on the sides x_min to z_max, and its own."""
VELOCITY = Components(u=Read[SHORT], v=Read[SHORT], w=Read[SHORT])
RISING, FALLING, ANY = Swept["up"], Swept["down"], Read.any


@task(kernel=TEXT)
def scalar_matrix(
    velocity: VELOCITY, T: Read[SHORT], carry: Write.private * CARRY, pivot: Write, pseudo: Read,
    sides: ReadByte[BESIDE], metrics: METRICS, swept: SWEPT, b: Read[SHORT] | None, nu_t: EDDIES,
    *, rate: Scalar | None, numbers: Numbers,
) -> None:  # fmt: skip
    """The coefficients of a scalar with `numbers.diffusivity`, and the diagonal in `pivot`. In ghost cells of sides T
    is the ghost value for 1 inside and homogeneous conditions.
    """


@task(kernel=TEXT)
def scalar_invert(
    velocity: VELOCITY, carry: Read.private * CARRY, pivot: RISING, metrics: METRICS, swept: SWEPT,
    b: Read[SHORT] | None, nu_t: EDDIES, *, sweep: Sweep, numbers: Numbers,
) -> None:  # fmt: skip
    """pivot = D^-1, from the pivot of the matrix."""


@task(kernel=TEXT)
def scalar_forward(right: Read, carry: Read.private * CARRY, pivot: ANY, z: RISING, *, sweep: Sweep) -> None:
    """z = D^-1 (right - sum over earlier neighbours of A z)."""


@task(kernel=TEXT)
def scalar_backward(carry: Read.private * CARRY, pivot: ANY, z: FALLING, *, sweep: Sweep) -> None:
    """z = z - D^-1 sum over later neighbours of A z."""


@task(kernel=VALUE)
def value_right(q: Read, right: Write, metrics: METRICS, *, numbers: Numbers) -> None:
    """right = -V q."""


@task(kernel=VALUE)
def value_left(carry: Read.private * CARRY, right: Read, x: Read[1], left: Write) -> None:
    """left = right - A x, including neighbours in other charts."""


@task(kernel=VALUE)
def value_same(q: Write, x: ANY) -> None:
    """q = x, which may be in another precision."""


@task(kernel=VALUE)
def value_added(q: ReadWrite, x: ANY, *, by: float) -> None:
    """q = q + by x, which may be in another precision."""


@task(kernel=VALUE)
def value_damped(rest: ReadWrite, q: ReadWrite, *, damping: Scalar) -> None:
    """rest = q = rest - damping q."""


@task(kernel=VALUE)
def value_moved(q: Read, x: Read, moved: Write, *, share: Scalar) -> None:
    """moved = q + share x; moved = q if the share is 0, for any x."""


@task(kernel=VALUE)
def lift(
    momentum: Components(u_r=ReadWrite, v_r=ReadWrite, w_r=ReadWrite), x: Read, metrics: METRICS, *, numbers: Numbers
) -> None:  # fmt: skip
    """momentum = momentum + V lift x, with x a change of temperature."""


def solves(
    right: str, carry: str, pivot: str, z: str, cells: tuple[Box, ...], ordering: Ordering, tile: Triple
) -> Iterator[Launch]:
    """z = M^-1 right."""
    for sweep in sweeps(ordering, "up", tile):
        yield scalar_forward(right, carry, pivot, z, over=cells, sweep=sweep)
    for sweep in sweeps(ordering, "down", tile) if ordering != "jacobi" else ():
        yield scalar_backward(carry, pivot, z, over=cells, sweep=sweep)
