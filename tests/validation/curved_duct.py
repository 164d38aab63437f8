"""Flow through a square duct that bends by 90 degrees, Re = 790 (Humphrey, Taylor and Whitelaw 1977)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import taskflow as tf
from taskflow.simulation.run import Run
from tests.validation.body_fitted import charts

EXAMPLE = Path(__file__).parents[2] / "examples" / "curved_duct.toml"
INNER = 2.3 - 0.5  # radius of the inner wall


class Profile(NamedTuple):
    """Of the velocity along the duct at the end of the bend, in the plane of symmetry, over the mean one: distances
    from the inner wall in widths, which decrease, and values.
    """

    place: np.ndarray
    velocity: np.ndarray

    @classmethod
    def of(cls, run: Run) -> Profile:
        """Means of the two cells on both sides of each plane."""
        _, bend, behind = charts(run)
        middle = bend["v"].shape[0] // 2
        ends = np.stack([bend["v"][..., -1], behind["v"][..., 0]])[:, middle - 1 : middle + 1]
        return cls(behind["x_c"][middle, :, 0] - INNER, ends.mean(axis=(0, 1)))

    def at(self, place: np.ndarray) -> np.ndarray:
        """Values at other distances, by cubics through four cells, in place of those on walls, too."""
        x, q = np.r_[1.0, self.place, 0.0][::-1], np.r_[0.0, self.velocity, 0.0][::-1]
        first = np.clip(np.searchsorted(x, place) - 2, 0, len(x) - 4)
        value = np.zeros(len(place))
        for n in range(4):
            weight = np.ones(len(place))
            for m in range(4):
                if m != n:
                    weight *= (place - x[first + m]) / (x[first + n] - x[first + m])
            value += weight * q[first + n]
        return value

    @property
    def largest(self) -> float:
        """The distance of the largest velocity from the inner wall."""
        fine = np.linspace(0.01, 0.99, 981)
        return float(fine[np.argmax(self.at(fine))])

    def apart(self, other: Profile) -> float:
        """The root mean square difference to another one."""
        places = (np.arange(100) + 0.5) / 100
        return float(np.sqrt(np.mean((self.at(places) - other.at(places)) ** 2)))


def case(n: int, strength: float, **tables: object) -> tf.Case:
    """The example on n x n x 4n cells, whose widths across are those of (1 + tanh(a (2 xi - 1)) / tanh a) / 2."""
    first = (1 + np.tanh(strength * (2 / n - 1)) / np.tanh(strength)) / 2 if strength else 1 / n
    flow = tf.Case.load(EXAMPLE, [f"grid.cells=[{4 * n}, {n}, {n}]", f"grid.first={float(first)!r}"])
    return flow.replace(**tables)
