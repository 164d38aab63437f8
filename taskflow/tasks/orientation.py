"""Orientation: a task written once, along an axis or at a face of the domain, and turned to each where it is launched.

A turned task has a frame of its own: N is the step along the axis, or from the face into the domain; R and S are the
steps along the other two axes, in the order of x, y, z.
"""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.tasks.stencil import Reach, Stencil, offsets

AXES = ("x", "y", "z")
FACES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")


class Axis:
    """Annotation of the parameter that says along which axis a task works: "x", "y" or "z"."""

    values = AXES


class Face:
    """Annotation of the parameter that says at which face of the domain a task works: "x_min" to "z_max"."""

    values = FACES


@dataclass(frozen=True)
class Oriented:
    """A stencil in the frame of a turned task: boxes of offsets along N, R and S, at `low` faces and along axes, and at
    `high` faces.
    """

    low: tuple[tuple[Reach, Reach, Reach], ...]
    high: tuple[tuple[Reach, Reach, Reach], ...]

    def __or__(self, other: Oriented) -> Oriented:
        """The offsets of both."""
        return Oriented(self.low + other.low, self.high + other.high)

    def turned(self, orientation: str) -> Stencil:
        """The stencil along x, y and z of a task that is turned to an axis or a face."""
        axis, high = frame(orientation)
        others = [name for name in AXES if name != AXES[axis]]
        stencil = Stencil(())
        for n, r, s in self.high if high else self.low:
            along = {AXES[axis]: (-n[1], -n[0]) if high else n, others[0]: r, others[1]: s}
            stencil |= offsets(**along)
        return stencil


def facing(n: Reach = (0, 0), r: Reach = (0, 0), s: Reach = (0, 0), *, high: Reach | None = None) -> Oriented:
    """A box of offsets in the frame of a turned task, first and last included.

    `high` replaces `n` at high faces: values on faces have the number of the cell above, so that from a face the cell
    inside is `facing(n=(0, 0), high=(1, 1))`.
    """
    return Oriented(((n, r, s),), ((n if high is None else high, r, s),))


def frame(orientation: str) -> tuple[int, bool]:
    """The number of the axis that is normal to a face, or that a name is of, and whether the face is a high one."""
    return AXES.index(orientation[0]), orientation.endswith("max")
