"""The volume of phase 1 in a level set, and its conservation by a shift of phi."""

from __future__ import annotations

import math
from collections.abc import Sequence

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.two_phase.openings import Band
from taskflow.runtime.tasks import Read, ReadByte, ReadWrite, Reduce, Scalar, Write, task

TEXT = KERNELS / "two_phase" / "volume.cu"


@task(kernel=TEXT)
def volume_fraction(phi: Read, f: Write, *, band: Band) -> None:
    """f = H(phi / width), H(x) = (1 + x + sin(pi x) / pi) / 2 for |x| < 1 (M. Sussman, P. Smereka, S. Osher 1994)."""


@task(kernel=TEXT)
def volume_of(phi: Read, solid: ReadByte | None, *, volume: Reduce["exact sum", 2], band: Band) -> None:
    """volume = sums over the cells of fluid of H(phi / width) and of its derivative by phi."""


@task(kernel=TEXT)
def volume_of_shifted(
    phi: Read, solid: ReadByte | None,
    *, volume: Reduce["exact sum", 2], first: Scalar["exact sum", 2], kept: Scalar["exact sum"], band: Band,
    most: float,
) -> None:  # fmt: skip
    """`volume_of` phi + shift, shift = (kept - first[0]) / first[1]: a step of Newton's method, by `most` at most."""


@task(kernel=TEXT)
def settle_volume(
    f: Read, solid: ReadByte | None,
    *, volume: Reduce["exact sum"], first: Scalar["exact sum", 2], second: Scalar["exact sum", 2],
    kept: Scalar["exact sum"], grid: Grid, most: float,
) -> None:  # fmt: skip
    """volume = kept or, if a step was larger than `most` or nothing is left to be shifted, the sum of f: the rest then
    counts as outflow.
    """


@task(kernel=TEXT)
def shift_level_set(
    phi: ReadWrite, f: Write,
    *, first: Scalar["exact sum", 2], second: Scalar["exact sum", 2], kept: Scalar["exact sum"], band: Band,
    most: float,
) -> None:  # fmt: skip
    """phi = phi + shift, f = H(phi / width), with the shift `kept_shift` from both volumes and their derivatives:
    `first` at shift 0, `second` after one Newton step.
    """


def kept_shift(first: Sequence[float], second: Sequence[float], kept: float, most: float = math.inf) -> float:
    """Return the shift of phi that keeps its volume: two Newton steps, each by `most` at most, and, if smaller than the
    second, the correction by inverse Hermite interpolation.

    `first` and `second` are volume and derivative at shift 0 and after one Newton step. The interpolant is the cubic of
    the shift as a function of volume through both values and slopes.
    """
    (volume, slope), (volume_2, slope_2) = first, second
    once = max(-most, min(most, (kept - volume) / slope)) if slope > 0 else 0.0
    twice = max(-most, min(most, (kept - volume_2) / slope_2)) if slope_2 > 0 else 0.0
    moved = volume_2 - volume
    if slope_2 <= 0 or moved == 0:
        return once + twice
    before, behind = (once / moved - 1 / slope) / moved, (1 / slope_2 - once / moved) / moved
    more = (kept - volume_2) ** 2 * (behind + (kept - volume) * (behind - before) / moved)
    return once + twice + (more if abs(more) < abs(twice) else 0.0)
