"""Steadiness of a flow: rate of change of each moving quantity, relative to its range.

The rate of a quantity q (velocity, temperature or passive scalar) over a time interval is

    max |q(now) - q(then)| / (time * range)

over all cells and, for the velocity, all components. The range of the velocity is the largest speed, the range of a
scalar its maximum minus its minimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from taskflow.flow.grid import StaggeredGrid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.measures.extremes import highest, lowest
from taskflow.flow.measures.sums import largest_speed, velocity_change
from taskflow.flow.model import VELOCITY, Model
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, Read, Reduce, Roles, Write, task

TEXT = KERNELS / "steadiness.cu"
REST = 4.0  # rounding errors, in cells: a fluid that moves less in a step is at rest
ALIKE = 64.0  # rounding errors of the largest value: a quantity that varies by less is uniform


@task(kernel=TEXT)
def keep_velocity(u: Read, v: Read, w: Read, was_u: Write, was_v: Write, was_w: Write) -> None:
    """was_u, was_v, was_w = u, v, w"""


@task(kernel=TEXT)
def keep_quantity(q: Read, was_q: Write) -> None:
    """was_q = q"""


@task(kernel=TEXT)
def quantity_change(q: Read, q_old: Read, *, change: Reduce[max]) -> None:
    """change = max over cells of |q - q_old|"""


class Motion(NamedTuple):
    """Change of a quantity and its current range, 0 if the quantity is uniform or the fluid at rest."""

    change: float
    range: float


@dataclass(frozen=True, eq=False)
class Steadiness:
    """Programs that keep a state and compare the current one with it, and the meaning of their scalars."""

    flow: Model
    grid: StaggeredGrid

    @property
    def fields(self) -> dict[str, Location]:
        """Fields of the kept state, by role."""
        names: dict[str, Location] = dict(VELOCITY) if self.flows else {}
        names |= dict.fromkeys(self.quantities, "c")
        return {was(name): location for name, location in names.items()}

    @property
    def watched(self) -> tuple[str, ...]:
        """Names of all moving quantities: "velocity", and fields in cell centres."""
        return tuple(self.flow.prognostic)

    @property
    def flows(self) -> bool:
        """True if the velocity is watched."""
        return "velocity" in self.flow.prognostic

    @property
    def quantities(self) -> tuple[str, ...]:
        """Watched fields in cell centres."""
        return tuple(name for name in self.flow.prognostic if name != "velocity")

    def keep(self, f: Roles) -> Iterator[Launch]:
        """Yield the launches that keep the current state."""
        box = self.grid.box
        if self.flows:
            yield keep_velocity(*(f[name] for name in VELOCITY), *(f[was(name)] for name in VELOCITY), over=box)
        for name in self.quantities:
            yield keep_quantity(f[name], f[was(name)], over=box)

    def compare(self, f: Roles) -> Iterator[Launch]:
        """Yield the launches for speed, changed_u, and changed_NAME, highest_NAME and lowest_NAME of scalars."""
        box = self.grid.box
        if self.flows:
            now = tuple(f[name] for name in VELOCITY)
            yield largest_speed(*now, over=box, speed=f.scalar("speed"))
            yield velocity_change(*now, *(f[was(name)] for name in VELOCITY), over=box, change=f.scalar("changed_u"))
        for name in self.quantities:
            q = f[name]
            yield quantity_change(q, f[was(name)], over=box, change=f.scalar(f"changed_{name}"))
            yield highest(q, None, over=box, high=f.scalar(f"highest_{name}"))
            yield lowest(q, None, over=box, low=f.scalar(f"lowest_{name}"))

    def motions(self, scalars: Mapping[str, float], dt: float, rounding: float) -> dict[str, Motion]:
        """Return the motions since `keep` by the names of `watched`, given the scalars of `compare` after a step of
        length dt.

        `rounding` is the rounding error of 1.
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
        """Return the shorter of two times: advection at `speed` across the longest side L, and diffusion over it.

        The latter is L^2 / (pi^2 diffusivity) with the largest viscosity or diffusivity.
        """
        grid = self.grid
        sides = zip(grid.cells, grid.lengths, strict=True)
        longest = max(length for cells, length in sides if cells > 1 or max(grid.cells) == 1)
        diffusivity = max(self.flow.prognostic.values())
        crossing = longest / speed if speed > 0 else math.inf
        return min(crossing, longest**2 / (math.pi**2 * diffusivity) if diffusivity > 0 else math.inf)


def was(name: str) -> str:
    """Return the role of the kept state of a field."""
    return f"was_{name}"
