"""What a wall gives to the fluid in NumPy: to a cell of the width h next to it."""

from __future__ import annotations

import numpy as np


def given(q: np.ndarray, K: float, h: float, factor: float, value: float) -> np.ndarray:
    """The change of q per time by a ghost value beyond the wall: K (ghost - q) / h^2, ghost = factor q + value."""
    return K * (factor * q + value - q) / h**2
