"""Labels joined to parts, each with the shift between its positions and the positions of the part."""

from __future__ import annotations

import numpy as np


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
