"""The vectors of a Krylov space. Sums that affect decisions are exact, so bitwise identical for any blocks.

With heat `warm` holds the T components of all vectors, T belongs to the new one, and squares include T^2. Written
fields are `warm_set` and `T_set`, modified ones `warm_kept` and `T_kept`.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.flow.models.artificial_compressibility.implicit.derivative import TEXTS
from taskflow.runtime.tasks import Components, Read, ReadWrite, Reduce, Scalar, ScalarArray, Write, task

TEXT = TEXTS / "krylov.cu"
MOST = 40
"""The most vectors before a restart."""
PART = 20
"""Vectors per field: `later` holds any further ones."""
AT_ONCE = 10  # sums of a launch
VALUES, WARM = 4 * PART, MOST
SHARES = Scalar["sum", MOST]
SUMS = ScalarArray("sum", 10, exact=True, reduced=False)
SQUARE = ScalarArray("sum", 1, exact=True, reduced=False)
ANY = Read.any
READ_ROWS, WRITTEN_ROWS, CHANGED_ROWS = (way.private.rows for way in (Read, Write, ReadWrite))
VECTOR = Components(p=Read, u=Read, v=Read, w=Read)
WRITTEN = Components(p=Write, u=Write, v=Write, w=Write)
CHANGED = Components(p=ReadWrite, u=ReadWrite, v=ReadWrite, w=ReadWrite)


@dataclass(frozen=True)
class Weights:
    """The weights of p^2 and T^2 in the square of a length, with weight 1 for velocities."""

    pressure: float
    heat: float


@task(kernel=TEXT)
def largest_square(vector: VECTOR, T: Read | None, *, most: Reduce[max], weights: Weights) -> None:
    """most = max over cells of weights.pressure p^2 + u^2 + v^2 + w^2."""


@task(kernel=TEXT)
def square(
    vector: VECTOR, T: Read | None, *, squares: Reduce["exact sum", 1], most: Scalar, weights: Weights
) -> None:  # fmt: skip
    """squares = sum over cells of weights.pressure p^2 + u^2 + v^2 + w^2; `most` is the largest term."""


@task(kernel=TEXT)
def first_vector(
    right: Components(p_r=ANY, u_r=ANY, v_r=ANY, w_r=ANY), T_r: ANY | None, vectors: WRITTEN_ROWS * VALUES,
    later_set: WRITTEN_ROWS * VALUES | None, warm_set: WRITTEN_ROWS * WARM | None, vector: WRITTEN,
    T_set: Write | None, *, scale: Scalar,
) -> None:  # fmt: skip
    """vector = scale right, in any precision: the first of the vectors."""


@task(kernel=TEXT)
def products(
    vectors: READ_ROWS * VALUES, later: READ_ROWS * VALUES | None, warm: READ_ROWS * WARM | None,
    vector: VECTOR, T: Read | None,
    *, along: Reduce["exact sum", 10], most: Scalar, count: Scalar, first: int, weights: Weights,
) -> None:  # fmt: skip
    """along[n] = vectors[first + n] . vector, over the `count` vectors; `most` as in `square`."""


@task(kernel=TEXT)
def orthogonal(
    vectors: READ_ROWS * VALUES, later: READ_ROWS * VALUES | None, warm: READ_ROWS * WARM | None,
    vector: CHANGED, T_kept: ReadWrite | None,
    *, along_0: SUMS, along_1: SUMS, along_2: SUMS, along_3: SUMS, count: Scalar, most: Reduce[max], weights: Weights,
) -> None:  # fmt: skip
    """vector = vector - sum of along[n] vectors[n], with `along` in parts of ten; most as `largest_square` of it."""


@task(kernel=TEXT)
def next_vector(
    vectors: CHANGED_ROWS * VALUES, later_kept: CHANGED_ROWS * VALUES | None,
    warm_kept: CHANGED_ROWS * WARM | None, vector: CHANGED, T_kept: ReadWrite | None,
    *, place: Scalar, scale: Scalar,
) -> None:  # fmt: skip
    """vector = scale vector, as stored, and vectors[place] = vector if memory allows."""


@task(kernel=TEXT)
def combined(
    vectors: READ_ROWS * VALUES, later: READ_ROWS * VALUES | None, warm: READ_ROWS * WARM | None,
    vector: WRITTEN, T_set: Write | None, *, share: SHARES, count: Scalar,
) -> None:  # fmt: skip
    """vector = sum of share[n] vectors[n], over the `count` vectors."""
