"""What a run asks of a system of equations, whichever it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from taskflow.flow.stability import Stability, StepLimit
from taskflow.flow.time.schemes import Spreads
from taskflow.runtime.regions import Location, Partition
from taskflow.runtime.tasks import Launch, Repeat, Roles


class Model(Protocol):
    """Discretised equations on a grid; an immutable value that can be pickled. What it says of flags, regions and
    stability holds for one that has none.

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

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Regions beside that of `fields`, on the blocks of `main`."""
        return ()

    @property
    def moving(self) -> dict[str, float]:
        """All that moves, each with its diffusivity: "velocity" for u, v and w together, and fields in cell centres."""

    def start(self, f: Roles) -> Iterator[Launch | Repeat]:
        """The program that makes the first state of the initial values; the scalar dt is 1."""

    def step(self, f: Roles) -> Iterator[Launch | Repeat]:
        """The program of a time step, which reads the `scalars`."""

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """The numbers that `step` reads, for a step of dt, `ratio` times as long as the last one (0: at first)."""
        return {"dt": dt}

    def spreads(self, scalars: Mapping[str, float]) -> Spreads:
        """What diffuses with the present state beyond the constants in the `step_limit`, from the scalars of a step."""
        return Spreads()

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        """The longest steps: of one `fixed` length, or up to these CFL and diffusion numbers."""

    def stability(self, limit: StepLimit) -> Stability | None:
        """Which of the steps within a limit are stable; None where nobody has analysed that."""
        return None
