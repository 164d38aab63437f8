"""Stencils, the neighbours that a task reads, and the orientation of a task along an axis or at a face.

A turned task has a separate frame: N points along the axis, or from the face into the domain. R and S point along the
other two axes, in the order of x, y, z.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.runtime.regions import Box, Triple, triple

Reach = tuple[int, int]
ALL = 1 << 29  # as a first and a last offset: from one end of the region to the other


@dataclass(frozen=True, slots=True)
class Stencil:
    """Union of boxes of offsets: each entry (first, last) holds the offsets first <= (x, y, z) <= last.

    With `roams` a foreign field is read around any cell of the block (see `anywhere`).
    """

    offsets: tuple[tuple[Triple, Triple], ...]
    roams: bool = False

    def __or__(self, other: Stencil) -> Stencil:
        """Return the offsets of both stencils, without boxes inside other boxes."""
        boxes = dict.fromkeys(self.offsets + other.offsets)
        larger = tuple(o for o in boxes if not any(o != p and _inside(o, p) for p in boxes))
        return Stencil(larger, self.roams or other.roams)

    def around(self, box: Box) -> list[Box]:
        """Return the cells that are read if the stencil is applied to every cell of `box`, as overlapping boxes."""
        return [box.expand((-a[0], -a[1], -a[2]), b) for a, b in self.offsets] if box else []

    def readers(self, box: Box) -> list[Box]:
        """Return the cells whose stencil contains a cell of `box`, as overlapping boxes."""
        return [box.expand(b, (-a[0], -a[1], -a[2])) for a, b in self.offsets] if box else []

    def __contains__(self, offset: Triple) -> bool:
        """Return True if a task with this stencil may read the neighbour at `offset`."""
        return any(all(a[n] <= offset[n] <= b[n] for n in range(3)) for a, b in self.offsets)

    @property
    def reach(self) -> Triple:
        """Largest distance along x, y and z, in cells."""
        return triple(max(max(abs(a[n]), abs(b[n])) for a, b in self.offsets) for n in range(3))

    @property
    def width(self) -> int:
        """Ghost layers that the stencil needs."""
        return max(self.reach)


def _inside(one: tuple[Triple, Triple], other: tuple[Triple, Triple]) -> bool:
    return all(other[0][n] <= one[0][n] and one[1][n] <= other[1][n] for n in range(3))


def offsets(x: Reach = (0, 0), y: Reach = (0, 0), z: Reach = (0, 0)) -> Stencil:
    """Return a box of offsets, first and last included: `offsets(x=(0, 1))` is the cell and its neighbour at higher x.

    Raises ValueError if a first offset is larger than the last.
    """
    for name, (first, last) in zip("xyz", (x, y, z), strict=True):
        if first > last:
            raise ValueError(f"offsets({name}=({first}, {last})): the first offset exceeds the last")
    return Stencil(((triple((x[0], y[0], z[0])), triple((x[1], y[1], z[1]))),))


def star(width: int) -> Stencil:
    """Return the cell and its neighbours up to `width` along x, y and z, without edges and corners."""
    reach = (-width, width)
    return offsets(x=reach) | offsets(y=reach) | offsets(z=reach)


def box(width: int) -> Stencil:
    """Return the cell and all neighbours up to `width`, with edges and corners."""
    reach = (-width, width)
    return offsets(reach, reach, reach)


def anywhere(width: int) -> Stencil:
    """Return the stencil of a foreign field that is read up to `width` cells around any cell of the block, as by
    particles.
    """
    return Stencil(box(width).offsets, roams=True)


POINT = offsets()

AXES = ("x", "y", "z")
FACES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
Steps = tuple[tuple[str, Reach], ...]  # a box of offsets along n, r, s, and along x, y, z however the task is turned


class Axis:
    """Annotation of the parameter that selects the axis of a turned task: "x", "y" or "z"."""

    values = AXES


class Face:
    """Annotation of the parameter that selects the face of a turned task: "x_min" to "z_max"."""

    values = FACES


@dataclass(frozen=True)
class Oriented:
    """Stencil in the frame of a turned task: boxes of offsets at `low` faces and along axes, and at `high` faces."""

    low: tuple[Steps, ...]
    high: tuple[Steps, ...]

    def __or__(self, other: Oriented) -> Oriented:
        """Return the offsets of both stencils."""
        return Oriented(self.low + other.low, self.high + other.high)

    def turned(self, orientation: str) -> Stencil:
        """Return the stencil along x, y and z of a task that is turned to an axis or a face."""
        axis, high = frame(orientation)
        names = dict(zip("nrs", (AXES[axis], *(name for name in AXES if name != AXES[axis])), strict=True))
        stencil = Stencil(())
        for steps in self.high if high else self.low:
            along: dict[str, Reach] = {}
            for step, (first, last) in steps:
                name, reach = names.get(step, step), (-last, -first) if high and step == "n" else (first, last)
                before = along.get(name, reach)
                along[name] = min(before[0], reach[0]), max(before[1], reach[1])
            stencil |= offsets(**along)
        return stencil


def facing(n: Reach = (0, 0), r: Reach = (0, 0), s: Reach = (0, 0), *, high: Reach | None = None) -> Oriented:
    """Return a box of offsets in the frame of a turned task, first and last included.

    Parameters
    ----------
    n, r, s : (int, int)
        Offsets along the normal, into the domain, and along the other two axes.
    high : (int, int), optional
        Replaces `n` at high faces. A value on a face has the index of the cell above it, so the cell inside the domain
        is `facing(n=(0, 0), high=(1, 1))`.

    Raises
    ------
    ValueError
        If a first offset is larger than the last.
    """
    high = n if high is None else high
    for name, (first, last) in {"n": n, "r": r, "s": s, "high": high}.items():
        if first > last:
            raise ValueError(f"facing({name}=({first}, {last})): the first offset exceeds the last")
    across = ("r", r), ("s", s)
    return Oriented(((("n", n), *across),), ((("n", high), *across),))


def lines(axes: str) -> Stencil | Oriented:
    """Return the stencil of a foreign field that is read over the whole region along these axes: "x", "xy".

    "n" is the axis of a turned task: "n", "xn". Raises ValueError for other names.
    """
    if not axes or set(axes) - set("xyzn"):
        raise ValueError(f'lines("{axes}"): name the axes, "x" or "xy", or "n", the one of a turned task')
    steps = tuple((axis, (-ALL, ALL)) for axis in axes)
    return Oriented((steps,), (steps,)) if "n" in axes else offsets(**dict(steps))


def frame(orientation: str) -> tuple[int, bool]:
    """Return the number of the axis of an orientation, and whether it is a high face."""
    return AXES.index(orientation[0]), orientation.endswith("max")
