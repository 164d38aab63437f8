"""Fields that follow from others: expressions in cell centres and Q, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases.formulas.field_expression import FieldExpression
from taskflow.flow.grid import StaggeredGrid
from taskflow.flow.measures.derived import derive, q_criterion
from taskflow.flow.model import VELOCITY
from tests.flow.byhand import LENGTHS, ByHand
from tests.reference import Shifted
from tests.reference.turbulence import gradient


def stretched(cells: tuple[int, int, int]) -> StaggeredGrid:
    edges = [np.linspace(0, 1, n + 1) for n in cells]
    x, y, z = (tuple((length * (e + 0.3 * e * (1 - e))).tolist()) for e, length in zip(edges, LENGTHS, strict=True))
    return StaggeredGrid(cells, LENGTHS, edges=(x, y, z))


@pytest.mark.parametrize("real", ["f8", pytest.param("f4", marks=pytest.mark.slow)])
def test_an_expression_in_cells(real, device):
    grid, fields = stretched((7, 5, 6)), ("u", "v", "w", "p")
    expression = FieldExpression("u*v - w**2 * p + sin(x*t) * minimum(y, z)", fields)
    task = derive("ww", expression.formula, (0.0, 0.0, 0.0))
    hand = ByHand(grid.cells, real=real, **device).fill(task.fields)
    hand.scalars["time"] = 1.7
    named = {name: hand.shifted(f"field_{name}")[0] for name in fields}
    values = {name: (named[name]() + named[name](1, axis)) / 2 for axis, name in enumerate(VELOCITY)}
    expected = expression(*grid.points("c", grid.box), 1.7, {**values, "p": named["p"]()})
    hand.run(hand.launch(task, {"grid": grid.constants}))
    hand.assert_agrees("value", expected)


def test_q_in_cells(device):
    hand = ByHand((7, 5, 6), **device).fill(q_criterion.fields)
    velocity: list[Shifted] = hand.shifted("u", "v", "w")
    g = gradient(velocity, hand.staggered.spacing)
    hand.run(hand.launch(q_criterion, {"grid": hand.staggered.constants}))
    hand.assert_agrees("Q", -np.einsum("ij...,ji...->...", g, g) / 2)
