"""Taylor-Green vortices at Re = 1600 in a periodic cube, for all codes: fields, time step, energy and divergence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

SIDE, VISCOSITY, COURANT = 2 * math.pi, 1 / 1600, 0.25  # the largest speed is 1


@dataclass(frozen=True)
class Flow:
    """The flow on `cells` along each side, in `precision` "single" or "double"."""

    cells: int
    precision: str

    @property
    def spacing(self) -> float:
        """Width of a cell."""
        return SIDE / self.cells

    @property
    def step(self) -> float:
        """Length of a time step."""
        return COURANT * self.spacing

    def velocity(self, staggered: bool, low: bool = False) -> list[np.ndarray]:
        """Return u, v, w as arrays [x, y, z]: at vertices, or on the high (or low) faces of the cells along x, y, z."""
        fields = []
        for axis in range(3):
            shift = [0.5 if staggered else 0.0] * 3
            if staggered:
                shift[axis] = 0.0 if low else 1.0
            points = ((np.arange(self.cells) + part) * self.spacing for part in shift)
            x, y, z = np.meshgrid(*points, indexing="ij", sparse=True)
            exact = (np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z), 0 * (x + y + z))
            fields.append(exact[axis].astype("f4" if self.precision == "single" else "f8"))
        return fields


@dataclass(frozen=True)
class State:
    """What shows that a code did the work: mean kinetic energy, and largest divergence by the code's own operator."""

    energy: float
    divergence: float


class Peer(Protocol):
    """A code with the flow in it."""

    def advance(self, steps: int) -> None:
        """Take steps, and return when they are done."""

    def state(self) -> State:
        """Return the energy and the divergence of the present fields."""


def energy(velocity: Sequence[np.ndarray]) -> float:
    """Return the mean kinetic energy, of faces or vertices."""
    return 0.5 * sum(float(np.mean(np.square(field, dtype="f8"))) for field in velocity)


def divergence(velocity: Sequence[np.ndarray], flow: Flow) -> float:
    """Return the largest divergence on cells, from arrays [x, y, z] on low faces."""
    sides = (np.roll(field, -1, axis) - field for axis, field in enumerate(velocity))
    return float(abs(sum(sides)).max()) / flow.spacing
