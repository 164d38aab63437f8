"""Fields that follow from others: expressions in cell centres and those of the gradient, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.analysis.derived import second_eigenvalue
from taskflow.cases.formulas.field_expression import FieldExpression
from taskflow.common.derived_names import COMPONENTS
from taskflow.flow.grid import StaggeredGrid
from taskflow.flow.measures.derived import OF_GRADIENT, derive
from taskflow.flow.model import VELOCITY
from tests.flow.byhand import LENGTHS, ByHand
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


def curl(g: np.ndarray) -> np.ndarray:
    return np.stack([g[2, 1] - g[1, 2], g[0, 2] - g[2, 0], g[1, 0] - g[0, 1]])


EXACT = {
    "Q": lambda g: -np.einsum("ij...,ji...->...", g, g) / 2,
    "lambda2": lambda g: second_eigenvalue(np.moveaxis(g, (0, 1), (-2, -1))),
    "vorticity": lambda g: np.sqrt((curl(g) ** 2).sum(axis=0)),
    **{name: lambda g, n=n: curl(g)[n] for n, name in enumerate(COMPONENTS)},
}


@pytest.mark.parametrize("name", EXACT)
def test_what_follows_from_the_gradient_in_cells(name, device):
    """Beside a body its neighbours have minus the velocity of the cell; within it is 0."""
    for bodies in (False, True):
        hand = ByHand((7, 5, 6), **device).fill([*"uvw", "value"])
        solid = None
        if bodies:
            solid, flags = "solid", np.zeros(hand.memory.shape[::-1])
            flags[hand.box.slices(hand.memory.lo)][2, 2, 3] = 64
            hand.fields["solid"] = flags
        role = "Q" if name == "Q" else "value"
        hand.fields.setdefault(role, hand.fields["value"].copy())
        hand.run(OF_GRADIENT[name](tuple("uvw"), solid, role, over=hand.box, grid=hand.staggered.constants))
        expected = EXACT[name](gradient(hand.shifted("u", "v", "w"), hand.staggered.spacing))
        if bodies:
            expected[2, 2, 3] = 0.0
        hand.assert_agrees(role, expected)
