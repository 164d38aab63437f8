"""Stencils: which neighbours of a cell a task reads."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.runtime.regions import Box, Triple, triple

Reach = tuple[int, int]
ALL = 1 << 29  # as a first and a last offset: from one end of the region to the other


@dataclass(frozen=True, slots=True)
class Stencil:
    """A union of boxes of offsets. Each entry (first, last) holds the offsets first <= (x, y, z) <= last."""

    offsets: tuple[tuple[Triple, Triple], ...]

    def __or__(self, other: Stencil) -> Stencil:
        """The offsets of both; a box of offsets inside another one is left out."""
        boxes = dict.fromkeys(self.offsets + other.offsets)
        return Stencil(tuple(o for o in boxes if not any(o != p and _inside(o, p) for p in boxes)))

    def around(self, box: Box) -> list[Box]:
        """The cells that are read when the stencil is applied to every cell of `box`: overlapping boxes."""
        return [box.expand((-a[0], -a[1], -a[2]), b) for a, b in self.offsets] if box else []

    def readers(self, box: Box) -> list[Box]:
        """The cells around which the stencil reads a cell of `box`: overlapping boxes."""
        return [box.expand(b, (-a[0], -a[1], -a[2])) for a, b in self.offsets] if box else []

    def __contains__(self, offset: Triple) -> bool:
        """Whether a task with this stencil may read the neighbour at `offset`."""
        return any(all(a[n] <= offset[n] <= b[n] for n in range(3)) for a, b in self.offsets)

    @property
    def reach(self) -> Triple:
        """The farthest neighbour along x, y and z."""
        return triple(max(max(abs(a[n]), abs(b[n])) for a, b in self.offsets) for n in range(3))

    @property
    def width(self) -> int:
        """The farthest neighbour along any direction: the ghost layers that the stencil needs."""
        return max(self.reach)


def _inside(one: tuple[Triple, Triple], other: tuple[Triple, Triple]) -> bool:
    return all(other[0][n] <= one[0][n] and one[1][n] <= other[1][n] for n in range(3))


def offsets(x: Reach = (0, 0), y: Reach = (0, 0), z: Reach = (0, 0)) -> Stencil:
    """A box of offsets, first and last included: `offsets(x=(0, 1))` is the cell and its neighbour at higher x."""
    for name, (first, last) in zip("xyz", (x, y, z), strict=True):
        if first > last:
            raise ValueError(f"offsets({name}=({first}, {last})): the first offset lies behind the last")
    return Stencil(((triple((x[0], y[0], z[0])), triple((x[1], y[1], z[1]))),))


def star(width: int) -> Stencil:
    """The cell and its neighbours up to `width` along x, along y and along z: no edges, no corners."""
    reach = (-width, width)
    return offsets(x=reach) | offsets(y=reach) | offsets(z=reach)


def box(width: int) -> Stencil:
    """The cell and all neighbours up to `width`, those across edges and corners included."""
    reach = (-width, width)
    return offsets(reach, reach, reach)


POINT = offsets()
