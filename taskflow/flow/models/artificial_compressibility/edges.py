"""Edges: ghost cells outside two sides of charts, which no side fills."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from types import MappingProxyType
from typing import ClassVar

from taskflow.flow.boundaries.boundary import INSIDE
from taskflow.flow.boundaries.collocated import PatchCells, outward
from taskflow.flow.kernels import KERNELS, choice
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import (
    Components,
    Face,
    Launch,
    Oriented,
    ReadWrite,
    facing,
    frame,
    task,
)

TEXTS = KERNELS / "artificial_compressibility"


@dataclass(frozen=True)
class Edge:
    """Ghost cells outside two faces, which no other cell fills. `three`: three charts meet at the edge. All three then
    use the same value there, as the fluxes through their common faces must be identical.
    """

    faces: tuple[str, str]
    ghosts: tuple[Box, ...]
    three: bool = False

    @property
    def corner(self) -> Corner:
        """The position of the second face relative to the first, and the value there."""
        (axis, _), (other, high) = frame(self.faces[0]), frame(self.faces[1])
        corner = CORNERS[other == min({0, 1, 2} - {axis}), high]
        return replace(corner, value=MeanOfThree()) if self.three else corner


@dataclass(frozen=True)
class EdgeValue:
    """A plane through the three adjacent cells."""


class MeanOfThree(EdgeValue):
    """The mean of the three, bitwise identical on each chart."""

    defines: ClassVar[tuple[str, ...]] = ("MEAN_OF_THREE",)


@dataclass(frozen=True)
class Corner:
    """The second face of an edge: its axis among the other two, `high` if it is a high face, and the value there."""

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
"""By (second face is along R, second face is high)."""


@task(kernel=TEXTS / "edges.cu")
def beyond_edge(
    velocity: Components(u=ReadWrite[INSIDE], v=ReadWrite[INSIDE], w=ReadWrite[INSIDE]), T: ReadWrite[INSIDE] | None,
    *, on: Face, corner: Corner,
) -> None:  # fmt: skip
    """q(-1, -1) = q(-1, 0) + q(0, -1) - q(0, 0), outside two faces; or a third of the sum of these, see `EdgeValue`."""


@task(kernel=TEXTS / "edges.cu")
def scalar_beyond_edge(s: ReadWrite[INSIDE], *, on: Face, corner: Corner) -> None:
    """As `beyond_edge`, for a scalar."""


def edges(patches: Iterable[PatchCells]) -> tuple[Edge, ...]:
    """Return the edges between patches, in the order of their axes."""
    met: dict[tuple[str, str], list[Box]] = {}
    for pair in combinations(patches, 2):
        one, other = sorted(pair, key=lambda patch: frame(patch.face)[0])
        line = one.cells & other.cells
        if line and frame(one.face)[0] != frame(other.face)[0]:
            ghosts = line.shift(outward(one.face)).shift(outward(other.face))
            met.setdefault((one.face, other.face), []).append(ghosts)
    return tuple(Edge(faces, tuple(ghosts)) for faces, ghosts in met.items())


def edge_ghosts(edge: Edge, velocity: tuple[str, ...], T: str | None) -> Launch:
    return beyond_edge(velocity, T, over=edge.ghosts, on=edge.faces[0], corner=edge.corner)


def scalar_edge_ghosts(edge: Edge, scalar: str) -> Launch:
    return scalar_beyond_edge(scalar, over=edge.ghosts, on=edge.faces[0], corner=edge.corner)
