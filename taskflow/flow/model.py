"""The interface between a system of equations and the code that runs, records and measures it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, Protocol

from taskflow.flow.stability import Stability, StepLimit
from taskflow.flow.time.schemes import DiffusiveRates
from taskflow.flow.time.step_clock import StepClock
from taskflow.runtime.regions import Field, Location, Partition
from taskflow.runtime.tasks import Derive, Launch, Program, Repeat, Roles

VELOCITY: dict[str, Location] = {"u": "fx", "v": "fy", "w": "fz"}
Ends = Literal["ghost", "sides", "linear", "nearest"]
"""The origin of values between a boundary and the first place inside: ghost values, ghost values except beyond edges,
the line through the two nearest places, or the nearest value.
"""


class Model(Protocol):
    """Discretised equations on a grid (immutable, picklable). Defaults are for a model without flags, further regions
    or stability analysis.

    Both programs set the scalar rate = `max(|u|/dx + |v|/dy + |w|/dz)`, 1/T, which bounds the next step. Checkpoints
    hold the cells that the programs need.
    """

    @property
    def fields(self) -> dict[str, Location]:
        """Every field by role, with its location: u, v and w on faces, the others in cell centres."""

    @property
    def ghost(self) -> int:
        """Layers of ghost cells that the programs need."""
        return 1

    @property
    def flags(self) -> dict[str, str]:
        """Types of the fields that flag cells of bodies, by role. No program writes them."""
        return {}

    @property
    def surfaces(self) -> dict[str, Location]:
        """Locations of the number fields that describe surfaces of bodies, by role. No program writes them."""
        return {}

    def extra_fields(self, dtype: str) -> tuple[Field, ...]:
        """Return further fields of programs: with several values per cell, or not in the precision `dtype`."""
        return ()

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Return the partitions of further regions, on the blocks of `main`."""
        return ()

    @property
    def prognostic(self) -> dict[str, float]:
        """Diffusivity of each transported field in cell centres, and of "velocity" for u, v and w together."""

    def start(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Yield the program that makes the first state from the initial values. The scalar dt is 1."""

    def prepare(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Yield the part of `start` whose results depend only on the grid and on bodies at rest, on any blocks.

        A restart repeats it: checkpoints have none of these fields.
        """
        yield from ()

    def step(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Yield the program of a time step, which reads the `scalars`."""

    def restarted(self, f: Roles, step: int) -> None:
        """Exchange roles of fields, before a checkpoint is restored, where programs of even and odd steps differ."""
        return

    @property
    def changeable(self) -> frozenset[str]:
        """Fields that callers may change between two steps, before `refresh`: all that move."""
        moving = {*self.prognostic, *(VELOCITY if "velocity" in self.prognostic else ())}
        return frozenset(moving & self.fields.keys())

    def refresh(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Yield the program after changes of `changeable` fields: ghost values and fields that the next step reads."""
        yield from ()

    def after_overwrite(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Yield the program run when the initial fields were overwritten after `start`. Default: `refresh`."""
        yield from self.refresh(f)

    def restore_sums(self, f: Roles) -> Iterator[Launch | Repeat]:
        """Yield the program after derived fields were set: it changes their sources such that their sums are kept."""
        yield from ()

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """Return the numbers that `step` reads, for a step of dt, `ratio` times the last one, 0 in the first step."""
        return {"dt": dt}

    def stage_times(self, time: float, dt: float) -> dict[str, float]:
        """Return further numbers that `step` reads, for a step of dt from `time`. Empty if no term depends on time."""
        return {}

    @property
    def checkpoint_defaults(self) -> dict[str, float]:
        """Scalars that checkpoints of earlier builds lack, with their values for such checkpoints."""
        return {}

    def rate(self, scalars: Mapping[str, float]) -> float:
        """Return the scalar rate, or 0 if it does not bound the step."""
        return scalars["rate"]

    def advection(self, scalars: Mapping[str, float]) -> float:
        """Return `max(|u|/dx + |v|/dy + |w|/dz)` as measured, as `rate` may have a floor."""
        return self.rate(scalars)

    def diffusive_rates(self, scalars: Mapping[str, float]) -> DiffusiveRates:
        """Return the diffusive rates in addition to the constants of `step_limit`, from the scalars of a step."""
        return DiffusiveRates()

    @property
    def clock(self) -> StepClock | None:
        """The clock that plans steps on the device, or None if the host plans every step."""
        return None

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        """Return the limit of steps: one `fixed` length, or up to these CFL and diffusion numbers."""

    def stability(self, limit: StepLimit) -> Stability | None:
        """Return which steps within a limit are stable, or None if the model has no analysis."""
        return None

    def ends(self, name: str) -> Ends:
        """Return the origin of the values of a field between a boundary and the first place inside."""
        return "linear"

    @property
    def refill(self) -> Program | None:
        """The program that fills ghost values before they are recorded, or None if steps leave them filled."""
        return None
