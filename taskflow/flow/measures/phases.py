"""Measures of two phases: energies, and integrals over one of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z, FACE_VELOCITY
from taskflow.flow.kernels import KERNELS
from taskflow.flow.measures.monitor import Monitor
from taskflow.flow.measures.sums import largest_speed
from taskflow.flow.measures.surfaces import Surface, ValueSurface
from taskflow.flow.operators.phases import Phases
from taskflow.flow.operators.rates import exact_total
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import (
    Axis,
    Components,
    Derive,
    Launch,
    Read,
    ReadByte,
    Reduce,
    Roles,
    Scalar,
    facing,
    reduced,
    task,
)

TEXT = KERNELS / "two_phase" / "measures.cu"
FACE_VELOCITY_OLD = Components(u_old=Read[ACROSS_X], v_old=Read[ACROSS_Y], w_old=Read[ACROSS_Z])
Phase = Literal[1, 2]
HALF = ValueSurface("f", 0.5)


@task(kernel=TEXT)
def energy_of_phases(
    f: Read, velocity: FACE_VELOCITY, velocity_old: FACE_VELOCITY_OLD, solid: ReadByte | None,
    *, energy: Reduce[sum, 2], grid: Grid, phases: Phases,
) -> None:  # fmt: skip
    """energy = sums over fluid cells of rho |U|^2 / 2 and of -rho g.x, with x relative to the low ends of the domain.

    U = u - 0.4 (u - u_old) is the velocity at the time of the interface, which lags by 0.4 steps.
    """


@task(kernel=TEXT)
def phase_sums(
    f: Read, velocity: FACE_VELOCITY, solid: ReadByte | None,
    *, sums: Reduce["exact sum", 8], speed: Scalar, grid: Grid, phase: int,
) -> None:  # fmt: skip
    """sums = sums over cells of s, s x, s y, s z, s u, s v, s w and s |u|^2 / 2, with u the mean of both faces.

    s is the share of a phase, f or 1 - f, and 0 in solid cells. `speed` is the largest |u|.
    """


@task(kernel=TEXT)
def phase_end(
    f: Read[facing(n=(-1, 1))], solid: ReadByte | None,
    *, along: Axis, end: Reduce[max], grid: Grid, phase: int, sign: float, last: int,
) -> None:  # fmt: skip
    """end = max of sign x over the positions along an axis where a phase ends, -inf without the phase.

    It ends where its share is 1/2 between centres, at the end of the domain, at a body, or at the end of the box, after
    the cell `last`.
    """


@dataclass(frozen=True, eq=False)
class PhaseMonitor(Monitor):
    """Monitor of two phases: `Monitor`, the energies, the area of the interface, and the volume of phase 1."""

    phases: Phases
    surface: Surface = HALF

    def __call__(self, f: Roles) -> Iterator[Launch | Derive]:
        yield from super().__call__(f)
        flow, box = self.flow, self.flow.staggered.box
        solid, numbers = f.solid if flow.obstacles else None, {"grid": flow.grid, "phases": self.phases}
        velocity, before = (f.u, f.v, f.w), (f.u_old, f.v_old, f.w_old)
        yield energy_of_phases(f.f, velocity, before, solid, over=box, energy=f.scalar("energies"), **numbers)
        yield from self.surface.area(f, solid, flow.staggered, box, f.scalar("interface"))
        yield exact_total(f.f, solid, over=box, total=f.scalar("first_phase"), bound=1.0)

    def numbers(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the integrals of rho |u|^2 / 2 and of -rho g.x relative to the low ends of the domain, the area, and
        the relative volume error of phase 1.

        The error is the departure from the initial volume plus inflow minus outflow, over the initial volume plus
        inflow.
        """
        grid = self.flow.staggered
        kinetic, potential = reduced(scalars, "energies")
        names = "interface", "first_phase", "kept", "brought"
        (area,), (now,), (kept,), (brought,) = (reduced(scalars, name) for name in names)
        most = max(kept, brought)
        return {
            "kinetic_energy": kinetic * grid.volume,
            "potential_energy": potential * grid.volume,
            "area": area,
            "volume_change": (now - kept) / most if most > 0 else 0.0,
        }


@dataclass(frozen=True)
class PhaseIntegrals:
    """Integrals over one phase within a box of cells: a program, and the numbers derived from its scalars.

    In two dimensions, with one cell along a direction, the circularity is the perimeter of the circle of equal area
    over the perimeter. In three it is the area of the sphere of equal volume over the area. Both are of the same
    surface. Where the phase reaches one of the `planes` of symmetry, faces of the domain, its mirror image counts.
    """

    grid: StaggeredGrid
    name: str
    phase: Phase
    over: Box
    bodies: bool = False
    surface: Surface = HALF
    planes: tuple[str, ...] = ()
    __name__: ClassVar[str] = "phases"

    @property
    def names(self) -> dict[str, str]:
        """Names of the numbers, with descriptions."""
        words = {"volume": "volume"}
        words |= {f"centre_{axis}": f"{axis} of the centre of volume" for axis in "xyz"}
        words |= {f"velocity_{axis}": f"mean velocity along {axis}" for axis in "xyz"}
        words |= {"kinetic_energy": "half the mean square of the velocity", "area": "area of the interface"}
        words |= {"circularity": "area of the sphere, or perimeter of the circle, of equal volume over its own"}
        ends = {"min": "lowest", "max": "highest"}
        return words | {f"extent_{a}_{end}": f"{word} {a} where f = 1/2" for a in "xyz" for end, word in ends.items()}

    def __call__(self, f: Roles) -> Iterator[Launch]:
        grid, over = self.grid.constants, self.over
        velocity, solid = (f.u, f.v, f.w), f.solid if self.bodies else None
        yield largest_speed(*velocity, over=self.grid.box, speed=self._of("speed"))
        numbers = {"sums": self._of("sums"), "speed": self._of("speed")}
        yield phase_sums(f.f, velocity, solid, over=over, grid=grid, phase=self.phase, **numbers)
        yield from self.surface.area(f, solid, self.grid, over, self._of("area"))
        yield from self.surface.volume(f, solid, self.grid, over, self._of("enclosed"))
        for axis, first, behind in zip("xyz", over.lo, over.hi, strict=True):
            for end, sign, last in (("min", -1.0, first), ("max", 1.0, behind - 1)):
                about = {"grid": grid, "phase": self.phase, "sign": sign, "last": last}
                yield phase_end(f.f, solid, over=over, along=axis, end=self._of(f"{axis}_{end}"), **about)

    def numbers(self, scalars: Mapping[str, float]) -> list[float]:
        """Return the numbers of `names` in order, NaN if undefined without the phase."""
        grid, sums = self.grid, reduced(scalars, self._of("sums"))
        (area,) = reduced(scalars, self._of("area"))
        share, volume = sums[0], sums[0] * grid.volume
        means = [total / share if share > 0 else math.nan for total in sums[1:]]
        centre = [start + mean for start, mean in zip(grid.origin, means[:3], strict=True)]
        ends = []
        for axis, start in zip("xyz", grid.origin, strict=True):
            for end, sign in (("min", -1.0), ("max", 1.0)):
                place = scalars[self._of(f"{axis}_{end}")]
                ends.append(start + sign * place if math.isfinite(place) else math.nan)
        above, whole = reduced(scalars, self._of("enclosed"))
        round_ = self._circularity(above if self.phase == 1 else whole - above, area, ends)
        return [volume, *centre, *means[3:], area, round_, *ends]

    def _circularity(self, volume: float, area: float, ends: list[float]) -> float:
        """Return the circularity of a surface and its mirror images, `ends` being the extent of the phase."""
        thin = [length for cells, length in zip(self.grid.cells, self.grid.lengths, strict=True) if cells == 1]
        if area <= 0 or volume <= 0:
            return math.nan
        images = 2.0 ** sum(self._mirrored(axis, *ends[2 * axis : 2 * axis + 2]) for axis in range(3))
        if len(thin) == 1:
            return 2 * math.sqrt(math.pi * volume / thin[0]) / (area / thin[0]) / math.sqrt(images)
        return math.pi ** (1 / 3) * (6 * volume) ** (2 / 3) / area / images ** (1 / 3)

    def _mirrored(self, axis: int, low: float, high: float) -> bool:
        """Return True if the phase reaches one plane of symmetry across an axis, and not both."""
        start, length, near = self.grid.origin[axis], self.grid.lengths[axis], 1e-9 * self.grid.lengths[axis]
        reached = (
            f"{'xyz'[axis]}_min" in self.planes and low - start <= near,
            f"{'xyz'[axis]}_max" in self.planes and start + length - high <= near,
        )
        return self.grid.cells[axis] > 1 and reached.count(True) == 1

    def _of(self, number: str) -> str:
        return f"phases.{self.name}.{number}"
