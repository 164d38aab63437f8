"""Quantities that a flow carries, the temperature or passive scalars: their fields, and their part of a stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from taskflow.errors import BadInput
from taskflow.flow.boundaries.boundary import Mirror, beyond, mirror
from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.scalars.sources import Source, released
from taskflow.flow.scalars.transport import GHOST, Transport, bounded_euler, bounded_heun, transport
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, Roles


@dataclass(frozen=True)
class Fixed:
    """A value on a face of the domain."""

    value: float


@dataclass(frozen=True)
class Flux:
    """A diffusive flux through a face of the domain, per area and time, positive into it; 0: no gradient across it."""

    flux: float = 0.0


Faces = Mapping[str, Fixed | Flux]  # by face, x_min to z_max


@dataclass(frozen=True)
class Mixing:
    """The fields of the eddy viscosity and of the flags of bodies (`taskflow.flow.bodies.flags.heat_bits`) in the
    transport equation, and the turbulent Prandtl number; None without eddies, or bodies.
    """

    nu_t: str | None = None
    faces: str | None = None
    prandtl: float | None = None


@dataclass(frozen=True)
class Quantity:
    """A quantity in the field of its `name`. If `bounded`, it stays within its bounds (`bounded_euler`); otherwise
    differences are central.

    `faces` has the boundaries of a passive scalar; those of the temperature are those of the flow.
    """

    name: str
    transport: Transport
    bounded: bool = False
    sources: tuple[Source, ...] = ()
    faces: Faces = field(default_factory=dict)

    @property
    def diffusivity(self) -> float:
        """The diffusivity of its transport."""
        return self.transport.diffusivity

    @property
    def fields(self) -> dict[str, Location]:
        """Its fields by role: now, at the end of the stage and, with central differences, the last tendency."""
        fields: dict[str, Location] = {self.name: "c", f"{self.name}_new": "c"}
        return fields if self.bounded else {**fields, f"h_{self.name}": "c"}

    @property
    def ghost(self) -> int:
        """Layers of ghost cells that it needs."""
        return GHOST if self.bounded else 1

    def central(self, f: Roles, names: Mapping[str, str], grid: StaggeredGrid, mixing: Mixing) -> Iterator[Launch]:
        """The new value by central differences, from the velocity now; `names` are those of a stage's dt and ratio."""
        new = f[f"{self.name}_new"]
        yield transport(
            f[self.name], (f.u, f.v, f.w), mixing.nu_t, mixing.faces, f[f"h_{self.name}"], new,
            over=grid.box, grid=grid.constants, transport=self.transport, prandtl=mixing.prandtl, **names,
        )  # fmt: skip
        yield from self._released(new, names["dt"], grid, mixing)

    def euler(self, f: Roles, dt: str, grid: StaggeredGrid, mixing: Mixing) -> Iterator[Launch]:
        """A first new value within bounds, from the velocities before and after the stage. Needs ghosts."""
        new = f[f"{self.name}_new"]
        yield bounded_euler(
            f[self.name], (f.u, f.v, f.w), (f.u_new, f.v_new, f.w_new), mixing.nu_t, mixing.faces, new,
            over=grid.box, dt=dt, grid=grid.constants, transport=self.transport, prandtl=mixing.prandtl,
        )  # fmt: skip
        yield from self._released(new, dt, grid, mixing)

    def heun(self, f: Roles, dt: str, grid: StaggeredGrid, mixing: Mixing) -> Iterator[Launch]:
        """The value now becomes the new one, from the first new value, which needs ghosts."""
        now, first = f[self.name], f[f"{self.name}_new"]
        yield bounded_heun(
            now, first, (f.u, f.v, f.w), (f.u_new, f.v_new, f.w_new), mixing.nu_t, mixing.faces,
            over=grid.box, dt=dt, grid=grid.constants, transport=self.transport, prandtl=mixing.prandtl,
        )  # fmt: skip
        yield from self._released(now, dt, grid, mixing, part=0.5)

    def ghosts(self, name: str, grid: Grid) -> Iterator[Launch]:
        """Ghost values of a passive scalar: 2 value - inside beyond faces that have one, inside + flux spacing /
        diffusivity beyond others. One launch per face.

        Raises BadInput for a flux of what does not diffuse.
        """
        for face, condition in self.faces.items():
            if isinstance(condition, Fixed):
                values = Mirror(-1.0, 2 * condition.value)
            elif condition.flux == 0:
                values = Mirror(1.0, 0.0)
            elif self.diffusivity == 0:
                raise BadInput(
                    f"{self.name}: a flux of {condition.flux} cannot diffuse through {face} without diffusivity; give"
                    " one, or a flux of 0"
                )
            else:
                values = Mirror(1.0, condition.flux * grid.beside(face) / self.diffusivity)
            yield mirror(name, over=beyond(face, grid), on=face, mirror=values)

    def _released(
        self, name: str, dt: str, grid: StaggeredGrid, mixing: Mixing, *, part: float = 1.0
    ) -> Iterator[Launch]:
        for source in self.sources:
            yield released(name, source, grid, dt, part=part, flags=mixing.faces)
