"""Exact solutions of the Navier-Stokes equations that fill a periodic box, carried by a mean flow.

Carried, because vortices at rest are blind: there the convection term is a gradient, and whatever it is the pressure
takes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from taskflow.cases import Case

TAU = 2 * np.pi


@dataclass(frozen=True)
class TaylorGreen:
    """Taylor & Green (1937) in the plane of the axes `first` and `second`: reference/taylor_green.toml, moving.

    With X = a - U t, Y = b - V t, mean velocity (U, V) = (1, 0.5), f = exp(-2 nu t):
    u_a = U + cos X sin Y f,  u_b = V - sin X cos Y f,  p = -(cos 2X + cos 2Y) f^2 / 4.
    """

    viscosity: float
    first: int
    second: int
    mean: tuple[float, float] = (1.0, 0.5)

    def velocity(self, axis: int, time: float, *points: np.ndarray) -> np.ndarray:
        """The velocity along an axis at points x, y, z."""
        X, Y, decay = self._moving(time, points)
        if axis == self.first:
            return self.mean[0] + np.cos(X) * np.sin(Y) * decay
        if axis == self.second:
            return self.mean[1] - np.sin(X) * np.cos(Y) * decay
        return np.zeros_like(X * Y)

    def pressure(self, time: float, *points: np.ndarray) -> np.ndarray:
        """The pressure, with mean 0."""
        X, Y, decay = self._moving(time, points)
        return -(np.cos(2 * X) + np.cos(2 * Y)) / 4 * decay**2

    def energy(self, time: float) -> float:
        """Mean of |u|^2 / 2."""
        return 0.25 * np.exp(-4 * self.viscosity * time) + (self.mean[0] ** 2 + self.mean[1] ** 2) / 2

    def _moving(self, time: float, points: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray, float]:
        X = points[self.first] - self.mean[0] * time
        Y = points[self.second] - self.mean[1] * time
        return X, Y, float(np.exp(-2 * self.viscosity * time))


@dataclass(frozen=True)
class Beltrami:
    """The three-dimensional flow of Arnold, Beltrami & Childress, carried by a mean flow: all terms of convection.

    With X = x - U t and so on, f = exp(-nu t): u = U + (A sin Z + C cos Y) f, v = V + (B sin X + A cos Z) f,
    w = W + (C sin Y + B cos X) f. The vorticity is parallel to the velocity, so p = -|u - U|^2 / 2.
    """

    viscosity: float
    amplitudes: tuple[float, float, float] = (0.9, 0.5, 0.7)
    mean: tuple[float, float, float] = (0.4, -0.3, 0.6)

    def velocity(self, axis: int, time: float, *points: np.ndarray) -> np.ndarray:
        """The velocity along an axis at points x, y, z."""
        return self.mean[axis] + self._eddies(time, points)[axis]

    def pressure(self, time: float, *points: np.ndarray) -> np.ndarray:
        """The pressure, with mean 0."""
        A, B, C = self.amplitudes
        mean = (A * A + B * B + C * C) / 2 * np.exp(-2 * self.viscosity * time)
        return mean - sum(q * q for q in self._eddies(time, points)) / 2

    def energy(self, time: float) -> float:
        """Mean of |u|^2 / 2."""
        squares = [a * a * np.exp(-2 * self.viscosity * time) for a in self.amplitudes]
        return 0.5 * sum(squares) + sum(U * U for U in self.mean) / 2

    def _eddies(self, time: float, points: tuple[np.ndarray, ...]) -> list[np.ndarray]:
        X, Y, Z = (p - U * time for p, U in zip(points, self.mean, strict=True))
        (A, B, C), decay = self.amplitudes, np.exp(-self.viscosity * time)
        parts = A * np.sin(Z) + C * np.cos(Y), B * np.sin(X) + A * np.cos(Z), C * np.sin(Y) + B * np.cos(X)
        return [decay * part for part in parts]


Exact = TaylorGreen | Beltrami


@dataclass(frozen=True)
class Numerics:
    """The words of a case for the solver of its pressure, and for its scheme in time."""

    pressure: Mapping[str, object]
    scheme: str = "ab2"

    @classmethod
    def sweeps(cls, number: int) -> Numerics:
        """So many of Jacobi, in every step."""
        return cls({"iterations": number})


def periodic_case(exact: Exact, cells: tuple[int, int, int], steps: int, end: float, by: Numerics) -> Case:
    """The vortices in a box of side 2 pi, in so many equal steps."""
    return Case(
        grid={"cells": cells, "lengths": [TAU, TAU, TAU]},
        fluid={"viscosity": exact.viscosity},
        boundaries={"x": "periodic", "y": "periodic", "z": "periodic"},
        initial={"velocity": [partial(exact.velocity, axis, 0.0) for axis in range(3)]},
        time={"end": end, "step": end / steps, "scheme": by.scheme},
        pressure=by.pressure,
        monitor={"every": {"steps": 1}},
    )
