"""The paths of moving bodies, checked before a run and at each of its steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from taskflow.cases.formulas.motion import RigidMotion
from taskflow.common.errors import BadInput, Lost, RunFailed
from taskflow.flow.boundaries.kinds import BOUNDARIES
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import frame
from taskflow.systems.bodies.movement import Movement
from taskflow.systems.bodies.moving import FARTHEST, MovingBodies, longest_step
from taskflow.systems.bodies.solids import Solids

MOMENTS = 2000  # of a run, at which expressions are looked at


class MovingGeometry(Protocol):
    """Bodies of which some move. Picklable."""

    @property
    def motions(self) -> tuple[RigidMotion | None, ...]:
        """The motions that a user may set, None for a body at rest."""

    def change(self, values: Mapping[str, Any]) -> None:
        """Replace expressions of the motions, by their keys."""

    def solid(self, time: float, cells: Box) -> np.ndarray:
        """Return 1 in cells [z, y, x] whose centre is in a body at a time, 0 in others."""


class BodyPaths(ABC):
    """Moving bodies, whose paths are checked. Picklable. In a step no surface moves farther than `farthest`, in the
    `unit` of `moved`.
    """

    farthest: ClassVar[float] = FARTHEST
    unit: ClassVar[str]

    @property
    @abstractmethod
    def geometry(self) -> MovingGeometry:
        """The bodies."""

    @property
    @abstractmethod
    def paths(self) -> Iterable[RigidMotion]:
        """The motions of moving bodies."""

    @abstractmethod
    def movement(self, shard: Shard) -> Movement | None:
        """Return the geometry in the fields of a block, unless other fields have it."""

    @abstractmethod
    def moved(self, before: float, now: float) -> float:
        """Return the largest distance that a surface moves between two times."""

    @abstractmethod
    def meeting(self, time: float) -> str | None:
        """Return a collision at a time, as text with the remedy, or None."""

    def check(self, start: float, end: float, path: tuple[float, ...], step: float | None) -> None:
        """Raise BadInput if an expression jumps or is not finite between two times, if a body meets an object at
        `start` or at a later moment of its path, or if its surface moves too far in the given step.
        """
        for motion in self.paths:
            motion.check(np.linspace(start, end, MOMENTS + 1) if end > start else np.full(1, start))
        for time in (start, *(moment for moment in path if moment > start)):
            if (meeting := self.meeting(time)) is not None:
                raise BadInput(meeting)
            if step is not None and (moved := self.moved(time, time + step)) > self.farthest:
                raise BadInput(
                    f"time.step = {step:g}: at time {time:g} the surface of a body moves {moved:.3g} {self.unit} in it,"
                    f" of which {self.farthest:g} are allowed; give one of {self.longest(time, step):.3g} or less, or"
                    " time.cfl instead"
                )

    def longest(self, time: float, dt: float) -> float:
        """Return the length of a step from a time: dt, halved until no surface moves too far."""
        return longest_step(self.moved, self.farthest, time, dt)

    @contextmanager
    def followed(self, time: float) -> Iterator[None]:
        """Check the paths up to a time after the body of the context, while the device computes. If the body fails
        without the loss of a worker, a collision is the cause.
        """
        try:
            yield
        except Lost:
            raise
        except RunFailed:
            self.follow(time)
            raise
        self.follow(time)

    def follow(self, time: float) -> None:
        """Raise RunFailed if a body meets an object at a time."""
        if (meeting := self.meeting(time)) is not None:
            raise RunFailed(meeting)


@dataclass(frozen=True, eq=False)
class Surroundings(BodyPaths):
    """Moving bodies, types of non-periodic sides by face, names of shapes, and the cells around bodies."""

    unit: ClassVar[str] = "spacings"

    moving: MovingBodies
    sides: Mapping[str, str]
    names: tuple[str, ...]
    cells: Mapping[str, Box]

    @property
    def geometry(self) -> MovingBodies:
        return self.moving

    @property
    def paths(self) -> Iterable[RigidMotion]:
        return filter(None, self.moving.motions)

    def movement(self, shard: Shard) -> Movement:
        return Movement(self.moving, shard)

    def moved(self, before: float, now: float) -> float:
        return self.moving.spacings(before, now)

    def meeting(self, time: float) -> str | None:
        solids = self.moving.solids(time)
        for number in self.moving.numbers:
            for face, kind in self.sides.items():
                if (place := self._beyond(solids, number, face, kind, time)) is not None:
                    return f"obstacles[{number}].motion: at time {time:g} \"{self.names[number - 1]}\" {place}"
            for other in range(1, len(self.names) + 1):
                if self.names[other - 1] == self.names[number - 1] or (other in self.moving.numbers and other < number):
                    continue
                if (cell := _touching(solids, number, other)) is not None:
                    at = ", ".join(f"{solids.grid.coordinates('c', a, n, n + 1)[0]:g}" for a, n in enumerate(cell))
                    return (
                        f"obstacles[{number}].motion: at time {time:g} \"{self.names[number - 1]}\" meets"
                        f" \"{self.names[other - 1]}\" at ({at}); contact is not available in this version: leave a"
                        " cell or more between them"
                    )
        return None

    def follow(self, time: float) -> None:
        """Raise RunFailed if a body meets an object at a time, or is outside the expected cells."""
        for number in self.moving.numbers:
            name = self.names[number - 1]
            if any(box not in self.cells[name] for box in self.moving.reach_of(number, time)):
                raise RunFailed(
                    f"obstacles[{number}].motion: at time {time:g} \"{name}\" is outside of the cells that it was"
                    " expected in, which follow from its places at some moments of the run: it moves too fast for them;"
                    " give the length of the run by time.steps with time.cfl, and it is expected in all cells"
                )
        super().follow(time)

    def _beyond(self, solids: Solids, number: int, face: str, kind: str, time: float) -> str | None:
        (axis, high), grid, moving = frame(face), solids.grid, self.moving
        ends, motion = solids.shapes[number - 1].bounds, moving.motions[number - 1]
        faces = grid.faces(axis)
        reach = ends[1][axis] - faces[-1] if high else faces[0] - ends[0][axis]
        width = float(faces[-1] - faces[-2] if high else faces[1] - faces[0])
        if BOUNDARIES[kind].permeable and reach > -width:
            return f"comes nearer than a cell to the {kind} {face}; end its way before that"
        corners = np.array(ends)
        domain = np.array([grid.origin, np.add(grid.origin, grid.lengths)])
        corners = np.where(np.isfinite(corners), corners, domain)
        assert motion is not None
        if reach > -width and np.abs(motion.velocity_at(time, corners)[:, axis]).max() > 0:
            return f"touches the {kind} {face} and moves across it; leave a cell or more between them"
        return None


def _touching(solids: Solids, one: int, other: int) -> tuple[int, int, int] | None:
    """Return the first cell in a shape with the same or an adjacent cell in another shape, or None."""
    near = solids.boxes[one - 1].grow(1) & solids.boxes[other - 1].grow(1) & solids.grid.box
    if not near:
        return None
    wide = near.grow(1)
    mine, theirs = (_numbers(solids, n, wide) for n in (one, other))
    beside = theirs.copy()
    for axis in range(3):
        low, high = (tuple(end if n == axis else slice(None) for n in range(3)) for end in (slice(1, None), slice(-1)))
        beside[low] |= theirs[high]
        beside[high] |= theirs[low]
    both = np.argwhere(mine & beside)
    if not len(both):
        return None
    return triple(lo + int(n) for lo, n in zip(wide.lo, both[0][::-1], strict=True))


def _numbers(solids: Solids, number: int, box: Box) -> np.ndarray:
    alone = Solids(solids.grid, (solids.shapes[number - 1],), solids.continued and frozenset((1,)))
    return alone.numbers_around(box, layers=0) != 0
