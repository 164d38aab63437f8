"""Cells beyond the sides of charts: ghost values of the layer next to them, and the kinds of fluxes there.

Fluxes through a side follow from the two cells inside and the ghost cell (`SIDES`): nothing else is read, so that the
second layer of ghost cells is for other charts and blocks alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from taskflow.flow.boundaries.boundary import INSIDE, Value, impose
from taskflow.flow.grid import Vector
from taskflow.flow.kernels import KERNELS, choice
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import (
    Components,
    Face,
    Launch,
    Oriented,
    Read,
    ReadWrite,
    Write,
    facing,
    frame,
    task,
)

TEXTS = KERNELS / "artificial_compressibility"
TWO_INSIDE = facing(n=(1, 2))
Kind = Literal["wall", "inflow", "slip", "symmetry", "outflow", "far-field"]
SIDES: Mapping[Kind, int] = MappingProxyType(
    {"wall": 1, "slip": 1, "symmetry": 1, "inflow": 2, "outflow": 3, "far-field": 4}
)
"""The values of the field `sides` in the ghost cells of each kind; 0 in all other cells."""
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
    """A named side of a grid: its kind, its values, and the patches that it consists of. `varying`: its velocity
    differs from cell to cell, and is in the ghost cells of the fields `u_s`, `v_s`, `w_s`. `scalars` has the values of
    passive scalars by name, in place of a temperature.
    """

    name: str
    kind: Kind
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
    def still(self) -> Side:
        """This side, with all values 0."""
        scalars = {name: condition.still for name, condition in self.scalars.items()}
        return replace(self, condition=self.condition.still, varying=False, scalars=scalars)


@dataclass(frozen=True)
class Edge:
    """Ghost cells beyond two faces at once, which no other cell fills. With `three`, these are of an edge that three
    charts meet at: all of them then have the same value there, as what passes the faces between them must be the same.
    """

    faces: tuple[str, str]
    ghosts: tuple[Box, ...]
    three: bool = False

    @property
    def corner(self) -> Corner:
        """Where the second face is, seen from the first, and the value there."""
        (axis, _), (other, high) = frame(self.faces[0]), frame(self.faces[1])
        corner = CORNERS[other == min({0, 1, 2} - {axis}), high]
        return replace(corner, value=MeanOfThree()) if self.three else corner


FLOW = Components(p=ReadWrite[TWO_INSIDE], u=ReadWrite[INSIDE], v=ReadWrite[INSIDE], w=ReadWrite[INSIDE])
METRICS = Read[INSIDE] * 10 | None


@task(kernel=TEXTS / "ghosts.cu")
def beyond_velocity(
    flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, speeds: Components(u_s=Read, v_s=Read, w_s=Read) | None,
    *, on: Face, side: Condition,
) -> None:  # fmt: skip
    """Ghost velocity 2 velocity - inside; the pressure goes on along a line."""


@task(kernel=TEXTS / "ghosts.cu")
def beyond_slip(flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, *, on: Face, side: Condition) -> None:
    """The velocity mirrored; the pressure goes on along a line, as at a wall."""


@task(kernel=TEXTS / "ghosts.cu")
def beyond_symmetry(flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, *, on: Face, side: Condition) -> None:
    """The velocity mirrored, and the pressure inside."""


@task(kernel=TEXTS / "ghosts.cu")
def beyond_pressure(flow: FLOW, T: ReadWrite[INSIDE] | None, metrics: METRICS, *, on: Face, side: Condition) -> None:
    """Ghost pressure 2 pressure - inside, and the velocity inside."""


@task(kernel=TEXTS / "ghosts.cu")
def beyond_scalar(T: ReadWrite[INSIDE], metrics: METRICS, *, on: Face, side: Condition) -> None:
    """Ghost values of a scalar that has a value on a side, or enters there."""


@task(kernel=TEXTS / "ghosts.cu")
def far_away(
    flow: Components(p=Write, u=Write, v=Write, w=Write), T_far: Write | None, *, on: Face, side: Condition
) -> None:
    """The values of the free stream."""


BEYOND = {"slip": beyond_slip, "symmetry": beyond_symmetry, "outflow": beyond_pressure}
"""What fills ghost cells of the kinds without a velocity that is given."""


@dataclass(frozen=True)
class EdgeValue:
    """A plane through the three cells beside."""


class MeanOfThree(EdgeValue):
    """The mean of the three, with the same bits seen from each of them."""

    defines: ClassVar[tuple[str, ...]] = ("MEAN_OF_THREE",)


@dataclass(frozen=True)
class Corner:
    """Where a second face is that an edge is beyond: along which of the other axes, and whether it is a `high` one. And
    the value there.
    """

    high: bool
    value: EdgeValue = EdgeValue()
    stencils: ClassVar[Mapping[str, Oriented]] = MappingProxyType({})


def _corner(along_r: bool, high: bool) -> Corner:
    across = {"r" if along_r else "s": (-1, -1) if high else (1, 1)}
    both = facing(n=(1, 1)) | facing(**across) | facing(n=(1, 1), **across)
    stencils = MappingProxyType(dict.fromkeys(("u", "v", "w", "T", "s"), both))
    name = f"{'High' if high else 'Low'}{'R' if along_r else 'S'}"
    return choice(Corner, name, stencils=stencils, defines=("ACROSS_R",) if along_r else ())(high)


CORNERS: Mapping[tuple[bool, ...], Corner] = {key: _corner(*key) for key in product((False, True), repeat=2)}
"""By whether the second face is along R, and whether it is a high one."""


@task(kernel=TEXTS / "edges.cu")
def beyond_edge(
    velocity: Components(u=ReadWrite[INSIDE], v=ReadWrite[INSIDE], w=ReadWrite[INSIDE]), T: ReadWrite[INSIDE] | None,
    *, on: Face, corner: Corner,
) -> None:  # fmt: skip
    """q(-1, -1) = q(-1, 0) + q(0, -1) - q(0, 0), beyond two faces; or a third of the sum of these, see `EdgeValue`."""


@task(kernel=TEXTS / "edges.cu")
def scalar_beyond_edge(s: ReadWrite[INSIDE], *, on: Face, corner: Corner) -> None:
    """The same of a scalar."""


def outward(face: str) -> tuple[int, int, int]:
    """The step through a face."""
    axis, high = frame(face)
    return triple((1 if high else -1) * (a == axis) for a in range(3))


def edges(patches: Iterable[BoundaryPatch]) -> tuple[Edge, ...]:
    """The edges where patches meet, in the order of their axes."""
    met: dict[tuple[str, str], list[Box]] = {}
    for pair in combinations(patches, 2):
        one, other = sorted(pair, key=lambda patch: frame(patch.face)[0])
        line = one.cells & other.cells
        if line and frame(one.face)[0] != frame(other.face)[0]:
            ghosts = line.shift(outward(one.face)).shift(outward(other.face))
            met.setdefault((one.face, other.face), []).append(ghosts)
    return tuple(Edge(faces, tuple(ghosts)) for faces, ghosts in met.items())


def side_ghosts(
    side: Side, flow: tuple[str, ...], T: str | None, metrics: str | None, numbers: Condition
) -> Iterator[Launch]:
    """Fill the ghost cells of a side, one launch for each of its faces; `numbers` has what is the same of all sides."""
    condition = replace(side.condition, diffusivity=numbers.diffusivity, volume=numbers.volume, areas=numbers.areas)
    for face, ghosts in side.layers.items():
        where: dict[str, Any] = {"over": ghosts, "on": face, "side": condition}
        if side.kind in ("wall", "inflow"):
            speeds = ("u_s", "v_s", "w_s") if side.varying else None
            yield beyond_velocity(flow, T, metrics, speeds, **where)
        elif side.kind == "far-field":
            yield far_away(flow, T, **where)
        else:
            yield BEYOND[side.kind](flow, T, metrics, **where)


def scalar_ghosts(side: Side, name: str, scalar: str, metrics: str | None, numbers: Condition) -> Iterator[Launch]:
    """Fill the ghost cells of a passive scalar of a name in a field; it is insulated where nothing is said. In a free
    stream it has the value there, of which the mean with that inside would be another one.
    """
    condition = replace(
        side.scalars.get(name, Condition()), diffusivity=numbers.diffusivity, volume=numbers.volume, areas=numbers.areas
    )
    if side.kind == "far-field":
        yield impose(scalar, over=side.ghosts, value=Value(condition.temperature))
        return
    for face, ghosts in side.layers.items():
        yield beyond_scalar(scalar, metrics, over=ghosts, on=face, side=condition)


def edge_ghosts(edge: Edge, velocity: tuple[str, ...], T: str | None) -> Launch:
    """Fill the ghost cells of an edge."""
    return beyond_edge(velocity, T, over=edge.ghosts, on=edge.faces[0], corner=edge.corner)


def scalar_edge_ghosts(edge: Edge, scalar: str) -> Launch:
    """The same of a scalar."""
    return scalar_beyond_edge(scalar, over=edge.ghosts, on=edge.faces[0], corner=edge.corner)
