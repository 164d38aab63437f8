"""Ghost cells at the sides of body-fitted grids, and the kinds of fluxes there.

Fluxes through a side depend only on the two cells inside and the ghost cell (`FLUXES`). The second layer of ghost cells
serves other charts and blocks only.
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
"""Values of the field `sides` in ghost cells, by kind of flux; 0 in all other cells."""
REST = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Condition:
    """The values of a side. If `warm` it has a temperature, else diffusivity dT/dn = flux + transfer (outside - T) into
    the fluid. `areas` and `volume` are for uniform cells.
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
        """The same kind of values, all 0."""
        return Condition(warm=self.warm, transfer=self.transfer)


@dataclass(frozen=True)
class PatchCells:
    """Part of a side: the `cells` of one layer inside, along a face ("x_min" to "z_max") of their chart."""

    face: str
    cells: Box

    @property
    def ghosts(self) -> Box:
        """The layer of ghost cells next to the side."""
        return self.cells.shift(outward(self.face))


def outward(face: str) -> tuple[int, int, int]:
    """Return the unit step outward through a face."""
    axis, high = frame(face)
    return triple((1 if high else -1) * (a == axis) for a in range(3))


@dataclass(frozen=True)
class CellFields:
    """The fields of p, u, v, w, of T with heat, and of the metrics of non-uniform cells, in the `unit` of length of
    kernels, as is the `viscosity` of the fluid.
    """

    flow: tuple[str, ...]
    T: str | None
    metrics: str | None
    unit: float = 1.0
    viscosity: float = 0.0


FLOW = Components(p=ReadWrite[TWO_INSIDE], u=ReadWrite[INSIDE], v=ReadWrite[INSIDE], w=ReadWrite[INSIDE])
METRICS = Read[INSIDE] * 10 | None
SPEEDS = Components(u_s=Read, v_s=Read, w_s=Read) | None


@task(kernel=GHOSTS)
def beyond_velocity(
    flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, speeds: SPEEDS,
    *, on: Face, side: Condition,
) -> None:  # fmt: skip
    """Ghost velocity = 2 velocity - inside. The pressure is extrapolated linearly."""


@task(kernel=GHOSTS)
def beyond_slip(flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, *, on: Face, side: Condition) -> None:
    """Ghost velocity = inside, mirrored. The pressure is extrapolated linearly, as at a wall."""


@task(kernel=GHOSTS)
def beyond_symmetry(flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, *, on: Face, side: Condition) -> None:
    """Ghost velocity = inside, mirrored. Ghost pressure = inside."""


@task(kernel=GHOSTS)
def beyond_pressure(flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, *, on: Face, side: Condition) -> None:
    """Ghost pressure = 2 pressure - inside. Ghost velocity = inside."""


@task(kernel=GHOSTS)
def beyond_scalar(T: ReadWrite[INSIDE], metrics: METRICS, *, on: Face, side: Condition) -> None:
    """Ghost values of a scalar that is prescribed on a side, or has a flux there."""


@task(kernel=GHOSTS)
def far_away(
    flow: Components(p=Write, u=Write, v=Write, w=Write), T_far: Write | None, *, on: Face, side: Condition
) -> None:
    """Ghost values = free stream."""
