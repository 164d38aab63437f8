"""Connected parts of a phase: labels of cells, extended over the interface, and the union of labels that are one part.

Cells in which the phase has at least half are connected by faces. Up to `MIXED` cells around them, others with a share
of the phase belong to the part of their neighbour with the largest share.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

MIXED = 3  # cells over which the shares of a smoothed interface fall from a half to 0
SIDES = [(axis, step) for axis in range(3) for step in (-1, 1)]


def labelled(share: np.ndarray) -> tuple[np.ndarray, int]:
    """Return labels 1, 2, ... of cells with at least half of the phase, 0 elsewhere, and the number of labels."""
    labels, count = ndimage.label(share >= 0.5)
    return labels.astype(np.int64), count


def spread(labels: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return the labels, extended to adjacent cells that have a share but no label.

    Both arrays [z, y, x] have a layer of cells more than the result on each side.
    """
    inner = (slice(1, -1),) * 3
    result = labels[inner].copy()
    cells = np.nonzero((result == 0) & (share[inner] > 0))
    chosen, best = result[cells], np.zeros(len(cells[0]))
    for axis, step in SIDES:
        adjacent = [places + 1 - step * (number == 2 - axis) for number, places in enumerate(cells)]
        other, of = labels[tuple(adjacent)], share[tuple(adjacent)]
        taken = (other > 0) & (of > best)
        chosen[taken], best[taken] = other[taken], of[taken]
    result[cells] = chosen
    return result


class Joined:
    """Disjoint sets of labels (1, 2, ...), with a vector between the positions of a label and of its set."""

    def __init__(self) -> None:
        self._parent, self._shift = [0], [np.zeros(3)]
        self._endless: dict[int, np.ndarray] = {}

    def add(self, count: int) -> int:
        """Add labels, each a set, and return the number of earlier labels."""
        before = len(self._parent) - 1
        self._parent += range(before + 1, before + 1 + count)
        self._shift += [np.zeros(3)] * count
        return before

    def place(self, label: int) -> tuple[int, np.ndarray]:
        """Return the set of a label, and the shift of its positions."""
        root, path = label, []
        while self._parent[root] != root:
            path.append(root)
            root = self._parent[root]
        shift = np.zeros(3)
        for one in reversed(path):
            shift = self._shift[one] + shift
            self._parent[one], self._shift[one] = root, shift
        return root, shift

    def join(self, ahead: int, behind: int, shift: np.ndarray) -> None:
        """Join two sets. Positions of the label `ahead` plus `shift` equal positions of the label `behind`."""
        (a, from_a), (b, from_b) = self.place(ahead), self.place(behind)
        between = shift + from_b - from_a
        if a != b:
            self._parent[a], self._shift[a] = b, between
            self._endless[b] = self.endless(a) | self.endless(b)
        elif (round_ := abs(between) > 0.5 * np.max(np.abs(shift), initial=0.0)).any() and np.abs(between).max() > 0:
            self._endless[a] = self.endless(a) | round_

    def endless(self, root: int) -> np.ndarray:
        """Return True for axes along which a set extends round a periodic domain."""
        return self._endless.get(root, np.zeros(3, bool))
