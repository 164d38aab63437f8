"""Projection with variable density, whole or with a split gradient.

    u = u* - dt b grad(p),    div(b grad p) = div(u*) / dt,    b = 1 / rho on faces

The split gradient (M. S. Dodd, A. Ferrante 2014, J. Comput. Phys. 273, 416) leaves a constant coefficient b_0, 1 / rho
of the lighter phase. The rest acts on an extrapolated pressure:

    u = u* - dt (b - b_0) grad(p^) - dt b_0 grad(p),    p^ = p + r (p - p_old),    r = dt / dt_old

An error of p^ is multiplied by up to 1 - rho_min / rho_max in a step. At the start and in the first step no pressure is
known. Passes from the same u* then find it, each with the p of the last one as p^.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.boundaries.condition import Boundaries, Velocity
from taskflow.flow.boundaries.open_boundaries import OpenBoundaries
from taskflow.flow.boundaries.openings import closed_faces
from taskflow.flow.grid import Grid, on_face
from taskflow.flow.models.two_phase.convection import opened_high
from taskflow.flow.models.two_phase.momentum import begin_old, correct_by_density, inverse_density
from taskflow.flow.operators.phases import Phases
from taskflow.flow.operators.projection import divergence
from taskflow.flow.poisson import Solver
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Repeat, Roles, repeat

LEFT = 1e-3  # of an error of the first p^


@dataclass(frozen=True)
class WholeProjection:
    """The projection with the whole gradient, by a solver with variable coefficients. The field p has the first
    guess.
    """

    grid: Grid
    boundaries: Boundaries
    openings: OpenBoundaries
    phases: Phases
    solver: Solver
    bodies: bool

    @property
    def box(self) -> Box:
        """The cells."""
        return Box.of(self.grid.cells)

    def start(self, f: Roles, velocity: Velocity, share: str) -> Iterator[Launch | Repeat]:
        """Make the initial velocity divergence-free, with dt = 1 and p = 0 as the first guess."""
        yield from self.step(f, velocity, share)

    def step(self, f: Roles, velocity: Velocity, share: str) -> Iterator[Launch | Repeat]:
        """Compute p and make the velocity divergence-free, with the densities of the shares in a field."""
        yield from self.coefficients(f, share, self.phases)
        yield from self.project(f, velocity)

    def coefficients(self, f: Roles, share: str, phases: Phases, less: float = 0.0) -> Iterator[Launch]:
        """Compute b = 1/rho - `less` on open faces."""
        b, solid = (f.b_x, f.b_y, f.b_z), f.solid if self.bodies else None
        yield inverse_density(share, solid, b, over=self.box, phases=phases, less=less)
        for face in opened_high(self.boundaries):
            yield inverse_density(share, None, b, over=on_face(face, self.grid), phases=phases, less=less)
        for axis, faces in closed_faces(self.boundaries, self.grid):
            yield impose(b[axis], over=faces, value=Value(0.0))

    def project(self, f: Roles, velocity: Velocity) -> Iterator[Launch | Repeat]:
        """Solve div(b grad p) = div(u) / dt, then u = u - dt b grad(p)."""
        yield from self.solver.prepare(f)
        yield divergence(velocity, f.rhs, over=self.box, dt="dt", grid=self.grid)
        yield from self.solver.solve(f)
        yield from self.correct(f, velocity)

    def correct(self, f: Roles, velocity: Velocity) -> Iterator[Launch]:
        """u = u - dt b grad(p)"""
        b = f.b_x, f.b_y, f.b_z
        yield correct_by_density(velocity, f.p, b, over=self.box, dt="dt", grid=self.grid)
        yield from self.openings.correct(velocity, f.p, "dt", b)


@dataclass(frozen=True)
class SplitProjection(WholeProjection):
    """The projection with the split gradient, by a solver with the constant coefficient of the lighter phase."""

    def start(self, f: Roles, velocity: Velocity, share: str) -> Iterator[Launch | Repeat]:
        yield from self._first_guess(f, velocity, share)
        yield from self._split(f, velocity, share)

    def step(self, f: Roles, velocity: Velocity, share: str) -> Iterator[Launch | Repeat]:
        guess = partial(self._first_guess, velocity=velocity, share=share)
        yield repeat(guess, 1, until=_extrapolated, lag=False, further=True)
        yield from self._split(f, velocity, share)

    @property
    def passes(self) -> int:
        """The number of passes for the first pressure."""
        rest = 1 - 1 / self.phases.ratio
        return math.ceil(math.log(LEFT) / math.log(rest)) if rest else 0

    def _split(self, f: Roles, velocity: Velocity, share: str) -> Iterator[Launch | Repeat]:
        """Project with the field p as p^."""
        lighter = min(self.phases.density_1, self.phases.density_2)
        yield from self.coefficients(f, share, self.phases, less=1 / lighter)
        yield from self.correct(f, velocity)
        yield from self.coefficients(f, share, replace(self.phases, density_1=lighter, density_2=lighter))
        yield from self.project(f, velocity)

    def _first_guess(self, f: Roles, velocity: Velocity, share: str) -> Iterator[Launch | Repeat]:
        """Compute p^ in p and p_old. u_old, v_old and w_old, which no later part of a first step reads, keep u*."""
        kept = f.u_old, f.v_old, f.w_old

        def guess(f: Roles) -> Iterator[Launch | Repeat]:
            yield from self._split(f, velocity, share)
            yield from self._copy(kept, velocity)

        yield from self._copy(velocity, kept)
        yield repeat(guess, self.passes)
        yield begin_old(f.p, f.p_old, over=self.box)

    def _copy(self, source: Velocity, target: Velocity) -> Iterator[Launch]:
        for over in (self.box, *(on_face(face, self.grid) for face in opened_high(self.boundaries))):
            for q, q_new in zip(source, target, strict=True):
                yield begin_old(q, q_new, over=over)


def _extrapolated(scalars: Mapping[str, float]) -> bool:
    return scalars["ratio"] != 0
