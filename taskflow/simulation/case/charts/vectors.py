"""Vectors of a case on charts that are numbers or expressions of place and time."""

from __future__ import annotations

import numpy as np

from taskflow.simulation.case.initial import VectorExpression
from taskflow.simulation.expression import Expression


def vary(vector: VectorExpression) -> bool:
    """Whether it is not the same everywhere."""
    return any(isinstance(item, Expression) for item in vector)


def change(vector: VectorExpression) -> bool:
    """Whether it changes in time."""
    return any(isinstance(item, Expression) and item.varies for item in vector)


def components(
    vector: VectorExpression, x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float = 0.0
) -> list[np.ndarray]:  # fmt: skip
    """Its components at points and a time. Raises BadInput where one is not finite."""
    return [item(x, y, z, t) if isinstance(item, Expression) else np.full(x.shape, item) for item in vector]
