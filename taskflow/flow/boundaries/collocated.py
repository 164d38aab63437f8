"""Cells beyond the sides of body-fitted grids: ghost values of the layer next to them, and the kinds of fluxes there.

Fluxes through a side follow from the two cells inside and the ghost cell (`FLUXES`): nothing else is read, so that the
second layer of ghost cells is for other charts and blocks alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from taskflow.flow.boundaries.boundary import INSIDE
from taskflow.flow.grid import Vector
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Components, Face, Read, ReadWrite, Write, facing, frame, task

GHOSTS = KERNELS / "artificial_compressibility" / "ghosts.cu"
TWO_INSIDE = facing(n=(1, 2))
FLUXES: Mapping[str | None, int] = MappingProxyType({"closed": 1, "given": 2, "open": 3, "far": 4})
"""The values of the field `sides` in the ghost cells of each kind of flux; 0 in all other cells."""
REST = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Condition:
    """The values of a side. Where it is `warm` it has a temperature, else diffusivity dT/dn = flux + transfer
    (outside - T) into the fluid. `areas` and `volume` are those of uniform cells.
    """

    velocity: Vector = REST
    pressure: float = 0.0
    warm: bool = False
    temperature: float = 0.0
    flux: float = 0.0
    transfer: float = 0.0
    outside: float = 0.0
    diffusivity: float = 0.0
    volume: float = 1.0
    areas: Vector = (1.0, 1.0, 1.0)

    @property
    def still(self) -> Condition:
        """The same kind of values, all of them 0."""
        return Condition(warm=self.warm, transfer=self.transfer)


@dataclass(frozen=True)
class BoundaryPatch:
    """Part of a side: the `cells` of one layer inside, along a face ("x_min" to "z_max") of their chart."""

    face: str
    cells: Box

    @property
    def ghosts(self) -> Box:
        """The layer of ghost cells next to the side."""
        return self.cells.shift(outward(self.face))


def outward(face: str) -> tuple[int, int, int]:
    """The step through a face."""
    axis, high = frame(face)
    return triple((1 if high else -1) * (a == axis) for a in range(3))


@dataclass(frozen=True)
class CellFields:
    """The fields of p, u, v, w, of T with heat, and of the metrics of cells that are not uniform; and the `unit` of
    length of kernels: metrics are in it.
    """

    flow: tuple[str, ...]
    T: str | None
    metrics: str | None
    unit: float = 1.0


FLOW = Components(p=ReadWrite[TWO_INSIDE], u=ReadWrite[INSIDE], v=ReadWrite[INSIDE], w=ReadWrite[INSIDE])
METRICS = Read[INSIDE] * 10 | None
SPEEDS = Components(u_s=Read, v_s=Read, w_s=Read) | None


@task(kernel=GHOSTS)
def beyond_velocity(
    flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, speeds: SPEEDS,
    *, on: Face, side: Condition,
) -> None:  # fmt: skip
    """Ghost velocity 2 velocity - inside; the pressure goes on along a line."""


@task(kernel=GHOSTS)
def beyond_slip(flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, *, on: Face, side: Condition) -> None:
    """The velocity mirrored; the pressure goes on along a line, as at a wall."""


@task(kernel=GHOSTS)
def beyond_symmetry(flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, *, on: Face, side: Condition) -> None:
    """The velocity mirrored, and the pressure inside."""


@task(kernel=GHOSTS)
def beyond_pressure(flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, *, on: Face, side: Condition) -> None:
    """Ghost pressure 2 pressure - inside, and the velocity inside."""


@task(kernel=GHOSTS)
def beyond_scalar(T: ReadWrite[INSIDE], metrics: METRICS, *, on: Face, side: Condition) -> None:
    """Ghost values of a scalar that has a value on a side, or enters there."""


@task(kernel=GHOSTS)
def far_away(
    flow: Components(p=Write, u=Write, v=Write, w=Write), T_far: Write | None, *, on: Face, side: Condition
) -> None:
    """The values of the free stream."""
