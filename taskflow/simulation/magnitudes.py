"""Whether numbers of a case, and the products that the equations form of them, can be computed in its precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Products = Mapping[str, float]


@dataclass(frozen=True)
class Magnitudes:
    """The narrowest cells of a grid along x, y and z, the largest diffusivity, and the precision of the fields.

    Every method says what is wrong with a number, or None.
    """

    spacings: tuple[float, float, float]
    diffusivity: float
    precision: str

    @property
    def info(self) -> np.finfo[np.floating]:
        """The limits of the numbers that fields hold."""
        return np.finfo("f8" if self.precision == "double" else "f4")

    def spacing(self, width: float) -> str | None:
        """Of a width of cells: its square and what it divides are formed."""
        with np.errstate(all="ignore"):
            h = np.float64(width)
            return self._lost({"its square": h * h, "one over its square": 1 / (h * h)}, small=True)

    def velocity(self, value: float) -> str | None:
        """Of a component of the velocity: its square, and how it changes over a cell."""
        with np.errstate(all="ignore"):
            u, h = np.float64(value), np.float64(min(self.spacings))
            squares = {"its square": u * u, "its square over the spacing": u * u / h}
            return self._lost({**squares, "its diffusion over a cell": self.diffusivity * u / (h * h)})

    def carried(self, value: float) -> str | None:
        """Of a temperature or another scalar."""
        with np.errstate(all="ignore"):
            c, h = np.float64(value), np.float64(min(self.spacings))
            diffusing = self.diffusivity * c / (h * h)
            return self._lost({"its square": c * c, "its diffusion over a cell": diffusing})

    def diffuses(self, value: float) -> str | None:
        """Of a viscosity or another diffusivity."""
        with np.errstate(all="ignore"):
            h = np.float64(min(self.spacings))
            return self._lost({"it": value, "it over the square of the spacing": np.float64(value) / (h * h)})

    def plain(self, value: float) -> str | None:
        """Of a number that is used as it is."""
        return self._lost({"it": value})

    def _lost(self, products: Products, *, small: bool = False) -> str | None:
        info = self.info
        for name, value in products.items():
            size = abs(float(value))
            if not size <= float(info.max):
                return f"{name} is above {info.max:.3g}, the largest number in {self.precision} precision"
            if small and size < float(info.tiny):
                return f"{name} is below {info.tiny:.3g}, the smallest sound number in {self.precision} precision"
        return None
