"""From the cells of one line to those of another: weights, by which values at points and averages over cells go over.

Values at nodes are those of the cubic through the four nearest nodes. An average over a cell is the difference of an
integral at its ends, by the same cubic through the integrals up to the faces of the source: so what all cells hold
together is kept, and the average is of third order (the primitive function of P. Colella, P. R. Woodward 1984,
J. Comput. Phys. 54, 174, without limiter).

A velocity component goes over at nodes along its own direction and by averages across it. Both commute: what flows out
of a cell of the target is the average, with the weights of cells, of what flows out of those of the source. So a
velocity on faces that is free of divergence stays so, to rounding.
"""

from __future__ import annotations

import numpy as np

NODES = 4  # through which a polynomial goes
AROUND = 4  # nodes beyond the ends of a period


def nodal(nodes: np.ndarray, places: np.ndarray, period: float | None = None) -> np.ndarray:
    """Return weights [place, node] of values at increasing nodes; exactly 1 and 0 where a place is a node. With a
    `period` the nodes are those of one, beginning anywhere.
    """
    numbers, around = _around(nodes, period)
    return _folded(_through_nodes(around, places), numbers, len(nodes))


def averaging(faces: np.ndarray, ends: np.ndarray, period: float | None = None) -> np.ndarray:
    """Return weights [cell, source cell] of averages over the cells between `faces` for those between `ends`. With a
    `period` faces are those of one, the last one included.
    """
    numbers, around = _around(faces[:-1] if period else faces, period)
    at_ends = _through_nodes(around, ends)
    change = at_ends[1:] - at_ends[:-1]
    cells = np.arange(around.size - 1)
    used = change != 0
    first, last = used.argmax(axis=1), around.size - 1 - used[:, ::-1].argmax(axis=1)
    beyond = change[:, :0:-1].cumsum(axis=1)[:, ::-1]  # the weight of all faces above a cell
    beyond[(cells < first[:, None]) | (cells >= last[:, None])] = 0.0  # it is rounding alone
    weights = beyond * np.diff(around) / np.diff(ends)[:, None]
    return _folded(weights, numbers[: cells.size], len(faces) - 1)


def _around(nodes: np.ndarray, period: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of nodes, with some of the periods before and after, and where these are."""
    if period is None:
        return np.arange(nodes.size), nodes
    numbers = np.arange(-AROUND, nodes.size + AROUND + 1)
    return numbers % nodes.size, nodes[numbers % nodes.size] + period * (numbers // nodes.size)


def _through_nodes(nodes: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the weights [place, node] of Lagrange's polynomial through the nodes around each place."""
    count = min(NODES, nodes.size)
    above = np.searchsorted(nodes, places, side="right")
    chosen = np.clip(above - count // 2, 0, nodes.size - count)[:, None] + np.arange(count)
    at, weights = nodes[chosen], np.ones((places.size, count))
    for one in range(count):
        for other in range(count):
            if other != one:
                weights[:, one] *= (places - at[:, other]) / (at[:, one] - at[:, other])
    result = np.zeros((places.size, nodes.size))
    np.put_along_axis(result, chosen, weights, axis=1)
    return result


def _folded(weights: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
    """Return weights of `count` nodes from those of nodes with these numbers, of which several may be one node."""
    result = np.zeros((weights.shape[0], count))
    np.add.at(result.T, numbers, weights.T)
    return result
