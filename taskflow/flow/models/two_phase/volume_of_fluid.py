"""The volume of fluid: the share f of phase 1 in each cell, with a plane in cells that the interface cuts.

Normals are the mixed Youngs-centred ones (E. Aulisa, S. Manservisi, R. Scardovelli, S. Zaleski 2007, J. Comput. Phys.
225, 2301), and planes have the share exactly (R. Scardovelli, S. Zaleski 2000, J. Comput. Phys. 164, 228). The shares
are moved along one axis after another (`taskflow.flow.models.two_phase.sweeps`): x, y, z in even steps, and z, y, x in
odd ones. f is never clipped. It is carried by w = u + 0.025 ratio (u - u_old).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.boundary import Value, beyond, impose
from taskflow.flow.boundaries.condition import Boundaries, Velocity
from taskflow.flow.boundaries.sides import open_sides
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.grid import Grid, on_face
from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.two_phase.bodies import extended_into_bodies
from taskflow.flow.models.two_phase.convection import MASS, MASS_FLUXES, Convection, along, opened_high, turned
from taskflow.flow.models.two_phase.curvature import curvature_missed, curvature_of_planes
from taskflow.flow.models.two_phase.momentum import accelerate
from taskflow.flow.models.two_phase.openings import LAYERS, InterfaceOpenings
from taskflow.flow.models.two_phase.sweeps import (
    carrying_velocity,
    mass_before,
    mass_of_shares,
    move_momentum,
    move_shares,
    share_flux,
)
from taskflow.flow.models.two_phase.walls import ShareGhosts
from taskflow.flow.operators.phases import Phases
from taskflow.flow.operators.rates import exact_total
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Launch, Read, Roles, Write, box, reduced, task

HALF_WIDTH = 0.5  # of the change of density, in spacings: the interface is within one cell


@task(kernel=KERNELS / "two_phase" / "fall_to_plane.cu")
def fall_to_plane(f: Read[box(1)], fall: Write, *, grid: Grid, phases: Phases) -> None:
    """fall = g.(x - foot) in the centres of cells that the interface cuts, with the nearest point of the plane as the
    foot; infinite in others.
    """


@dataclass(frozen=True)
class VolumeOfFluid:
    """The interface as planes in cells. It provides f_new, and in m_x, m_y and m_z the shares that pass faces in a
    step, or after it with bodies the mass fluxes.

    `bodies`: some cells are solid. Their faces pass nothing, and they hold the mean share of the fluid around, so that
    the interface meets them at about 90 degrees.
    """

    grid: Grid
    phases: Phases
    boundaries: Boundaries = field(default_factory=dict)
    bodies: bool = False
    weighed: ClassVar[str] = "mass"  # the role of `fall` from the end of `advance` to the end of the step

    @property
    def ghost(self) -> int:
        """Layers of ghost cells: three for heights, more for contact angles."""
        return max(LAYERS, self.shares_beyond.reach)

    @property
    def fields(self) -> dict[str, Location]:
        """The mass of cells between sweeps, and the share after some of them. Velocities between sweeps are in the
        fields of the coefficients of the pressure.
        """
        return {"f_1": "c", "mass": "c"}

    @property
    def convection(self) -> Convection:
        return SWEPT

    @property
    def width(self) -> float:
        return HALF_WIDTH * max(self.grid.resolved)

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the sweeps: across a single cell between closed or periodic sides nothing moves."""
        opened = {"xyz".index(face[0]) for face in open_sides(self.boundaries)}
        return tuple(axis for axis in range(3) if self.grid.cells[axis] > 1 or axis in opened)

    def start(self, f: Roles) -> Iterator[Launch]:
        """Extend the shares into bodies, compute the scalar `kept`, the sum of f, and clear the fluxes along axes
        without sweeps.
        """
        for axis in {0, 1, 2} - {*self.axes}:
            yield impose(f[f"m_{'xyz'[axis]}"], over=self.around, value=Value(0.0))
        yield from self.extend(f)
        yield from self.shares(f)

    def extend(self, f: Roles) -> Iterator[Launch]:
        """Extend the shares into bodies."""
        yield from self._extended(f, f.f)

    def shares(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalar `kept`: f is its own field."""
        yield exact_total(f.f, self._solid(f), over=self.box, total=f.scalar("kept"), bound=1.0)

    def restore_sums(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalar `kept` from the present f."""
        yield from self.shares(f)

    def advance(self, f: Roles) -> Iterator[Launch]:
        """Move f and the velocities, to f_new, u_new, v_new and w_new, in sweeps along one axis after another. Odd
        steps, in which the fields of f and f_new have exchanged their roles, go the other way.
        """
        yield mass_before(f.f, f.mass, over=self.box, phases=self.phases)
        for q, q_old in zip(_velocity(f), _velocity(f, "_old"), strict=True):
            yield carrying_velocity(q, q_old, over=self.around, ratio="ratio")
        axes, now, share = self.axes if f.f == "f" else self.axes[::-1], _velocity(f), f.f
        for left, axis in zip(range(len(axes), 0, -1), axes, strict=True):
            moved, share_new = (_velocity(f, "_new"), f.f_new) if left % 2 else ((f.b_x, f.b_y, f.b_z), f.f_1)
            sweep = ShareSweep(self, f, axis, frozenset(axes) - {axis} if left == 1 else None)
            yield from sweep.flux(share)
            yield from sweep.momentum(now, moved)
            yield sweep.shares(share, share_new)
            now, share = moved, share_new
        yield from self.openings.passed_shares(f)
        if self.bodies:
            yield from self._masses(f)
            yield from self._extended(f, f.f_new)

    @cached_property
    def shares_beyond(self) -> ShareGhosts:
        """The shares in ghost cells, and the grid for kernels that read them."""
        return ShareGhosts(self.grid, self.boundaries, self.phases.surface_tension > 0)

    def ghosts(self, share: str, velocity: Velocity) -> Iterator[Launch]:
        yield from self.shares_beyond.fill(share, velocity)

    def curvature(self, f: Roles, share: str) -> Iterator[Launch]:
        """Compute kappa = div n in cells that the interface cuts."""
        yield curvature_of_planes(share, f.kappa, over=self.box, grid=self.shares_beyond.inner)

    def fall(self, f: Roles, share: str, phases: Phases) -> Iterator[Launch]:
        """Compute g.(x - place) in cells that the interface cuts, infinite in others."""
        yield fall_to_plane(share, f[self.weighed], over=self.box, grid=self.shares_beyond.inner, phases=phases)

    def failures(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalar `missed`: the numbers of cells at the interface without a curvature, and of crumbs."""
        missed, grid = f.scalar("missed"), self.shares_beyond.inner
        yield curvature_missed(f.f, self._solid(f), over=self.box, missed=missed, grid=grid)

    def counts(self, scalars: Mapping[str, float]) -> dict[str, int]:
        """Return the numbers of cells at the interface without a curvature, and of crumbs."""
        failed, crumbs = reduced(scalars, "missed")
        return {"curvature_failed": int(failed), "crumbs": int(crumbs)}

    def numbers(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return nothing: phase 1 needs no correction."""
        return {}

    @property
    def openings(self) -> InterfaceOpenings:
        return InterfaceOpenings(self.grid, self.boundaries)

    @property
    def box(self) -> Box:
        """The cells."""
        return Box.of(self.grid.cells)

    @property
    def around(self) -> Box:
        """The cells, and a layer of ghost cells at boundaries."""
        low, high = (triple(map(int, walls)) for walls in (self.grid.low, self.grid.high))
        return self.box.expand(low, high)

    def faces(self, axis: int) -> Iterator[Box]:
        """Yield the cells whose low faces across an axis shares may pass: all, and those beyond open high faces."""
        yield self.box
        for face in opened_high(self.boundaries):
            if "xyz".index(face[0]) == axis:
                yield on_face(face, self.grid)

    def _solid(self, f: Roles) -> str | None:
        return f.solid if self.bodies else None

    def _masses(self, f: Roles) -> Iterator[Launch]:
        """Turn the shares that pass faces into mass fluxes, which forces on bodies read."""
        for axis in self.axes:
            flux, w = f[f"m_{'xyz'[axis]}"], _velocity(f, "_old")[axis]
            about: dict[str, Any] = {"along": "xyz"[axis], "dt": "dt", "grid": self.grid, "phases": self.phases}
            for over in self.faces(axis):
                yield mass_of_shares(flux, w, over=over, **about)

    def _extended(self, f: Roles, share: str) -> Iterator[Launch]:
        """Extend shares into bodies."""
        if self.bodies:
            yield from extended_into_bodies(share, f.f_1, f.solid, self.grid)


@dataclass(frozen=True)
class ShareSweep:
    """A sweep along an axis, between the `others` if it is the last one of a step."""

    interface: VolumeOfFluid
    f: Roles
    axis: int
    others: frozenset[int] | None

    @property
    def _w(self) -> tuple[str, str, str]:
        """The carrying velocity along the axis and the other two."""
        return along(self.axis, _velocity(self.f, "_old"))

    @property
    def _flux(self) -> str:
        return self.f[f"m_{'xyz'[self.axis]}"]

    @property
    def _where(self) -> dict[str, Any]:
        return {"along": "xyz"[self.axis], "dt": "dt", "grid": self.interface.grid}

    def flux(self, share: str) -> Iterator[Launch]:
        """Compute what passes faces, also on open high ones."""
        interface = self.interface
        if share != self.f.f and (interface.shares_beyond.walls or open_sides(interface.boundaries)):
            yield from interface.ghosts(share, _velocity(self.f))
        where = self._where | {"grid": interface.shares_beyond.inner}
        for over in interface.faces(self.axis):
            yield share_flux(share, self._w[0], self._flux, over=over, **where)

    def momentum(self, now: Velocity, moved: Velocity) -> Iterator[Launch]:
        """Move the velocities. Ghost cells get theirs, too: the next sweep reads them."""
        interface, f = self.interface, self.f
        boxes: list[tuple[Box, str | None]] = [(interface.around, None)]
        if interface.bodies:
            boxes = [(interface.box, f.faces)]
            boxes += [(beyond(face, interface.grid), None) for face in interface.boundaries]
        for over, faces in boxes:
            yield move_momentum(
                along(self.axis, now), f.mass, self._flux, self._w[0], faces, along(self.axis, moved),
                over=over, phases=interface.phases, **self._where,
            )  # fmt: skip

    def shares(self, share: str, share_new: str) -> Launch:
        """Move the shares and the mass."""
        w, *across = self._w
        others = (other for other in range(3) if other != self.axis)
        back = (q if other in (self.others or ()) else None for other, q in zip(others, across, strict=True))
        return move_shares(
            share, self.f.f, self._flux, w, *back, self.f.mass, share_new, over=self.interface.box,
            phases=self.interface.phases, last=int(self.others is not None), **self._where,
        )  # fmt: skip


@dataclass(frozen=True)
class Swept:
    """Convection of momentum by the sweeps of the interface. Its mass fluxes are the shares that pass in a step."""

    ghost: ClassVar[int] = 3
    damping: ClassVar[float] = 2.0

    def fields(self, flow: FlowModel) -> Mapping[str, Location]:
        return MASS

    def start(self, f: Roles, flow: FlowModel) -> Iterator[Launch]:
        yield from MASS_FLUXES.start(f, flow)

    def fluxes(self, f: Roles, flow: FlowModel, phases: Phases) -> Iterator[Launch]:
        """Yield nothing: the sweeps have computed them."""
        yield from ()

    def predict(self, f: Roles, flow: FlowModel, phases: Phases, fall: str | None) -> Iterator[Launch]:
        """Add friction, surface tension and weight to the velocities that the sweeps have moved."""
        for _, velocity, acting, where in turned(f, flow, phases, fall):
            yield accelerate(velocity, (f.f, f.f_new), *acting, **where)


SWEPT = Swept()


def _velocity(f: Roles, age: str = "") -> Velocity:
    return f[f"u{age}"], f[f"v{age}"], f[f"w{age}"]
