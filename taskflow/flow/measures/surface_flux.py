"""Fluxes of volume, momentum and scalars through faces of the grid, summed over part of a layer.

Per area and time: u.n, u (u.n) + p n - nu (grad u + grad u^T) n and c (u.n) - diffusivity dc/dn, the terms in the
balances of a volume enclosed by such faces. They are the fluxes of the equations with the face values of their schemes,
so balances close to rounding: the rate of change of a volume equals the flux through its sides, with momentum in each
cell the mean of its two faces. For a bounded c it is the flux with the current velocity. A step uses the mean of two
such fluxes, with the mean of the velocities before and after.

The sums are exact, bitwise identical on any blocks. A first task computes the bound that they need. The axis is a
number, not a compile-time orientation of tasks, because a box has six sides and each would be compiled separately.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from taskflow.flow.boundaries.box_side import Boxes
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import AROUND, SIDES_U, SIDES_V, SIDES_W
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.scalars.transport import GHOST
from taskflow.runtime.regions import triple
from taskflow.runtime.tasks import Components, Launch, Read, Reduce, Roles, Scalar, Stencil, reduced, star, task

TEXT = KERNELS / "surface_flux.cu"
BOUND = "flux_bound"
SIDES = Components(u_sides=Read[SIDES_U], v_sides=Read[SIDES_V], w_sides=Read[SIDES_W])
VELOCITY = Components(u=Read[1], v=Read[1], w=Read[1])


@dataclass(frozen=True)
class Diffusion:
    """Diffusivity of a quantity advected by central differences."""

    diffusivity: float


class BoundedDiffusion(Diffusion):
    """Diffusivity of a bounded quantity: see `bounded_euler` in `taskflow.flow.scalars.transport`."""

    defines: ClassVar[tuple[str, ...]] = ("BOUNDED",)
    stencils: ClassVar[Mapping[str, Stencil]] = MappingProxyType({"c": star(GHOST)})


@task(kernel=TEXT)
def momentum_flux_bound(
    velocity: SIDES, p: Read[1], nu_t: Read[AROUND] | None,
    *, bound: Reduce["max"], grid: Grid, axis: int, high: bool, fluid: Fluid,
) -> None:  # fmt: skip
    """bound = the largest magnitude of the terms of `momentum_flux`"""


@task(kernel=TEXT)
def momentum_flux(
    velocity: SIDES, p: Read[1], nu_t: Read[AROUND] | None,
    *, flux: Reduce["exact sum", 4], bound: Scalar, grid: Grid, axis: int, high: bool, fluid: Fluid,
) -> None:  # fmt: skip
    """flux = sums of u_a and of u u_a + p - nu (grad u + grad u^T) along x, y and z over the low faces of cells across
    axis a.

    Or over the `high` faces. Faces are weighted by area over mean area. nu = viscosity, plus nu_t with eddies.
    """


@task(kernel=TEXT)
def scalar_flux_bound(
    c: Read[1], velocity: VELOCITY, nu_t: Read[1] | None,
    *, bound: Reduce["max"], grid: Grid, axis: int, high: bool, diffusion: Diffusion, prandtl: float | None,
) -> None:  # fmt: skip
    """bound = the largest magnitude of the terms of `scalar_flux`"""


@task(kernel=TEXT)
def scalar_flux(
    c: Read[1], velocity: VELOCITY, nu_t: Read[1] | None,
    *, flux: Reduce["exact sum"], bound: Scalar, grid: Grid, axis: int, high: bool, diffusion: Diffusion,
    prandtl: float | None,
) -> None:  # fmt: skip
    """flux = sum over the same faces of c u_a - D dc/da, with c the face value of the scheme.

    D = diffusivity, plus nu_t / prandtl with eddies.
    """


@dataclass(frozen=True)
class FaceLayer:
    """Low faces of `cells`, boxes in a layer across `axis`. `outward` is 1 if fluxes along it are positive, or -1."""

    cells: Boxes
    axis: int
    outward: int = 1


@dataclass(frozen=True, eq=False)
class SurfaceFlux:
    """Program for the fluxes through a layer of faces. The names of its scalars end with `of`."""

    flow: FlowModel
    faces: FaceLayer
    of: str = ""
    __name__: ClassVar[str] = "surface_flux"

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """Yield the launches for the sums over the faces, in scalars shared by all measurements."""
        flow, velocity, nu_t = self.flow, (f.u, f.v, f.w), f.nu_t if self.flow.turbulence else None
        where: dict[str, Any] = {"over": self._cells, "bound": f.scalar(BOUND), "grid": flow.grid}
        where |= {"axis": self.faces.axis, "high": self._high}
        yield momentum_flux_bound(velocity, f.p, nu_t, fluid=flow.fluid, **where)
        yield momentum_flux(velocity, f.p, nu_t, flux=f.scalar(f"momentum_flux{self.of}"), fluid=flow.fluid, **where)
        prandtl = flow.turbulence.prandtl if flow.turbulence else None
        for quantity in flow.quantities:
            kind = BoundedDiffusion if quantity.bounded else Diffusion
            fields, diffusion = (f[quantity.name], velocity, nu_t), kind(quantity.diffusivity)
            yield scalar_flux_bound(*fields, diffusion=diffusion, prandtl=prandtl, **where)
            name = f.scalar(_flux_of(f"{quantity.name}{self.of}"))
            yield scalar_flux(*fields, flux=name, diffusion=diffusion, prandtl=prandtl, **where)

    @property
    def _high(self) -> bool:
        """True if the faces are on the high end of the domain, as the high faces of the last cells."""
        axis = self.faces.axis
        return self.faces.cells[0].lo[axis] == self.flow.grid.cells[axis]

    @property
    def _cells(self) -> Boxes:
        step = triple(-int(self._high and a == self.faces.axis) for a in range(3))
        return tuple(box.shift(step) for box in self.faces.cells)

    @property
    def names(self) -> dict[str, str]:
        """Names of the integrals, with descriptions."""
        names = {"volume_flux": "volume per time"}
        names |= {f"momentum_flux_{axis}": f"momentum along {axis} per time, over density" for axis in "xyz"}
        return names | {f"flux_{q.name}": f"{q.name} times volume, per time" for q in self.flow.quantities}

    def numbers(self, scalars: Mapping[str, float]) -> list[float]:
        """Return the outward integrals over the faces, in the order of `names`."""
        area = self.faces.outward * self.flow.staggered.area(self.faces.axis)
        sums = [f"momentum_flux{self.of}", *(_flux_of(f"{q.name}{self.of}") for q in self.flow.quantities)]
        return [area * flux for name in sums for flux in reduced(scalars, name)]


def _flux_of(quantity: str) -> str:
    return f"flux_of_{quantity}"
