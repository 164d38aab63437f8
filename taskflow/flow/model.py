"""The interface between a system of equations and all that runs, records and measures it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, Protocol

from taskflow.flow.stability import Stability, StepLimit
from taskflow.flow.time.schemes import DiffusiveRates
from taskflow.runtime.regions import Field, Location, Partition
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles

VELOCITY: dict[str, Location] = {"u": "fx", "v": "fy", "w": "fz"}
Ends = Literal["ghost", "sides", "linear", "nearest"]
"""The origin of values between a boundary and the first place inside: ghost values, those beyond sides but not beyond
edges, the line through the two nearest places, or the nearest value.
"""


class Model(Protocol):
    """Discretised equations on a grid; an immutable value that can be pickled. The defaults for flags, regions and
    stability are those of a model that has none.

    Both programs leave the scalar rate = max(|u|/dx + |v|/dy + |w|/dz), from which the length of the next step follows.
    Which cells a checkpoint needs is derived from the programs.
    """

    @property
    def fields(self) -> dict[str, Location]:
        """Every field by role, with its location: u, v and w on faces, all else that is written in cell centres."""

    @property
    def ghost(self) -> int:
        """Layers of ghost cells that the programs need."""
        return 1

    @property
    def flags(self) -> dict[str, str]:
        """Fields of flags that say where bodies are, by role, each with its type. No program writes them."""
        return {}

    @property
    def surfaces(self) -> dict[str, Location]:
        """Fields of numbers that say where surfaces of bodies are, by role. No program writes them."""
        return {}

    def several(self, dtype: str) -> tuple[Field, ...]:
        """Further fields that programs write, of several values per cell or in a precision of their own, where others
        are of `dtype`.
        """
        return ()

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Regions beside that of `fields`, on the blocks of `main`."""
        return ()

    @property
    def moving(self) -> dict[str, float]:
        """All that moves, each with its diffusivity: "velocity" for u, v and w together, and fields in cell centres."""

    def start(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """The program that makes the first state of the initial values; the scalar dt is 1."""

    def prepare(self, f: Roles) -> Iterator[Launch | Repeat]:
        """The part of `start` whose results follow from the grid and from bodies at rest alone, on any blocks. A run
        that is resumed repeats it: checkpoints have none of these fields.
        """
        yield from ()

    def step(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """The program of a time step, which reads the `scalars`."""

    @property
    def changeable(self) -> frozenset[str]:
        """The fields that somebody may change between two steps, after which `renew` is run: all that moves."""
        moving = {*self.moving, *(VELOCITY if "velocity" in self.moving else ())}
        return frozenset(moving & self.fields.keys())

    def renew(self, f: Roles) -> Iterator[Launch | Repeat]:
        """The program for a state some of whose `changeable` fields were changed: values beyond boundaries, and what
        else follows from them and the next step reads.
        """
        yield from ()

    def taken(self, f: Roles) -> Iterator[Launch | Repeat]:
        """The program for a state whose initial fields were written anew, as they are, once `start` has run."""
        yield from self.renew(f)

    def summed(self, f: Roles) -> Iterator[Launch | Repeat]:
        """The program for fields that follow from others, and were written once `start` has run: those others are
        changed such that the sums of these stay.
        """
        yield from ()

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """The numbers that `step` reads, for a step of dt, `ratio` times as long as the last one (0: at first)."""
        return {"dt": dt}

    def moments(self, time: float, dt: float) -> dict[str, float]:
        """The numbers that `step` reads besides, for a step of dt from this time on: none where no term depends on the
        time itself.
        """
        return {}

    @property
    def added(self) -> dict[str, float]:
        """Scalars of a state that checkpoints of earlier builds lack, with the values that they are to have then."""
        return {}

    def rate(self, scalars: Mapping[str, float]) -> float:
        """The scalar rate; 0 where the length of steps does not follow from it."""
        return scalars["rate"]

    def advection(self, scalars: Mapping[str, float]) -> float:
        """Return max(|u|/dx + |v|/dy + |w|/dz) as measured, where `rate` may have a floor."""
        return self.rate(scalars)

    def spreads(self, scalars: Mapping[str, float]) -> DiffusiveRates:
        """Return what diffuses now beyond the constants in the `step_limit`, from the scalars of a step."""
        return DiffusiveRates()

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        """The longest steps: of one `fixed` length, or up to these CFL and diffusion numbers."""

    def stability(self, limit: StepLimit) -> Stability | None:
        """Which of the steps within a limit are stable; None where nobody has analysed that."""
        return None

    def ends(self, name: str) -> Ends:
        """Return the origin of the values of a field between a boundary and the first place inside."""
        return "linear"
