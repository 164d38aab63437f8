"""The steadiness of a flow: the rate at which everything that moves changes, relative to its own range.

The rate of a quantity q, the velocity, the temperature or a passive scalar, over a time is

    max |q(now) - q(then)| / (time * range)

over all cells and, of the velocity, all components. The range of the velocity is the largest speed, that of what the
flow carries the largest value less the smallest one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from taskflow.flow.grid import StaggeredGrid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.measures.monitor import largest_speed, velocity_change
from taskflow.flow.model import VELOCITY, Model
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, Read, Reduce, Roles, Write, task

TEXT = KERNELS / "steadiness.cu"
REST = 4.0  # roundings of a cell: a fluid that gets less far in a step is at rest
ALIKE = 64.0  # roundings of the largest value: a quantity that varies by less is the same everywhere


@task(kernel=TEXT)
def keep_velocity(u: Read, v: Read, w: Read, was_u: Write, was_v: Write, was_w: Write) -> None:
    """was_u, was_v, was_w = u, v, w"""


@task(kernel=TEXT)
def keep_quantity(q: Read, was_q: Write) -> None:
    """was_q = q"""


@task(kernel=TEXT)
def quantity_change(q: Read, q_old: Read, *, change: Reduce[max]) -> None:
    """change = max over cells of |q - q_old|"""


@task(kernel=TEXT)
def highest_value(q: Read, *, highest: Reduce[max]) -> None:
    """highest = max over cells of q"""


@task(kernel=TEXT)
def lowest_value(q: Read, *, lowest: Reduce[min]) -> None:
    """lowest = min over cells of q"""


class Motion(NamedTuple):
    """The change of a quantity, and its range now: 0 where it is the same everywhere, and for a fluid at rest."""

    change: float
    range: float


@dataclass(frozen=True, eq=False)
class Steadiness:
    """The programs that keep a state and compare the present one with it, and the meaning of their scalars."""

    flow: Model
    grid: StaggeredGrid

    @property
    def fields(self) -> dict[str, Location]:
        """The state that is kept, by role."""
        names: dict[str, Location] = dict(VELOCITY) if self.flows else {}
        names |= dict.fromkeys(self.quantities, "c")
        return {was(name): location for name, location in names.items()}

    @property
    def watched(self) -> tuple[str, ...]:
        """The names of all that moves: "velocity", and the fields in cell centres."""
        return tuple(self.flow.moving)

    @property
    def flows(self) -> bool:
        """Whether a velocity is watched."""
        return "velocity" in self.flow.moving

    @property
    def quantities(self) -> tuple[str, ...]:
        """The fields in cell centres that are watched."""
        return tuple(name for name in self.flow.moving if name != "velocity")

    def keep(self, f: Roles) -> Iterator[Launch]:
        """Keep the present state."""
        box = self.grid.box
        if self.flows:
            yield keep_velocity(*(f[name] for name in VELOCITY), *(f[was(name)] for name in VELOCITY), over=box)
        for name in self.quantities:
            yield keep_quantity(f[name], f[was(name)], over=box)

    def compare(self, f: Roles) -> Iterator[Launch]:
        """Scalars speed, changed_u of the velocity, and changed_NAME, highest_NAME, lowest_NAME of what it carries."""
        box = self.grid.box
        if self.flows:
            now = tuple(f[name] for name in VELOCITY)
            yield largest_speed(*now, over=box, speed=f.scalar("speed"))
            yield velocity_change(*now, *(f[was(name)] for name in VELOCITY), over=box, change=f.scalar("changed_u"))
        for name in self.quantities:
            q = f[name]
            yield quantity_change(q, f[was(name)], over=box, change=f.scalar(f"changed_{name}"))
            yield highest_value(q, over=box, highest=f.scalar(f"highest_{name}"))
            yield lowest_value(q, over=box, lowest=f.scalar(f"lowest_{name}"))

    def motions(self, scalars: Mapping[str, float], dt: float, rounding: float) -> dict[str, Motion]:
        """The motions since `keep`, from the scalars of `compare` after a step of length dt, by the names of `watched`.
        `rounding` is that of 1.
        """
        motions = {}
        if self.flows:
            moves = scalars["rate"] * dt > REST * rounding
            motions["velocity"] = Motion(scalars["changed_u"], scalars["speed"] if moves else 0.0)
        for name in self.quantities:
            change, high, low = (scalars[f"{kind}_{name}"] for kind in ("changed", "highest", "lowest"))
            varies = high - low > ALIKE * rounding * max(abs(high), abs(low))
            motions[name] = Motion(change, high - low if varies else 0.0)
        return motions

    def patience(self, speed: float) -> float:
        """The time in which the largest speed crosses the longest side L, or in which diffusion levels differences over
        it, L^2 / (pi^2 diffusivity) with the largest viscosity or diffusivity, if that is shorter.
        """
        grid = self.grid
        sides = zip(grid.cells, grid.lengths, strict=True)
        longest = max(length for cells, length in sides if cells > 1 or max(grid.cells) == 1)
        diffusivity = max(self.flow.moving.values())
        crossing = longest / speed if speed > 0 else math.inf
        return min(crossing, longest**2 / (math.pi**2 * diffusivity) if diffusivity > 0 else math.inf)


def was(name: str) -> str:
    """The role of the kept state of a field."""
    return f"was_{name}"
