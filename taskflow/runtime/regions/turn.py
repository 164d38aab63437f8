"""Turns: how the cells of one chart of an atlas are numbered by another one, and arrays seen so."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

from taskflow.runtime.regions.box import Box, Triple, triple

STRAIGHT: Triple = (1, 2, 3)


def _sign(number: int) -> int:
    return 1 if number > 0 else -1


@dataclass(frozen=True, slots=True)
class Turn:
    """An index transform of cells: signed axes and a shift.

    The a-th axis runs along the axis `abs(axes[a])` of the images, backwards where it is negative, as CGNS has it: the
    image of the cell c has the index `c[a] + shift[b]`, or `shift[b] - c[a]`, along that axis b. Raises ValueError
    where the axes are no signed permutation of 1, 2, 3.
    """

    axes: Triple = STRAIGHT
    shift: Triple = (0, 0, 0)

    def __post_init__(self) -> None:
        if self.axes != STRAIGHT and sorted(map(abs, self.axes)) != [1, 2, 3]:
            raise ValueError(f"axes = {self.axes}; give 1, 2 and 3 in any order, each with a sign")

    def __call__(self, box: Box) -> Box:
        """The box of the images of the cells of a box."""
        if self.axes == STRAIGHT:
            return box.shift(self.shift)
        lo, hi = [0, 0, 0], [0, 0, 0]
        for axis, first, last in zip(self.axes, box.lo, box.hi, strict=True):
            b = abs(axis) - 1
            shift = self.shift[b]
            lo[b], hi[b] = (first + shift, last + shift) if axis > 0 else (shift - last + 1, shift - first + 1)
        return Box(triple(lo), triple(hi))

    def __matmul__(self, first: Turn) -> Turn:
        """The turn that does `first`, then this one."""
        axes, shift = [0, 0, 0], [0, 0, 0]
        for a, one in enumerate(first.axes):
            b = abs(one) - 1
            other = self.axes[b]
            c = abs(other) - 1
            axes[a] = (c + 1) * _sign(one) * _sign(other)
            shift[c] = _sign(other) * first.shift[b] + self.shift[c]
        return Turn(triple(axes), triple(shift))

    @property
    def inverse(self) -> Turn:
        """The turn that takes images back."""
        axes, shift = [0, 0, 0], [0, 0, 0]
        for a, axis in enumerate(self.axes):
            b = abs(axis) - 1
            axes[b], shift[a] = _sign(axis) * (a + 1), -_sign(axis) * self.shift[b]
        return Turn(triple(axes), triple(shift))

    @property
    def rotates(self) -> bool:
        """Whether it takes right-handed axes to right-handed ones."""
        a, b, c = (abs(axis) for axis in self.axes)
        even = (a, b, c) in ((1, 2, 3), (2, 3, 1), (3, 1, 2))
        return (_sign(self.axes[0]) * _sign(self.axes[1]) * _sign(self.axes[2]) > 0) == even


IDENTITY = Turn()
ROTATIONS = tuple(
    turn
    for order in permutations((1, 2, 3))
    for signs in product((1, -1), repeat=3)
    if (turn := Turn(triple(s * n for s, n in zip(signs, order, strict=True)))).rotates
)
"""The 24 turns without a shift between right-handed charts."""


def seen(array: Any, axes: Triple) -> Any:
    """A view of an array [z, y, x], or [z, y, value, x], in which its axes x, y, z run as the images' of a turn with
    these axes: the images' array takes it as it is.
    """
    if axes == STRAIGHT:
        return array
    place = (array.ndim - 1, 1, 0)  # of x, y and z
    order = list(range(array.ndim))
    for axis, source in zip(axes, place, strict=True):
        order[place[abs(axis) - 1]] = source
    cuts = [slice(None)] * array.ndim
    for axis, source in zip(axes, place, strict=True):
        cuts[source] = slice(None, None, _sign(axis))
    return array[tuple(cuts)].transpose(order)
