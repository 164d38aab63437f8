"""The matrix that preconditions: coloured differences of the residual of first order say what it is."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest

from taskflow.flow.models.artificial_compressibility.blocks import BLOCKS
from taskflow.flow.models.artificial_compressibility.equations import ScalarNumbers
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, HALF, PIVOT, matrix, place
from tests.flow.byhand import ByHand, coupled
from tests.flow.test_artificial_compressibility import STATE, faces_that_move, geometry, hand, numbers, paced
from tests.reference import artificial_compressibility as reference
from tests.reference.artificial_compressibility import FAR, INTERIOR, LAYERS, Discretisation
from tests.reference.implicit_compressibility import first_order, mirrored, scalar_first_order

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
    flow, of = (*STATE, "sides", pseudo), (*COUPLING, "pivot")
    made.run(matrix(flow, of, None, None, None, *grid, None, over=made.box, rate=rate, numbers=values))
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
    own = made.fields["pivot"][k, j, :, i]
    count = round(own.size**0.5)
    if side is None:
        return own.reshape(count, count)
    name, first = place(side, BLOCKS[count - 4])
    return coupled(made.fields[name][k, j, first : first + own.size, i], made.device)


def beyond_sides(q: np.ndarray, sides: np.ndarray, *, still: bool = False) -> np.ndarray:
    """A scalar with ghost values next to sides from those inside: -0.5 of these and 0.3, or of free streams 0.7; where
    it is `still`, without what is given.
    """
    q = q.copy()
    for axis in range(3):
        for end in (0, 1):
            ghost = [slice(LAYERS, -LAYERS)] * 3
            inner = list(ghost)
            ghost[2 - axis] = slice(-LAYERS, -LAYERS + 1) if end else slice(LAYERS - 1, LAYERS)
            inner[2 - axis] = slice(-LAYERS - 1, -LAYERS) if end else slice(LAYERS, LAYERS + 1)
            kind, given = sides[tuple(ghost)], 0.0 if still else 1.0
            beyond = np.where(kind == FAR, 0.7 * given, 0.3 * given - 0.5 * q[tuple(inner)])
            q[tuple(ghost)] = np.where(kind == INTERIOR, q[tuple(ghost)], beyond)
    return q


LIFT = 0.4, 0.1, -0.2


@pytest.mark.parametrize(
    ("uniform", "planar", "moves", "scalars"),
    [
        (False, False, True, 2),
        pytest.param(False, False, True, 0, marks=pytest.mark.slow),
        pytest.param(False, False, False, 1, marks=pytest.mark.slow),
        *(pytest.param(True, planar, False, int(planar), marks=pytest.mark.slow) for planar in (False, True)),
    ],
)
def test_the_matrix_is_the_derivative_of_the_residual_of_first_order(uniform, planar, moves, scalars, device):
    """Cells that are three apart along an axis have no neighbour in common: 27 colours. Blocks have T, or T and another
    scalar.
    """
    blocks = BLOCKS[scalars]
    made = assembled(device, uniform=uniform, planar=planar)
    for name in (*COUPLING, "pivot"):
        z, y, _, x = made.fields[name].shape
        made.fields[name] = np.zeros((z, y, blocks.values[name], x))
    swept = faces_that_move(made) if moves else None
    areas, volumes = geometry(made)
    how = Discretisation(0.03, 1.3, diffusivity=0.02, planar=planar)
    names, sides = (*STATE, *("T", "dye")[:scalars]), made.fields["sides"]
    made.fields["dye"] = np.random.default_rng(12).uniform(-1, 1, made.fields["T"].shape)
    values = np.stack([made.fields[name] for name in names])

    def filled(q):
        return np.stack([*mirrored(q[:4], sides, values[:4]), *(beyond_sides(T, sides) for T in q[4:])])

    q = filled(values)
    made.fields |= dict(zip(names, q, strict=True))
    made.fields["T_still"] = beyond_sides(np.ones_like(q[0]), sides, still=True)
    grid = None if uniform else "metrics", "swept" if moves else None, None, None
    inputs = replace(numbers("third", uniform=uniform, planar=planar), blocks=blocks)
    if scalars == 2:
        derived = {part.name: getattr(inputs, part.name) for part in fields(inputs) if part.init}
        inputs = ScalarNumbers(**derived, scalar_diffusivity=0.05)
    pseudo = paced(made, *grid, numbers=inputs)
    flow, of = (*STATE, "sides", pseudo), (*COUPLING, "pivot")
    heat, dye = ((name, "T_still") if name in names else None for name in ("T", "dye"))
    made.run(matrix(flow, of, None, heat, dye, *grid, None, over=made.box, rate=None, numbers=inputs))

    def residual(moved):
        made_of = filled(moved)
        flow = first_order(made_of[:4], q[:4], sides, areas, volumes, how, swept)
        if scalars:
            flow[1:] -= np.multiply.outer(LIFT, reference.at(volumes) * reference.at(moved[4]))
        still = np.zeros_like(areas[:, 0]) if swept is None else swept
        rows = []
        for T, diffusivity in zip(made_of[4:], (0.02, 0.05), strict=False):
            carried = dict(zip("uvwT", (*made_of[1:4], T), strict=True))
            own = replace(how, diffusivity=diffusivity)
            rows.append(scalar_first_order(carried, sides, areas, volumes, own, still))
        return np.stack([*flow, *rows])

    velocity = q[1:4]
    pace = 0.3 / reference.step_per_volume(velocity, areas, volumes, np.full_like(volumes, 1.3), 0.03, how, swept)
    worst, largest = 0.0, max(np.abs(made.fields[name]).max() for name in (*COUPLING, "pivot"))
    for colour, column in product(product(range(3), repeat=3), range(len(names))):
        moved = [q.copy(), q.copy()]
        picked = tuple(slice(LAYERS + first, -LAYERS, 3) for first in reversed(colour))
        for sign, state in zip((1, -1), moved, strict=True):
            state[(column, *picked)] += sign * EPS
        one, other = map(residual, moved)
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
