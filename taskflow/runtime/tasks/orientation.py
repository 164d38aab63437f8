"""Orientation: a task written once, along an axis or at a face of the domain, and turned to each where it is launched.

A turned task has a frame of its own: N is the step along the axis, or from the face into the domain; R and S are the
steps along the other two axes, in the order of x, y, z.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.runtime.tasks.stencil import ALL, Reach, Stencil, offsets

AXES = ("x", "y", "z")
FACES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")
Steps = tuple[tuple[str, Reach], ...]  # a box of offsets along n, r, s, and along x, y, z however the task is turned


class Axis:
    """Annotation of the parameter that says along which axis a task works: "x", "y" or "z"."""

    values = AXES


class Face:
    """Annotation of the parameter that says at which face of the domain a task works: "x_min" to "z_max"."""

    values = FACES


@dataclass(frozen=True)
class Oriented:
    """A stencil in the frame of a turned task: boxes of offsets at `low` faces and along axes, and at `high` faces."""

    low: tuple[Steps, ...]
    high: tuple[Steps, ...]

    def __or__(self, other: Oriented) -> Oriented:
        """The offsets of both."""
        return Oriented(self.low + other.low, self.high + other.high)

    def turned(self, orientation: str) -> Stencil:
        """The stencil along x, y and z of a task that is turned to an axis or a face."""
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
    """A box of offsets in the frame of a turned task, first and last included.

    `high` replaces `n` at high faces: values on faces have the number of the cell above, so that from a face the cell
    inside is `facing(n=(0, 0), high=(1, 1))`. Raises ValueError where a first offset lies behind the last.
    """
    high = n if high is None else high
    for name, (first, last) in {"n": n, "r": r, "s": s, "high": high}.items():
        if first > last:
            raise ValueError(f"facing({name}=({first}, {last})): the first offset lies behind the last")
    across = ("r", r), ("s", s)
    return Oriented(((("n", n), *across),), ((("n", high), *across),))


def lines(axes: str) -> Stencil | Oriented:
    """The stencil of a foreign field that is read along these axes ("x", "xy", ...) from one end of its region to the
    other, at the place of the cell along the others. "n" is the axis of a turned task: "n", "xn".

    Raises ValueError for a name that is none of these.
    """
    if not axes or set(axes) - set("xyzn"):
        raise ValueError(f'lines("{axes}"): name the axes, "x" or "xy", or "n", the one of a turned task')
    steps = tuple((axis, (-ALL, ALL)) for axis in axes)
    return Oriented((steps,), (steps,)) if "n" in axes else offsets(**dict(steps))


def frame(orientation: str) -> tuple[int, bool]:
    """The number of the axis that is normal to a face, or that a name is of, and whether the face is a high one."""
    return AXES.index(orientation[0]), orientation.endswith("max")
