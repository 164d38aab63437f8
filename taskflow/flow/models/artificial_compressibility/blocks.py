"""Blocks of the matrix of implicit marching: n x n numbers, n being the unknowns of a cell that it couples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar


def _values(unknowns: int) -> Mapping[str, int]:
    """Return the numbers per cell of fields of blocks, see `implicit.matrix` and `implicit.factor`."""
    block = unknowns**2
    halves = dict.fromkeys(("coupling_low", "coupling_high"), 3 * block)
    return MappingProxyType(halves | dict.fromkeys(("pivot", "own", "inverse"), block))


@dataclass(frozen=True)
class MatrixBlocks:
    """4 x 4: p, u, v, w. Kernels are compiled for each class."""

    unknowns: ClassVar[int] = 4
    values: ClassVar[Mapping[str, int]] = _values(4)


class HeatBlocks(MatrixBlocks):
    """5 x 5: p, u, v, w, T."""

    unknowns: ClassVar[int] = 5
    values: ClassVar[Mapping[str, int]] = _values(5)
    defines: ClassVar[tuple[str, ...]] = ("HEAT",)


class ScalarBlocks(MatrixBlocks):
    """6 x 6: p, u, v, w, T and another scalar."""

    unknowns: ClassVar[int] = 6
    values: ClassVar[Mapping[str, int]] = _values(6)
    defines: ClassVar[tuple[str, ...]] = ("HEAT", "SCALAR")


BLOCKS = (MatrixBlocks(), HeatBlocks(), ScalarBlocks())
"""By the number of coupled scalars."""
