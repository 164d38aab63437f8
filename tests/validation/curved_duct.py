"""Flow through a square duct that bends by 90 degrees, Re = 790 (Humphrey, Taylor and Whitelaw 1977)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import taskflow as tf
from taskflow.geometry.grids import write_grid
from taskflow.geometry.grids.multiblock.assembly import Part, assembled
from taskflow.runs.results import Run
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
        """Of one side of that plane: a parabola over the two cells beside it, and means over the end of the bend."""
        _, bend, behind = charts(run)
        ends = (bend["v"][-2:, :, -1] + behind["v"][-2:, :, 0]) / 2
        return cls(behind["x_c"][-1, :, 0] - INNER, (9 * ends[1] - ends[0]) / 8)

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


def case(n: int, folder: Path, strength: float = 1.5, **tables: object) -> tf.Case:
    """The example on one side of its plane of symmetry, 4n x n x n/2 cells, with the ends of the side `ends` as walls;
    widths across the whole duct are those of (1 + tanh(a (2 xi - 1)) / tanh a) / 2, of strength a.
    """
    first = (1 + np.tanh(strength * (2 / n - 1)) / np.tanh(strength)) / 2
    flow = tf.Case.load(EXAMPLE, [f"grid.cells=[{4 * n}, {n}, {n}]", f"grid.first={float(first)!r}"])
    names = {"k_min": "ends", "k_max": "symmetry", "j_min": "outer", "j_max": "inner"}
    ends = [{**names, **end} for end in ({"i_min": "inlet"}, {}, {"i_max": "outlet"})]
    halves = [chart.vertices[:, : n // 2 + 1] for chart in flow.grid.grid().charts]
    write_grid(folder / "duct.xyz", assembled([Part(*part) for part in zip(halves, ends, strict=True)]))
    inlet = {"type": "inflow", "velocity": ["2.25*(1 - 4*y*y)*(1 - 4*z*z)", 0.0, 0.0]}
    sides = {"boundaries.inlet": inlet, "boundaries.symmetry": "symmetry"}
    return flow.replace(grid={"file": str(folder / "duct.xyz")}, **sides, **tables)
