"""Cells beyond the sides of body-fitted grids: ghost values of the layer next to them, and the kinds of fluxes there.

Fluxes through a side follow from the two cells inside and the ghost cell (`FLUXES`): nothing else is read, so that the
second layer of ghost cells is for other charts and blocks alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from taskflow.flow.boundaries.boundary import INSIDE
from taskflow.flow.grid import Vector
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Components, Face, Launch, Read, ReadWrite, Write, facing, frame, task

if TYPE_CHECKING:
    from taskflow.flow.boundaries.condition import BoundaryCondition

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


@dataclass(frozen=True)
class Side:
    """A named side of a grid: its kind of condition, its values, and the patches that it consists of.

    `varying`: its velocity differs from cell to cell, and is in the ghost cells of the fields `u_s`, `v_s`, `w_s`.
    `scalars` has the values of passive scalars by name, in place of a temperature.
    """

    name: str
    kind: BoundaryCondition
    patches: tuple[BoundaryPatch, ...]
    condition: Condition = Condition()
    varying: bool = False
    scalars: Mapping[str, Condition] = field(default_factory=dict)

    @property
    def layers(self) -> dict[str, tuple[Box, ...]]:
        """By face, the ghost cells next to the patches there."""
        faces = dict.fromkeys(patch.face for patch in self.patches)
        return {face: tuple(patch.ghosts for patch in self.patches if patch.face == face) for face in faces}

    @property
    def ghosts(self) -> tuple[Box, ...]:
        return tuple(patch.ghosts for patch in self.patches)

    @property
    def speeds(self) -> tuple[str, str, str] | None:
        """The fields of its velocity, where that is `varying`."""
        return ("u_s", "v_s", "w_s") if self.varying else None

    @property
    def flux_code(self) -> int:
        """The value of the field `sides` in its ghost cells."""
        return FLUXES[self.kind.flux]

    def each(self, values: Condition) -> Iterator[dict[str, Any]]:
        """Yield the arguments of a launch over the ghost cells of each face."""
        for face, ghosts in self.layers.items():
            yield {"over": ghosts, "on": face, "side": values}

    @property
    def still(self) -> Side:
        """This side, with all values 0."""
        scalars = {name: condition.still for name, condition in self.scalars.items()}
        return replace(self, condition=self.condition.still, varying=False, scalars=scalars)


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


@task(kernel=GHOSTS)
def beyond_velocity(
    flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, speeds: Components(u_s=Read, v_s=Read, w_s=Read) | None,
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


def side_ghosts(side: Side, fields: CellFields, numbers: Condition) -> Iterator[Launch]:
    """Fill the ghost cells of a side, one launch for each of its faces; `numbers` has what is the same of all sides."""
    yield from side.kind.collocated(side, fields, _with(side.condition, numbers))


def scalar_ghosts(side: Side, name: str, scalar: str, metrics: str | None, numbers: Condition) -> Iterator[Launch]:
    """Fill the ghost cells of a passive scalar of a name in a field; it is insulated where nothing is said."""
    values = _with(side.scalars.get(name, Condition()), numbers)
    yield from side.kind.collocated_scalar(side, scalar, metrics, values)


def _with(condition: Condition, numbers: Condition) -> Condition:
    return replace(condition, diffusivity=numbers.diffusivity, volume=numbers.volume, areas=numbers.areas)
