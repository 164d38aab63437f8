"""The level set: phi is the distance to the interface, positive in phase 1.

    dphi/dt + w . grad(phi) = 0,    w = u + 0.1 ratio (u - u_old)

Transport has WENO5 from the upwind side (G.-S. Jiang, D. Peng 2000, SIAM J. Sci. Comput. 21, 2126) and the three stages
of C.-W. Shu and S. Osher (1988, J. Comput. Phys. 77, 439), with the velocity held. After each step phi is made a
distance again by dd/dtau = -S (|grad d| - 1), with Godunov's Hamiltonian and the same differences and stages, and
shifted by a constant such that the volume of phase 1 stays. Walls mirror phi, and it goes on into bodies without a
slope: contact angles are 90 degrees.

w leads u by a tenth of what it changed: with the middle of the step, half of it, waves lose amplitude at the rate
omega^2 dt / 4; without, a droplet a thousand times denser than its surroundings does not come to rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.two_phase.openings import LAYERS, Band, InterfaceOpenings
from taskflow.flow.operators.rates import exact_total
from taskflow.runtime.regions import Box, Location
from taskflow.runtime.tasks import (
    Components,
    Launch,
    Read,
    ReadByte,
    ReadWrite,
    Reduce,
    Roles,
    Scalar,
    Write,
    box,
    reduced,
    task,
)  # fmt: skip

TEXTS = KERNELS / "two_phase"
CARRIER = Components(u=Read[ACROSS_X], v=Read[ACROSS_Y], w=Read[ACROSS_Z])
CARRIER_OLD = Components(u_old=Read[ACROSS_X], v_old=Read[ACROSS_Y], w_old=Read[ACROSS_Z])
EXTENSIONS = 2  # pairs of sweeps by which the level set goes on into bodies: WENO5 reads three cells of them
DISTANCES = 40  # iterations by which an initial phi is made a distance


@dataclass(frozen=True)
class RungeKuttaStage:
    """A stage of Runge-Kutta: `begun` times the value at the start, and `now` times that of a step of Euler's."""

    begun: float
    now: float


STAGES = (RungeKuttaStage(0.0, 1.0), RungeKuttaStage(3 / 4, 1 / 4), RungeKuttaStage(1 / 3, 2 / 3))


@task(kernel=TEXTS / "level_set.cu")
def advect_level_set(
    phi: Read[3], phi_begun: Read | None, velocity: CARRIER, velocity_old: CARRIER_OLD, phi_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, band: Band, stage: RungeKuttaStage,
) -> None:  # fmt: skip
    """phi_new = begun phi_begun + now (phi - dt w . grad(phi)), in the centres of cells; the first stage has no
    phi_begun.
    """


@task(kernel=TEXTS / "reinitialise.cu")
def reinitialise(d: Read[3], phi: Read[1], d_new: Write, *, grid: Grid, band: Band, stage: RungeKuttaStage) -> None:
    """d_new = begun phi + now (d - tau S (|grad d| - 1)), S = phi / sqrt(phi^2 + sum of (h dphi/dx)^2)."""


@task(kernel=TEXTS / "level_set.cu")
def nearly_distance(phi: Read[1], d: Write, *, grid: Grid) -> None:
    """d = phi / |grad phi|, with the steeper of both one-sided differences along each axis (G. Russo, P. Smereka 2000,
    J. Comput. Phys. 163, 51): the distance near the interface, to first order. Where phi is even, d is phi.
    """


@task(kernel=TEXTS / "volume.cu")
def volume_fraction(phi: Read, f: Write, *, band: Band) -> None:
    """f = H(phi / width), H(x) = (1 + x + sin(pi x) / pi) / 2 for |x| < 1 (M. Sussman, P. Smereka, S. Osher 1994)."""


@task(kernel=TEXTS / "volume.cu")
def volume_of(phi: Read, solid: ReadByte | None, *, volume: Reduce["exact sum", 2], band: Band) -> None:
    """volume = sums over the cells of fluid of H(phi / width) and of its derivative by phi."""


@task(kernel=TEXTS / "volume.cu")
def volume_of_shifted(
    phi: Read, solid: ReadByte | None,
    *, volume: Reduce["exact sum", 2], first: Scalar["exact sum", 2], kept: Scalar["exact sum"], band: Band,
) -> None:  # fmt: skip
    """`volume_of` phi + shift, shift = (kept - first[0]) / first[1]: a step of Newton's method."""


@task(kernel=TEXTS / "volume.cu")
def shift_level_set(
    phi: ReadWrite, f: Write,
    *, first: Scalar["exact sum", 2], second: Scalar["exact sum", 2], kept: Scalar["exact sum"], band: Band,
) -> None:  # fmt: skip
    """phi = phi + shift, f = H(phi / width), with the shift `kept_shift` for both volumes and their slopes: `first` at
    none, `second` at that of a step of Newton's method.
    """


def kept_shift(first: Sequence[float], second: Sequence[float], kept: float) -> float:
    """The shift of phi with which its volume is `kept`, from volume and slope at no shift and at that of a step of
    Newton's method: a second step, and what a cubic through both values and slopes, the shift as a function of the
    volume (inverse interpolation after Hermite), adds to it, if that is less.
    """
    (volume, slope), (volume_2, slope_2) = first, second
    once = (kept - volume) / slope if slope > 0 else 0.0
    twice = (kept - volume_2) / slope_2 if slope_2 > 0 else 0.0
    moved = volume_2 - volume
    if slope_2 <= 0 or moved == 0:
        return once + twice
    before, behind = (once / moved - 1 / slope) / moved, (1 / slope_2 - once / moved) / moved
    more = (kept - volume_2) ** 2 * (behind + (kept - volume) * (behind - before) / moved)
    return once + twice + (more if abs(more) < abs(twice) else 0.0)


@task(kernel=TEXTS / "curvature.cu")
def curvature_at_foot(phi: Read[box(3)], kappa: Write, *, grid: Grid, band: Band) -> None:
    """kappa = -div(grad(phi) / |grad(phi)|) at x - phi grad(phi) / |grad(phi)|^2, linear between the centres of cells,
    up to two cells away, in cells beside the interface; 0 elsewhere.
    """


@task(kernel=TEXTS / "curvature.cu")
def feet_missed(phi: Read[1], solid: ReadByte | None, *, failed: Reduce[sum], grid: Grid, band: Band) -> None:
    """failed = the number of cells of fluid in which the density changes, |phi| < width, and that `curvature_at_foot`
    gives no curvature of the interface: phi has no slope there, or their foot is more than two cells away along an
    axis, or they are beyond `band.foot`.
    """


@task(kernel=TEXTS / "bodies.cu")
def extend_into_bodies(phi: Read[1], solid: ReadByte, phi_new: Write, *, grid: Grid) -> None:
    """phi_new = phi in the fluid, in solid cells the mean of neighbours in the fluid, or of all where there is none:
    the interface meets bodies at 90 degrees.
    """


@dataclass(frozen=True)
class LevelSet:
    """The interface as the zero of phi. It hands over the shares of phase 1 before and after a step, in the fields f
    and f_new in the centres of cells, without ghost values beyond the domain, and the curvature.

    The mass that a step carries through faces follows from f, and not from f_new: what momentum is divided by is the
    mass after transport (`taskflow.flow.models.two_phase.momentum`). `reinitialise`: iterations after each step;
    `conserve`: whether phi is shifted such that the volume of phase 1 stays, but for what enters and leaves;
    `thickness`: half the width over which density changes, in spacings; `bodies`: whether some cells are solid.
    """

    grid: Grid
    thickness: float = 1.5
    reinitialise: int = 1
    conserve: bool = True
    boundaries: Boundaries = field(default_factory=dict)
    bodies: bool = False

    @property
    def openings(self) -> InterfaceOpenings:
        """The boundaries where the interface enters and leaves."""
        return InterfaceOpenings(self.grid, self.boundaries)

    @property
    def band(self) -> Band:
        """The lengths beside the interface."""
        return Band.of(self.grid, self.thickness)

    @property
    def ghost(self) -> int:
        """WENO5 reads three cells on either side."""
        return LAYERS

    @property
    def fields(self) -> dict[str, Location]:
        """phi, and two fields for stages."""
        return {"phi": "c", "phi_1": "c", "phi_2": "c"}

    @property
    def surface(self) -> tuple[str, float]:
        """A role, and the value of its field on the interface, beside which the field is as linear as can be: the
        perimeter of a circle of f = 1/2 would be 0.6 % too long at every spacing.
        """
        return "phi", 0.0

    def start(self, f: Roles) -> Iterator[Launch]:
        """Makes phi a distance; f, and the scalar `kept`, the sum of f. Iterations alone would move an interface beside
        which |grad phi| is far from 1: where it is 0.1 by 0.04 spacings, on 32 cells per radius, and by 0.004 after
        a division by it.
        """
        yield nearly_distance(f.phi, f.phi_1, over=self._box, grid=self.grid)
        f.swap("phi", "phi_1")
        for _ in range(DISTANCES):
            yield from self._reinitialised(f)
        yield from self._extended(f)
        yield from self.shares(f)

    def shares(self, f: Roles) -> Iterator[Launch]:
        """f, and the scalar `kept`, of the present phi."""
        yield volume_fraction(f.phi, f.f, over=self._box, band=self.band)
        yield exact_total(f.f, self._solid(f), over=self._box, total=f.scalar("kept"), bound=1.0)

    def summed(self, f: Roles) -> Iterator[Launch]:
        """f of the present phi, moved such that its sum is that of the f that is there: phi is shifted, twice, for a
        shift that is no small part of the width.
        """
        yield exact_total(f.f, self._solid(f), over=self._box, total=f.scalar("kept"), bound=1.0)
        for _ in range(2):
            yield from self._shifted(f, f.f)

    def advance(self, f: Roles) -> Iterator[Launch]:
        """Carries the interface over a step by u + 0.1 ratio (u - u_old), and leaves f_new."""
        velocity, before = (f.u, f.v, f.w), (f.u_old, f.v_old, f.w_old)
        numbers: dict[str, Any] = {"dt": "dt", "ratio": "ratio", "grid": self.openings.inner, "band": self.band}
        phi, first, second = f.phi, f.phi_1, f.phi_2
        yield from self.openings.passed(f)
        for begun, source, target, stage in _stages(phi, first, second):
            yield from self.openings.enter(source, self.band)
            yield advect_level_set(source, begun, velocity, before, target, over=self._box, stage=stage, **numbers)
        f.swap("phi", "phi_1")
        for _ in range(self.reinitialise):
            yield from self._reinitialised(f)
        yield from self._extended(f)
        if not self.conserve:
            yield volume_fraction(f.phi, f.f_new, over=self._box, band=self.band)
            return
        yield from self._shifted(f, f.f_new)

    def curvature(self, f: Roles) -> Iterator[Launch]:
        """kappa = div n of the new interface, n being its normal out of phase 1, at the foot of each cell on it."""
        yield curvature_at_foot(f.phi, f.kappa, over=self._box, grid=self.grid, band=self.band)

    def failures(self, f: Roles) -> Iterator[Launch]:
        """The scalar `curvature_failed`: the number of cells with a part of the interface for which `curvature` found
        none.
        """
        name = f.scalar("curvature_failed")
        yield feet_missed(f.phi, self._solid(f), over=self._box, failed=name, grid=self.grid, band=self.band)

    def numbers(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """The numbers that a line of the log has besides: the shift of phi in the last step, which kept the volume."""
        if not self.conserve or "volume.0.total" not in scalars:
            return {}
        (kept,), one, two = (reduced(scalars, name) for name in ("kept", "volume", "volume_shifted"))
        return {"shift": kept_shift(one, two, kept)}

    @property
    def _box(self) -> Box:
        return Box.of(self.grid.cells)

    def _solid(self, f: Roles) -> str | None:
        return f.solid if self.bodies else None

    def _shifted(self, f: Roles, shares: str) -> Iterator[Launch]:
        """phi with the sum that is `kept`, and its shares."""
        where: dict[str, Any] = {"over": self._box, "band": self.band}
        kept, one, two = (f.scalar(name) for name in ("kept", "volume", "volume_shifted"))
        yield volume_of(f.phi, self._solid(f), volume=one, **where)
        yield volume_of_shifted(f.phi, self._solid(f), volume=two, first=one, kept=kept, **where)
        yield shift_level_set(f.phi, shares, first=one, second=two, kept=kept, **where)

    def _extended(self, f: Roles) -> Iterator[Launch]:
        """The level set in bodies."""
        if self.bodies:
            for source, target in EXTENSIONS * ((f.phi, f.phi_1), (f.phi_1, f.phi)):
                yield extend_into_bodies(source, f.solid, target, over=self._box, grid=self.grid)

    def _reinitialised(self, f: Roles) -> Iterator[Launch]:
        """An iteration: phi is nearer to a distance then."""
        phi = f.phi
        where: dict[str, Any] = {"over": self._box, "grid": self.openings.inner, "band": self.band}
        for _, source, target, stage in _stages(phi, f.phi_1, f.phi_2):
            yield from self.openings.enter(source, self.band)
            yield reinitialise(source, phi, target, stage=stage, **where)
        f.swap("phi", "phi_1")


def _stages(phi: str, first: str, second: str) -> Iterator[tuple[str | None, str, str, RungeKuttaStage]]:
    """For each stage the field at the start, that of the last stage, and the one to be written: the last is `first`."""
    fields = ((None, phi, first), (phi, first, second), (phi, second, first))
    for (begun, source, target), stage in zip(fields, STAGES, strict=True):
        yield begun, source, target, stage
