"""The level set: phi is the signed distance to the interface, positive in phase 1.

    dphi/dt + w . grad(phi) = 0,    w = u + 0.1 ratio (u - u_old)

Advection uses upwind WENO5 (G.-S. Jiang, D. Peng 2000, SIAM J. Sci. Comput. 21, 2126) and the three-stage scheme of
C.-W. Shu and S. Osher (1988, J. Comput. Phys. 77, 439), with fixed velocity. After each step phi is reinitialised by
dd/dtau = -S (|grad d| - 1), with Godunov's Hamiltonian and the same differences and stages, and shifted by a constant
that conserves the volume of phase 1. Walls mirror phi, and it is extended into bodies with zero slope: contact angles
are 90 degrees. Without surface tension phi is extrapolated beyond walls by a line: the interface meets them at any
angle.

w leads u by a tenth of its last change. With one half, the midpoint of the step, waves lose amplitude at the rate
omega^2 dt / 4. With zero, a droplet a thousand times denser than its surroundings does not come to rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from taskflow.flow.boundaries.condition import Boundaries, Velocity
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.two_phase.bodies import extended_into_bodies
from taskflow.flow.models.two_phase.convection import MASS_FLUXES, Convection
from taskflow.flow.models.two_phase.curvature import curvature_at_foot, fall_to_foot, feet_missed
from taskflow.flow.models.two_phase.openings import LAYERS, Band, InterfaceOpenings
from taskflow.flow.models.two_phase.volume import (
    kept_shift,
    settle_volume,
    shift_level_set,
    volume_fraction,
    volume_of,
    volume_of_shifted,
)
from taskflow.flow.models.two_phase.walls import ShareGhosts
from taskflow.flow.operators.phases import Phases
from taskflow.flow.operators.rates import exact_total
from taskflow.runtime.regions import Box, Location
from taskflow.runtime.tasks import (
    Components,
    Launch,
    Read,
    Roles,
    Scalar,
    Write,
    frame,
    reduced,
    task,
)  # fmt: skip

TEXTS = KERNELS / "two_phase"
CARRIER = Components(u=Read[ACROSS_X], v=Read[ACROSS_Y], w=Read[ACROSS_Z])
CARRIER_OLD = Components(u_old=Read[ACROSS_X], v_old=Read[ACROSS_Y], w_old=Read[ACROSS_Z])
LEAVING, CLOSED = 0.05, 1e3  # widths by which a step of Newton's method may shift: with open sides, and without
DISTANCES = 40  # iterations by which an initial phi is made a distance


@dataclass(frozen=True)
class RungeKuttaStage:
    """A Runge-Kutta stage: `begun` times the value at the start plus `now` times an Euler step."""

    begun: float
    now: float


STAGES = (RungeKuttaStage(0.0, 1.0), RungeKuttaStage(3 / 4, 1 / 4), RungeKuttaStage(1 / 3, 2 / 3))


@task(kernel=TEXTS / "level_set.cu")
def advect_level_set(
    phi: Read[3], phi_begun: Read | None, velocity: CARRIER, velocity_old: CARRIER_OLD, phi_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, band: Band, stage: RungeKuttaStage,
) -> None:  # fmt: skip
    """phi_new = begun phi_begun + now (phi - dt w . grad(phi)), in the centres of cells. The first stage has no
    phi_begun.
    """


@task(kernel=TEXTS / "reinitialise.cu")
def reinitialise(d: Read[3], phi: Read[1], d_new: Write, *, grid: Grid, band: Band, stage: RungeKuttaStage) -> None:
    """d_new = begun phi + now (d - tau S (|grad d| - 1)), S = phi / sqrt(phi^2 + sum of (h dphi/dx)^2)."""


@task(kernel=TEXTS / "level_set.cu")
def nearly_distance(phi: Read[1], d: Write, *, grid: Grid, band: Band) -> None:
    """d = phi / |grad phi|, with the steeper one-sided difference along each axis (G. Russo, P. Smereka 2000, J.
    Comput. Phys. 163, 51): the distance near the interface, to first order. d = phi if the gradient is 0.
    """


@dataclass(frozen=True)
class LevelSet:
    """The interface as the zero of phi. It provides the share of phase 1 before and after a step in the cell-centred
    fields f and f_new, without ghost values, and the curvature.

    The mass flux through faces in a step is computed from f, not f_new: momentum is divided by the mass after transport
    (`taskflow.flow.models.two_phase.momentum`).

    - `thickness`: half the width of the density transition, in spacings
    - `reinitialise`: iterations after each step
    - `conserve`: shift phi to conserve the volume of phase 1, except for inflow and outflow
    - `bodies`: some cells are solid
    - `leans`: without surface tension walls do not turn the interface. Otherwise it meets them at 90 degrees
    - `convection`: with the mass fluxes of f, or in velocity form
    """

    grid: Grid
    thickness: float = 1.5
    reinitialise: int = 1
    conserve: bool = True
    boundaries: Boundaries = field(default_factory=dict)
    bodies: bool = False
    convection: Convection = MASS_FLUXES
    leans: bool = False
    weighed: ClassVar[str] = "phi_1"  # the role of `fall` from the end of `advance` to the end of the step

    @property
    def openings(self) -> InterfaceOpenings:
        """The open boundaries of the interface."""
        return InterfaceOpenings(self.grid, self.boundaries)

    @property
    def band(self) -> Band:
        """The lengths near the interface."""
        met = {side: one for side, one in self.boundaries.items() if not one.mirrors} if self.leans else {}
        return self._leaning_at(met)

    def _leaning_at(self, sides: Boundaries) -> Band:
        """Return the lengths, with phi extrapolated by a line beyond the closed ones of these sides."""
        frames = [frame(side) for side, condition in sides.items() if not condition.permeable]
        return Band.of(self.grid, self.thickness, sum(1 << (2 * axis + high) for axis, high in frames))

    @property
    def ghost(self) -> int:
        """Layers of ghost cells: three for WENO5."""
        return LAYERS

    @property
    def width(self) -> float:
        """Half the width of the density transition."""
        return self.band.width

    @property
    def fields(self) -> dict[str, Location]:
        """phi, and two fields for stages."""
        return {"phi": "c", "phi_1": "c", "phi_2": "c"}

    def start(self, f: Roles) -> Iterator[Launch]:
        """Make phi a distance, and compute f and the scalar `kept`, the sum of f.

        Iterations alone would move an interface where |grad phi| is far from 1: by 0.04 spacings if it is 0.1 (32 cells
        per radius), and by 0.004 after `nearly_distance`.
        """
        yield nearly_distance(f.phi, f.phi_1, over=self._box, grid=self.grid, band=self.band)
        f.swap("phi", "phi_1")
        for _ in range(DISTANCES):
            yield from self._reinitialised(f)
        yield from self.extend(f)
        yield from self.shares(f)

    def shares(self, f: Roles) -> Iterator[Launch]:
        """Compute f and the scalar `kept` from phi."""
        yield volume_fraction(f.phi, f.f, over=self._box, band=self.band)
        yield exact_total(f.f, self._solid(f), over=self._box, total=f.scalar("kept"), bound=1.0)

    def restore_sums(self, f: Roles) -> Iterator[Launch]:
        """Shift phi such that the sum of its f equals the sum of the present f, and compute f. Two shifts, as a shift
        may be large compared with the width.
        """
        yield exact_total(f.f, self._solid(f), over=self._box, total=f.scalar("kept"), bound=1.0)
        for _ in range(2):
            yield from self._shifted(f, f.f)

    def advance(self, f: Roles) -> Iterator[Launch]:
        """Advect the interface over a step by u + 0.1 ratio (u - u_old), and compute f_new."""
        velocity, before = (f.u, f.v, f.w), (f.u_old, f.v_old, f.w_old)
        numbers: dict[str, Any] = {"dt": "dt", "ratio": "ratio", "grid": self.openings.inner, "band": self.band}
        phi, first, second = f.phi, f.phi_1, f.phi_2
        yield from self.openings.passed(f)
        for begun, source, target, stage in _stages(phi, first, second):
            yield from self.openings.enter(source, velocity, self.band)
            yield advect_level_set(source, begun, velocity, before, target, over=self._box, stage=stage, **numbers)
        f.swap("phi", "phi_1")
        for _ in range(self.reinitialise):
            yield from self._reinitialised(f)
        yield from self.extend(f)
        if not self.conserve:
            yield volume_fraction(f.phi, f.f_new, over=self._box, band=self.band)
            return
        yield from self._shifted(f, f.f_new)
        if self.openings.permeable:
            kept, one, two = (f.scalar(name) for name in ("kept", "volume", "volume_shifted"))
            about: dict[str, Any] = {"first": one, "second": two, "kept": kept, "most": self._most}
            yield settle_volume(f.f_new, self._solid(f), over=self._box, volume=kept, grid=self.grid, **about)

    def ghosts(self, share: str, velocity: Velocity) -> Iterator[Launch]:
        """Mirror shares, except in what enters with a prescribed share."""
        yield from ShareGhosts(self.grid, self.boundaries, planes=False).fill(share, velocity)

    def curvature(self, f: Roles, share: str) -> Iterator[Launch]:
        """Compute kappa = div n of the new interface at the foot of each cell near it, n being the normal out of phase
        1.
        """
        yield curvature_at_foot(f.phi, f.kappa, over=self._box, grid=self.grid, band=self.band)

    def fall(self, f: Roles, share: str, phases: Phases) -> Iterator[Launch]:
        """Compute g.(x - place) in each cell near the interface, infinite in others. A mirrored phi would halve the
        slope towards a wall along the interface, and double the way to its foot.
        """
        band = self._leaning_at(self.boundaries)
        yield fall_to_foot(f.phi, f[self.weighed], over=self._box, grid=self.grid, band=band, phases=phases)

    def failures(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalar `curvature_failed`: the number of cells at the interface without a curvature."""
        name = f.scalar("curvature_failed")
        yield feet_missed(f.phi, self._solid(f), over=self._box, failed=name, grid=self.grid, band=self.band)

    def counts(self, scalars: Mapping[str, float]) -> dict[str, int]:
        """Return the number of cells at the interface without a curvature."""
        return {"curvature_failed": int(scalars["curvature_failed"])}

    def numbers(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return further numbers for a log line: the shift of phi in the last step."""
        if not self.conserve or "volume.0.total" not in scalars:
            return {}
        (kept,), one, two = (reduced(scalars, name) for name in ("kept", "volume", "volume_shifted"))
        return {"shift": kept_shift(one, two, kept, self._most)}

    @property
    def _box(self) -> Box:
        return Box.of(self.grid.cells)

    @property
    def _most(self) -> float:
        """The largest shift of a step of Newton's method."""
        return (LEAVING if self.openings.permeable else CLOSED) * self.band.width

    def _solid(self, f: Roles) -> str | None:
        return f.solid if self.bodies else None

    def _shifted(self, f: Roles, shares: str) -> Iterator[Launch]:
        """Shift phi to the sum `kept`, and compute its shares."""
        where: dict[str, Any] = {"over": self._box, "band": self.band}
        moved: dict[str, Any] = where | {"most": self._most}
        kept, one, two = (f.scalar(name) for name in ("kept", "volume", "volume_shifted"))
        yield volume_of(f.phi, self._solid(f), volume=one, **where)
        yield volume_of_shifted(f.phi, self._solid(f), volume=two, first=one, kept=kept, **moved)
        yield shift_level_set(f.phi, shares, first=one, second=two, kept=kept, **moved)

    def extend(self, f: Roles) -> Iterator[Launch]:
        """Extend the level set into bodies."""
        if self.bodies:
            yield from extended_into_bodies(f.phi, f.phi_1, f.solid, self.grid)

    def _reinitialised(self, f: Roles) -> Iterator[Launch]:
        """Move phi one iteration towards a distance."""
        phi = f.phi
        where: dict[str, Any] = {"over": self._box, "grid": self.openings.inner, "band": self.band}
        for _, source, target, stage in _stages(phi, f.phi_1, f.phi_2):
            yield from self.openings.enter(source, (f.u, f.v, f.w), self.band)
            yield reinitialise(source, phi, target, stage=stage, **where)
        f.swap("phi", "phi_1")


def _stages(phi: str, first: str, second: str) -> Iterator[tuple[str | None, str, str, RungeKuttaStage]]:
    """Yield for each stage the field at the start, the field of the previous stage, and the field to write: finally
    `first`.
    """
    fields = ((None, phi, first), (phi, first, second), (phi, second, first))
    for (begun, source, target), stage in zip(fields, STAGES, strict=True):
        yield begun, source, target, stage
