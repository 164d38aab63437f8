"""Scalars in the linear equations: the matrix of first order of a scalar, and its factors.

    (V / dtau + V rate) q + sum over faces of (mass q_upwind - diffusivity |S|^2 / V dq) - q times the mass that leaves

The factors are ILU(0) as those of the flow, see `factor`, of numbers instead of blocks.
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
"""Numbers of a cell: the coefficients for its neighbours on the sides x_min to z_max, and that for itself."""
VELOCITY = Components(u=Read[SHORT], v=Read[SHORT], w=Read[SHORT])
RISING, FALLING, ANY = Swept["up"], Swept["down"], Read.any


@task(kernel=TEXT)
def scalar_matrix(
    velocity: VELOCITY, T: Read[SHORT], carry: Write.private * CARRY, pivot: Write, pseudo: Read,
    sides: ReadByte[BESIDE], metrics: METRICS, swept: SWEPT, b: Read[SHORT] | None, nu_t: EDDIES,
    *, rate: Scalar | None, numbers: Numbers,
) -> None:  # fmt: skip
    """The coefficients of a scalar with `numbers.diffusivity`, and a cell's own ones in `pivot`. In ghost cells beyond
    sides T has what one would be there if it were one inside, and everything given were 0.
    """


@task(kernel=TEXT)
def scalar_invert(
    velocity: VELOCITY, carry: Read.private * CARRY, pivot: RISING, metrics: METRICS, swept: SWEPT,
    b: Read[SHORT] | None, nu_t: EDDIES, *, sweep: Sweep, numbers: Numbers,
) -> None:  # fmt: skip
    """pivot = D^-1, from that of the matrix."""


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
    """left = right - A x, neighbours in other charts among them."""


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
    """moved = q + share x; where the share is 0 q, whatever x is."""


@task(kernel=VALUE)
def lift(
    momentum: Components(u_r=ReadWrite, v_r=ReadWrite, w_r=ReadWrite), x: Read, metrics: METRICS, *, numbers: Numbers
) -> None:  # fmt: skip
    """momentum = momentum + V lift x: what x of a temperature adds to it."""


def solves(
    right: str, carry: str, pivot: str, z: str, cells: tuple[Box, ...], ordering: Ordering, tile: Triple
) -> Iterator[Launch]:
    """z = M^-1 right."""
    for sweep in sweeps(ordering, "up", tile):
        yield scalar_forward(right, carry, pivot, z, over=cells, sweep=sweep)
    for sweep in sweeps(ordering, "down", tile) if ordering != "jacobi" else ():
        yield scalar_backward(carry, pivot, z, over=cells, sweep=sweep)
