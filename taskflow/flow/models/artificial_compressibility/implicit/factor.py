"""The preconditioner: block ILU(0), which on the seven points of a structured grid is block DILU, and its solves.

    M = (D - L) D^-1 (D - U),    D = pivot - sum over earlier neighbours of A(here, there) D(there)^-1 A(there, here)

An ordering determines which neighbours are earlier (see `taskflow.runtime.tasks.sweep`). Charts are not coupled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from taskflow.common.errors import Avoidable, RunFailed
from taskflow.flow.models.artificial_compressibility.blocks import MatrixBlocks
from taskflow.flow.models.artificial_compressibility.bodies import APERTURE
from taskflow.flow.models.artificial_compressibility.equations import SHORT, Numbers
from taskflow.flow.models.artificial_compressibility.implicit.derivative import TEXTS
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLED, PIVOT
from taskflow.flow.models.artificial_compressibility.stage import EDDIES, METRICS, SWEPT
from taskflow.runtime.regions import Box, Triple
from taskflow.runtime.tasks import (
    Components,
    Launch,
    Ordering,
    Read,
    Reduce,
    Sweep,
    Swept,
    Write,
    sweeps,
    task,
)

TEXT = TEXTS / "solve.cu"
ROW = 2**20  # more cells than an index space has along an axis
RISING, FALLING = Swept["up"], Swept["down"]
UP = Components(p=RISING, u=RISING, v=RISING, w=RISING)
DOWN = Components(p=FALLING, u=FALLING, v=FALLING, w=FALLING)
RIGHT = Components(p_r=Read, u_r=Read, v_r=Read, w_r=Read)


@task(kernel=TEXTS / "invert.cu")
def invert(
    velocity: Components(u=Read[SHORT], v=Read[SHORT], w=Read[SHORT]), T: Read[SHORT] | None,
    scalar: Read[SHORT] | None, coupling: COUPLED, pivot: RISING.any * PIVOT,
    metrics: METRICS, swept: SWEPT, b: Read[SHORT] | None, nu_t: EDDIES, aperture: APERTURE,
    *, sweep: Sweep, numbers: Numbers,
) -> None:  # fmt: skip
    """pivot = D^-1. Its first number is infinite if D is singular, with a pivot ratio above 1e12."""


@task(kernel=TEXT)
def keep_inverse(
    pivot: Read.any * PIVOT, inverse: Write.private * PIVOT, *, cell: Reduce[min], blocks: MatrixBlocks
) -> None:  # fmt: skip
    """inverse = pivot, contiguous; cell = i + ROW (j + ROW k) of the first cell with singular D, else infinite."""


def refuse_singular(charts: tuple[Box, ...], single: bool, scalars: Mapping[str, float]) -> dict[str, float]:
    """Return `sound` = 1. Raises RunFailed if `cell` of `keep_inverse` is finite, Avoidable if factors are `single`."""
    number = scalars["cell"]
    if math.isinf(number):
        return {"sound": 1.0}
    rest, i = divmod(int(number), ROW)
    k, j = divmod(rest, ROW)
    chart = next(
        n for n, box in enumerate(charts) if all(a <= c < b for a, c, b in zip(box.lo, (i, j, k), box.hi, strict=True))
    )
    first = charts[chart].lo
    cell = i - first[0] + 1, j - first[1] + 1, k - first[2] + 1
    what = f"the block of cell {cell} of chart {chart + 1} cannot be inverted"
    why = f"{what}: its pivots are further apart than 1e12, or not finite"
    if single:
        raise imprecise(why)
    raise RunFailed(f"{why}; give a lower method.cfl.most, or march explicitly")


def imprecise(why: str) -> Avoidable:
    """Return the error of single-precision factors, which double precision may avoid."""
    changes = {"method.linear.precision": "double"}
    return Avoidable.by(f'{why}, with method.linear.precision = "single"; "double" may do', changes)


@task(kernel=TEXT)
def forward(
    right: RIGHT, T_r: Read | None, scalar_r: Read | None, coupling: COUPLED, inverse: Read.private * PIVOT, z: UP,
    T: RISING | None, scalar: RISING | None, *, sweep: Sweep, blocks: MatrixBlocks,
) -> None:  # fmt: skip
    """z = D^-1 (right - sum over earlier neighbours of A z)."""


@task(kernel=TEXT)
def backward(
    coupling: COUPLED, inverse: Read.private * PIVOT, z: DOWN, T: FALLING | None, scalar: FALLING | None,
    *, sweep: Sweep, blocks: MatrixBlocks,
) -> None:  # fmt: skip
    """z = z - D^-1 sum over later neighbours of A z."""


Vector = tuple[tuple[str, ...], str | None, str | None]
"""The fields of p, u, v, w, of T and of another scalar of a vector."""


def solves(
    right: Vector, coupling: tuple[str, ...], inverse: str, z: Vector, cells: tuple[Box, ...], ordering: Ordering,
    tile: Triple, blocks: MatrixBlocks,
) -> Iterator[Launch]:  # fmt: skip
    """z = M^-1 right."""
    where: dict[str, Any] = {"over": cells, "blocks": blocks}
    for sweep in sweeps(ordering, "up", tile):
        yield forward(*right, coupling, inverse, *z, **where, sweep=sweep)
    for sweep in sweeps(ordering, "down", tile) if ordering != "jacobi" else ():
        yield backward(coupling, inverse, *z, **where, sweep=sweep)
