"""The matrix that preconditions: coloured differences of the residual of first order say what it is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, HALF, PIVOT, matrix, place
from tests.flow.byhand import ByHand, coupled
from tests.flow.test_artificial_compressibility import STATE, faces_that_move, geometry, hand, numbers, paced
from tests.reference import artificial_compressibility as reference
from tests.reference.artificial_compressibility import LAYERS, Discretisation
from tests.reference.implicit_compressibility import first_order, mirrored

CELLS, EPS = (7, 5, 6), 1e-6


def assembled(
    device, *, uniform: bool, planar: bool = False, slowness: float = 0.3, cells=CELLS, rate: str | None = None
) -> ByHand:  # fmt: skip
    """Random fields between sides of all kinds, with their matrix; in real time at a `rate`."""
    made = hand("f8", device, uniform=uniform, cells=cells)
    shape = made.memory.shape[::-1]
    for name, values in (*((name, HALF) for name in COUPLING), ("pivot", PIVOT)):
        made.fields[name] = np.zeros((*shape[:2], values, shape[2]))
    made.scalars["rate"] = 0.7
    grid = None if uniform else "metrics", None, None, None
    values = numbers("third", uniform=uniform, planar=planar, cells=cells)
    pseudo = paced(made, *grid, numbers=values, slowness=slowness)
    where = pseudo, *grid, None
    made.run(matrix((*STATE, "sides"), COUPLING, "pivot", None, *where, over=made.box, rate=rate, numbers=values))
    return made


@pytest.mark.slow
def test_real_time_is_on_the_diagonal_of_momentum(device):
    steady, real = (assembled(device, uniform=False, rate=rate) for rate in (None, "rate"))
    volume = reference.at(geometry(real)[1])[2, 1, 3]
    np.testing.assert_allclose(
        block(real, (3, 1, 2), None) - block(steady, (3, 1, 2), None), np.diag([0, *[0.7 * volume] * 3]), atol=1e-14
    )


def block(made: ByHand, cell, side: int | None) -> np.ndarray:
    """The block of a cell (i, j, k) for a neighbour, or for itself."""
    i, j, k = (n + LAYERS for n in cell)
    if side is None:
        return made.fields["pivot"][k, j, :, i].reshape(4, 4)
    name, first = place(side)
    return coupled(made.fields[name][k, j, first : first + PIVOT, i], made.device)


@pytest.mark.parametrize(
    ("uniform", "planar", "moves"),
    [
        (False, False, True),
        pytest.param(False, False, False, marks=pytest.mark.slow),
        *(pytest.param(True, planar, False, marks=pytest.mark.slow) for planar in (False, True)),
    ],
)
def test_the_matrix_is_the_derivative_of_the_residual_of_first_order(uniform, planar, moves, device):
    """Cells that are three apart along an axis have no neighbour in common: 27 colours."""
    made = assembled(device, uniform=uniform, planar=planar)
    swept = faces_that_move(made) if moves else None
    areas, volumes = geometry(made)
    how = Discretisation(0.03, 1.3, planar=planar)
    q = np.stack([made.fields[name] for name in STATE])
    sides = made.fields["sides"]
    values = q.copy()
    q = mirrored(q, sides, values)
    made.fields |= dict(zip(STATE, q, strict=True))
    grid = None if uniform else "metrics", "swept" if moves else None, None, None
    inputs = numbers("third", uniform=uniform, planar=planar)
    pseudo = paced(made, *grid, numbers=inputs)
    where = pseudo, *grid, None
    made.run(matrix((*STATE, "sides"), COUPLING, "pivot", None, *where, over=made.box, rate=None, numbers=inputs))
    velocity = q[1:]
    pace = 0.3 / reference.step_per_volume(velocity, areas, volumes, np.full_like(volumes, 1.3), 0.03, how, swept)
    worst, largest = 0.0, max(np.abs(made.fields[name]).max() for name in (*COUPLING, "pivot"))
    for colour, column in product(product(range(3), repeat=3), range(4)):
        moved = [q.copy(), q.copy()]
        picked = tuple(slice(LAYERS + first, -LAYERS, 3) for first in reversed(colour))
        for sign, state in zip((1, -1), moved, strict=True):
            state[(column, *picked)] += sign * EPS
        one, other = (first_order(mirrored(s, sides, values), q, sides, areas, volumes, how, swept) for s in moved)
        difference = (one - other) / (2 * EPS)
        for cell in product(*(range(n) for n in CELLS)):
            for side in (None, *range(6)):
                present = list(cell)
                if side is not None:
                    present[side // 2] += 1 if side % 2 else -1
                if any(not 0 <= t < n or t % 3 != c for t, n, c in zip(present, CELLS, colour, strict=True)):
                    continue
                if planar and side in (4, 5):
                    continue
                result = difference[:, cell[2], cell[1], cell[0]].copy()
                if side is None:
                    result[column] += pace[cell[2], cell[1], cell[0]] / (1.3 if column == 0 else 1.0)
                worst = max(worst, np.abs(block(made, cell, side)[:, column] - result).max())
    assert worst < 1e-8 * largest
