"""The interface at open boundaries. Inflows and vents prescribe the share f of phase 1 in what enters, an outflow takes
the adjacent share. The volume kept by `conserve` counts all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from taskflow.flow.boundaries.boundary import AS_INSIDE, mirror
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.collocated import outward
from taskflow.flow.boundaries.condition import Boundaries, Velocity
from taskflow.flow.boundaries.opening import Opening, opening
from taskflow.flow.boundaries.openings import parts
from taskflow.flow.boundaries.sides import entrances, open_sides
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Face, Launch, Read, Reduce, Roles, Scalar, facing, task


@dataclass(frozen=True)
class Band:
    """Lengths near the interface, and derived constants.

    - `width`: half the width of the density transition
    - `weno`, `curvature`, `foot`: largest distances of fifth-order differences, of a curvature, and of a curvature
      taken at the foot on the interface
    - `most`: largest curvature
    - `tau`: step of the reinitialisation
    - `beyond`: phi outside where phase 1 enters
    - `leaning`: the sides at which phi is extrapolated by a line, bits 2 n of the low and 2 n + 1 of the high one of
      the n-th axis: an interface meets them at any angle. Others mirror phi
    """

    width: float
    weno: float
    curvature: float
    foot: float
    most: float
    tau: float
    beyond: float
    leaning: int = 0

    @classmethod
    def of(cls, grid: Grid, thickness: float, leaning: int = 0) -> Band:
        """Return the lengths for a `thickness` in spacings, the largest along resolved axes."""
        large, small = max(grid.resolved), min(grid.resolved)
        lengths = thickness * large, 6 * large, 4.5 * large, 2.5 * large, 1 / small, 0.5 * small, 3 * large
        return (LeaningBand if leaning else cls)(*lengths, leaning)


class LeaningBand(Band):
    """Lengths near an interface that meets some sides at any angle."""

    defines: ClassVar[tuple[str, ...]] = ("LEANING",)


TEXT = KERNELS / "two_phase" / "openings.cu"
LAYERS = 3  # of ghost cells that WENO5 reads


@task(kernel=TEXT)
def pass_volume(
    f: Read[facing(n=(-1, 0), high=(0, 1))], q: Read, q_old: Read,
    *, on: Face, volume: Reduce["exact sum"], kept: Scalar["exact sum"], dt: Scalar, ratio: Scalar, opening: Opening,
    bound: float, leaving: int,
) -> None:  # fmt: skip
    """volume = kept + inflow through a side in a step, in cells: dt / h times the sum over its faces of w f, w inward,
    w = q + 0.1 ratio (q - q_old). f is the inside value at outflow, else the mean of both sides. If `leaving` is 0,
    outflow does not count.
    """


@task(kernel=TEXT)
def pass_shares(
    flux: Read, *, volume: Reduce["exact sum"], kept: Scalar["exact sum"], opening: Opening, bound: float, leaving: int
) -> None:
    """volume = kept + inflow through a side in a step, in cells: the sum of the shares that pass its faces. If
    `leaving` is 0, outflow does not count.
    """


@dataclass(frozen=True)
class InterfaceOpenings:
    """The launches at the open sides among the `boundaries` of a grid."""

    grid: Grid
    boundaries: Boundaries = field(default_factory=dict)

    @property
    def inner(self) -> Grid:
        """The grid without walls where the phase of what enters is prescribed: its kernels read ghost values there."""
        entered = entrances(self.boundaries)
        return self.grid.without(entered) if entered else self.grid

    @property
    def permeable(self) -> bool:
        """True if fluid may pass some boundary."""
        return bool(open_sides(self.boundaries))

    def enter(self, phi: str, velocity: Velocity, band: Band) -> Iterator[Launch]:
        """Fill the ghost cells of these sides, all layers equal to the first."""
        entered = entrances(self.boundaries)
        for side, condition in parts(self.boundaries, self.grid):
            if side.face not in entered:
                continue
            layers = side.layer
            yield from condition.level_set_ghosts(phi, velocity, side, band.beyond)
            for _ in range(LAYERS - 1):
                layers = tuple(box.shift(outward(side.face)) for box in layers)
                yield mirror(phi, over=layers, on=side.face, mirror=AS_INSIDE)

    def passed_shares(self, f: Roles) -> Iterator[Launch]:
        """Add the inflow of a step to the scalars `kept` and `brought`, from the shares that passed faces."""
        for side, numbers in self._opened(f):
            yield pass_shares(f[f"m_{'xyz'[side.axis]}"], over=side.faces, **numbers)

    def passed(self, f: Roles) -> Iterator[Launch]:
        """Add the inflow of a step to the scalars `kept`, the volume of phase 1 in cells, and `brought`, the initial
        volume and all that has entered.
        """
        for side, numbers in self._opened(f):
            q, q_old = (getattr(f, f"{'uvw'[side.axis]}{age}") for age in ("", "_old"))
            yield pass_volume(f.f, q, q_old, over=side.faces, on=side.face, dt="dt", ratio="ratio", **numbers)

    def _opened(self, f: Roles) -> Iterator[tuple[BoxSide, dict[str, Any]]]:
        """Yield the open sides with the numbers of launches that change the scalars `kept` and `brought`."""
        for side in (side for side, condition in parts(self.boundaries, self.grid) if condition.permeable):
            about = opening(side)
            bound = Box.of(self.grid.cells).volume / about.faces
            for name, leaving in (("kept", 1), ("brought", 0)):
                total = f.scalar(name)
                yield side, {"volume": total, "kept": total, "opening": about, "bound": bound, "leaving": leaving}
