"""Which points are in which boxes: pairs of both that are worth a look, a piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

PIECE = 1 << 14  # pairs that are looked at in one go

Worth = Callable[[np.ndarray, np.ndarray], np.ndarray]


def pairs(
    low: np.ndarray, high: np.ndarray, points: np.ndarray, width: float, worth: Worth | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the numbers of boxes and of points, all pairs of a point [n, axis] in a box from `low` to `high`
    [n, axis], and others close by: points are looked for by cubes of this `width`.

    `worth` says of boxes, by number, with the centres of cubes whether to look at the points in these.
    """
    start = points.min(axis=0)
    cubes = ((points - start) / width).astype(np.int64)
    room = cubes.max(axis=0) + 1
    keys = np.ravel_multi_index(tuple(cubes.T), tuple(room))
    order = np.argsort(keys, kind="stable")
    filled, begin, count = np.unique(keys[order], return_index=True, return_counts=True)
    # however far away a box is, its cubes have numbers
    first, last = (np.clip(np.floor((end - start) / width), -1, room).astype(np.int64) for end in (low, high))
    near = ((first < room) & (last >= 0)).all(axis=1)
    first, last = np.clip(first, 0, room - 1), np.clip(last, 0, room - 1)
    across = last - first + 1
    for boxes, within in _listed(np.where(near, across.prod(axis=1), 0)):
        shift = np.stack(_unravelled(within, across[boxes]), axis=1)
        cube = first[boxes] + shift
        key = np.ravel_multi_index(tuple(cube.T), tuple(room))
        place = np.minimum(np.searchsorted(filled, key), filled.size - 1)
        looked = filled[place] == key
        boxes, place, cube = boxes[looked], place[looked], cube[looked]
        if worth is not None:
            looked = worth(boxes, start + (cube + 0.5) * width)
            boxes, place = boxes[looked], place[looked]
        for pair, n in _listed(count[place]):
            yield boxes[pair], order[begin[place[pair]] + n]


def _listed(counts: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for so many things of each owner, the numbers of owners and those of things from 0."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    for start in range(0, total, PIECE):
        thing = np.arange(start, min(start + PIECE, total))
        owner = np.searchsorted(ends, thing, "right")
        yield owner, thing - (ends[owner] - counts[owner])


def _unravelled(number: np.ndarray, across: np.ndarray) -> list[np.ndarray]:
    """The places along each axis of a number in a box of so many cubes along each."""
    places = []
    for axis in range(across.shape[1]):
        places.append(number % across[:, axis])
        number = number // across[:, axis]
    return places
