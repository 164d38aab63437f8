"""Benchmark flows, three-dimensional and in motion: a lid-driven cavity and Taylor-Green vortices.

Initial velocities are products of waves along x, y and z, evaluated on the blocks: a host would need minutes for all
cells of its GPUs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.bench.steps import Pressure
from taskflow.cases import Case
from taskflow.cases.formulas.expression import Expression
from taskflow.cases.source import override
from taskflow.flow import StaggeredGrid
from taskflow.flow.model import VELOCITY
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, Triple
from taskflow.systems.initial.fields import PIECE, pieces

REYNOLDS = {"cavity": 1000.0, "taylor-green": 1600.0}
FACES = ("x_min", "x_max", "y_min", "y_max", "z_min")


@dataclass(frozen=True)
class Flow:
    """Flow to measure: the name of a case, its solver, other `settings` (`table.key=VALUE`), warm-up steps, and price.

    The price is per device-hour.
    """

    case: str
    pressure: Pressure
    warm: int = 10
    price: float | None = None
    settings: tuple[str, ...] = ()

    def of(self, cells: Triple, precision: str, channel: str = "auto") -> Case:
        """Return the case with `cells` cubic cells. Raises BadInput if it is invalid."""
        side = 1.0 if self.case == "cavity" else 2 * math.pi
        lid = {"type": "wall", "velocity": [1.0, 0.0, 0.0]}
        walls = {**dict.fromkeys(FACES, "wall"), "z_max": lid}
        tables: dict[str, Any] = {
            "title": self.case,
            "grid": {"cells": list(cells), "lengths": [side * n / max(cells) for n in cells]},
            "fluid": {"viscosity": 1.0 / REYNOLDS[self.case]},
            "boundaries": walls if self.case == "cavity" else dict.fromkeys("xyz", "periodic"),
            "initial": {"velocity": [str(product) for product in velocity_of(self.case, cells).values()]},
            "time": {"steps": 1},
            "pressure": self.pressure.table,
            "machine": {"precision": precision, "channel": channel},
        }
        override(tables, self.settings)
        return Case(**tables)


def velocity_of(name: str, cells: Triple) -> dict[str, Product]:
    """Return the initial velocity of a case by component: divergence-free, and with typical speeds of the flow.

    In the cavity an eddy rotates as driven by the lid, which moves along x with speed 1 at z_max, and it is at rest on
    all walls. No field is zero, even in the first step, because the power consumption of a GPU depends on the values.
    """
    if name == "cavity":
        x, y, z = (n / max(cells) for n in cells)
        across = f"sin(pi*y/{y!r})"
        u = Product(f"-0.5*sin(pi*x/{x!r})**2", across, f"sin(2*pi*z/{z!r})")
        w = Product(f"{0.5 * z / x!r}*sin(2*pi*x/{x!r})", across, f"sin(pi*z/{z!r})**2")
        return {"u": u, "v": Product("0", "0", "0"), "w": w}
    kx, ky, kz = (max(cells) / n for n in cells)
    u = Product(f"sin({kx!r}*x)", f"cos({ky!r}*y)", f"cos({kz!r}*z)")
    v = Product(f"{-kx / ky!r}*cos({kx!r}*x)", f"sin({ky!r}*y)", f"cos({kz!r}*z)")
    return {"u": u, "v": v, "w": Product("0", "0", "0")}


@dataclass(frozen=True)
class Product:
    """Field given by a product of formulas in x, in y and in z."""

    x: str
    y: str
    z: str

    def __str__(self) -> str:
        return "*".join(f"({factor})" for factor in (self.x, self.y, self.z))

    def factors(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> list[np.ndarray]:
        """Return its values along each direction, in the shape of the given coordinates."""
        return [
            Expression(formula)(*(coordinates if axis == n else np.zeros(()) for n in range(3)))
            for axis, (formula, coordinates) in enumerate(zip((self.x, self.y, self.z), (x, y, z), strict=True))
        ]


@dataclass(frozen=True)
class InitialVelocity:
    """Velocity at time 0, by component."""

    grid: StaggeredGrid
    velocity: Mapping[str, Product]

    def fill(self, shard: Shard) -> None:
        """Write this block's cells."""
        for piece in pieces(shard, PIECE):
            shard.write({name: self.values(name, piece, shard) for name in self.velocity}, piece)

    def values(self, name: str, cells: Box, shard: Shard) -> np.ndarray:
        """Return the values [z, y, x] of a component in these cells, in the memory of the shard's device."""
        real, xp = shard.region.fields[name].dtype, shard.device.xp
        factors = self.velocity[name].factors(*self.grid.points(VELOCITY[name], cells))
        return math.prod(xp.asarray(factor, real) for factor in factors)
