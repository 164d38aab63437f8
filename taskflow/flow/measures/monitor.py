"""Monitor of a flow: the program that measures a state for the log, and the numbers derived from its scalars.

NaN anywhere makes a maximum NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.openings import openings
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.flow.measures.derived import Derived
from taskflow.flow.measures.surface_flux import FaceLayer, SurfaceFlux
from taskflow.runtime.regions import difference
from taskflow.runtime.tasks import Axis, Derive, Launch, Read, Reduce, Roles, facing, frame, task

TEXT = KERNELS / "monitor.cu"
BELOW = facing(n=(-1, 0))  # the cells on both sides of a low face


@dataclass(frozen=True)
class Conduction:
    """Heat through faces: `conductance` = diffusivity / spacing, `eddy` = 1 / (prandtl spacing), `sign` of the axis."""

    conductance: float
    eddy: float
    sign: float


@task(kernel=TEXT)
def divergence_max(
    u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, divergence: Reduce[max], grid: Grid
) -> None:
    """divergence = max over cells of |div(u)|"""


@task(kernel=TEXT)
def kinetic_energy(
    u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, energy: Reduce[sum], grid: Grid
) -> None:
    """energy = sum over cells of |u|^2 / 2, weighted by volume over mean volume, |u|^2 from squares on both faces"""


@task(kernel=TEXT)
def largest_speed(u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, speed: Reduce[max]) -> None:
    """speed = max over cells of |u|, with the mean of squares on both faces"""


@task(kernel=TEXT)
def velocity_change(u: Read, v: Read, w: Read, u_old: Read, v_old: Read, w_old: Read, *, change: Reduce[max]) -> None:
    """change = max over faces of |u - u_old|, |v - v_old| and |w - w_old|"""


@task(kernel=TEXT)
def total(q: Read, *, total: Reduce[sum], grid: Grid) -> None:
    """total = sum of q over cells, weighted by volume over mean volume"""


@task(kernel=TEXT)
def heat_flux(
    T: Read[BELOW], q: Read, nu_t: Read[BELOW] | None,
    *, along: Axis, flux: Reduce[sum], face: Conduction, grid: Grid,
) -> None:  # fmt: skip
    """flux = sum over low faces of sign (q (T_low + T_high) / 2 + K (T_low - T_high) / spacing), q the velocity along
    the axis.

    Faces are weighted by area over mean area. K = diffusivity or, with eddies, diffusivity + nu_t / prandtl, with nu_t
    the mean of both cells.
    """


@dataclass(frozen=True, eq=False)
class Monitor:
    """Program to run after a step, and the meaning of its scalars. It includes means of the fields `derived`."""

    flow: FlowModel
    derived: Derived | None = field(default=None, kw_only=True)
    __name__: ClassVar[str] = "monitor"  # name of the program in profiles, as of a function

    @cached_property
    def heated(self) -> tuple[str, ...]:
        """Faces with a wall temperature, whose heat flux is monitored."""
        sides = self.flow.boundaries.items() if self.flow.heat else ()
        return tuple(face for face, side in sides if side.temperature is not None and face in self._sides)

    @cached_property
    def _sides(self) -> dict[str, BoxSide]:
        """The sides and openings by key, without sides that openings cover entirely."""
        return {side.key: side for side in self.flow.sides}

    def __call__(self, f: Roles) -> Iterator[Launch | Derive]:
        """Yield the launches for the monitored scalars.

        divergence, energy (sum), speed, change (since the previous stage), scalars of the model's `residual`,
        flux_x_min ..., total_NAME (sum) of passive scalars and derived fields, and scalars of bodies (see
        `Obstacles.monitor` and `StoredForces`).
        """
        flow, box = self.flow, self.flow.staggered.box
        cells = tuple(difference([box], flow.openings.in_bodies))
        yield divergence_max(f.u, f.v, f.w, over=cells, divergence=f.scalar("divergence"), grid=flow.grid)
        yield kinetic_energy(f.u, f.v, f.w, over=cells, energy=f.scalar("energy"), grid=flow.grid)
        yield largest_speed(f.u, f.v, f.w, over=box, speed=f.scalar("speed"))
        yield velocity_change(f.u, f.v, f.w, *flow.velocity_before(f), over=box, change=f.scalar("change"))
        yield from flow.residual(f)
        if flow.obstacles:
            transport, bounded = flow.heat.transport if flow.heat else None, flow.heat is not None and flow.heat.bounded
            buoyancy = flow.buoyancy if flow.heat else None
            yield from flow.obstacles.monitor(f, flow.grid, flow.scheme, buoyancy, transport, bounded=bounded)
        if stored := flow.stored_forces:
            yield from stored(f, flow.grid)
        if flow.heat:
            nu_t, prandtl = (f.nu_t, flow.turbulence.prandtl) if flow.turbulence else (None, 1.0)
            for face in self.heated:
                (axis, high), spacing = frame(face), flow.grid.beside(face)
                inward = Conduction(flow.heat.diffusivity / spacing, 1 / (prandtl * spacing), -1.0 if high else 1.0)
                numbers = {"along": face[0], "flux": f.scalar(f"flux_{face}"), "face": inward, "grid": flow.grid}
                yield heat_flux(f.T, (f.u, f.v, f.w)[axis], nu_t, over=self._sides[face].faces, **numbers)
        for side, measured in self.through.values():
            yield from measured(f)
            for place, cells in (("in", side.last), ("out", side.layer)) if flow.heat else ():
                yield total(f.T, over=cells, total=f.scalar(f"T_{place}_{side.key}"), grid=flow.grid)
        for quantity in flow.passive:
            name = f.scalar(f"total_{quantity.name}")
            yield total(f[quantity.name], over=box, total=name, grid=flow.grid)
        if self.derived:
            yield from self.derived(f)
            for name in self.derived.names:
                yield total(f[name], over=box, total=f.scalar(f"total_{name}"), grid=flow.grid)

    @cached_property
    def through(self) -> dict[str, tuple[BoxSide, SurfaceFlux]]:
        """The openings with the measures of fluxes through them, by name."""
        found = {}
        for opening in openings(self.flow.boundaries):
            side = self._sides[opening.part.key]
            layer = FaceLayer(side.faces, side.axis, 1 if frame(side.face)[1] else -1)
            found[opening.name] = side, SurfaceFlux(self.flow, layer, f"_{side.key}")
        return found

    def passed(self, scalars: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Return the outflow of each opening per time, of volume and quantities, and its mean temperature."""
        flow, numbers = self.flow, dict[str, dict[str, float]]()
        for name, (side, measured) in self.through.items():
            of_each = dict(zip(measured.names, measured.numbers(scalars), strict=True))
            numbers[name] = {key: value for key, value in of_each.items() if not key.startswith("momentum")}
            if flow.heat:
                both = scalars[f"T_in_{side.key}"] + scalars[f"T_out_{side.key}"]
                share = side.spacing * flow.grid.cells[side.axis] / flow.grid.length(side.axis)
                numbers[name]["mean_T"] = both / 2 / (side.count * share)
        return numbers

    def change(self, scalars: Mapping[str, float], dt: float) -> float:
        """Return max |du| / dt over the largest speed, in the last stage of the step of length dt before `monitor`."""
        speed, length = scalars["speed"], self.flow.scheme.stages[-1].share * dt
        return scalars["change"] / (length * speed) if length > 0 and speed > 0 else 0.0

    def integrals(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the integral of each passive scalar over the domain, as integral_NAME."""
        volume = self.flow.staggered.volume
        return {f"integral_{q.name}": volume * scalars[f"total_{q.name}"] for q in self.flow.passive}

    def means(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the mean of each derived field over the domain, as mean_NAME."""
        cells, names = self.flow.staggered.box.volume, self.derived.names if self.derived else ()
        return {f"mean_{name}": scalars[f"total_{name}"] / cells for name in names}

    def nusselt(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the mean heat flux into the fluid through each heated wall over the flux of pure conduction.

        Nu = flux L / (diffusivity (T_max - T_min)), with L the extent of the domain across the wall. Empty if all wall
        temperatures are equal.
        """
        flow, sides = self.flow, self.flow.boundaries.values()
        walls = [side.temperature for side in sides if side.temperature is not None]
        if not flow.heat or not walls or flow.heat.diffusivity == 0 or max(walls) == min(walls):
            return {}
        numbers = {}
        for face in self.heated:
            axis = "xyz".index(face[0])
            side, flux = self._sides[face], scalars[f"flux_{face}"]
            # a side with openings is divided by its own area, without them
            mean = flux * flow.grid.cells[axis] / flow.staggered.box.volume if side.whole else flux / side.count
            conduction = flow.heat.diffusivity * (max(walls) - min(walls)) / flow.staggered.lengths[axis]
            numbers[face] = mean / conduction
        return numbers
