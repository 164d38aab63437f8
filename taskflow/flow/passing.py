"""What passes through faces of the grid: volume, momentum and what the flow carries, summed over part of a layer.

Per area and time these are u.n, u (u.n) + p n - nu (grad u + grad u^T) n and c (u.n) - diffusivity dc/dn: what enters
the balances of a volume that such faces enclose. Differences and means are central, of second order, as those of the
equations. The sums have the same bits for any blocks: see `taskflow.flow.exact_sums`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from taskflow.flow.boundaries.inflow import inflow_edges
from taskflow.flow.exact_sums import PARTS
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.navier_stokes import NavierStokes
from taskflow.flow.stencils import GRADIENT_U, GRADIENT_V, GRADIENT_W
from taskflow.regions import Box, triple
from taskflow.tasks import Launch, Read, Reduce, Roles, Scalar, star, task

TEXT = KERNELS / "passing.cu"
BOUND = "most_passing"
U, V, W = (star(1) | gradient for gradient in (GRADIENT_U, GRADIENT_V, GRADIENT_W))
FLOWING = {"volume": "volume", "x": "momentum_x", "y": "momentum_y", "z": "momentum_z"}


@dataclass(frozen=True)
class Sheet:
    """Faces across an axis: the low ones of cells, or the high ones."""

    axis: int
    high: bool


@task(kernel=TEXT)
def largest_flow(
    u: Read[U], v: Read[V], w: Read[W], p: Read[1],
    *, bound: Reduce["max"], grid: Grid, sheet: Sheet, viscosity: float,
) -> None:  # fmt: skip
    """bound = the largest magnitude of what `flow_through` sums up"""


@task(kernel=TEXT)
def flow_through(
    u: Read[U], v: Read[V], w: Read[W], p: Read[1],
    *, total_volume: Reduce["sum"], rest_volume: Reduce["sum"], last_volume: Reduce["sum"],
    total_x: Reduce["sum"], rest_x: Reduce["sum"], last_x: Reduce["sum"],
    total_y: Reduce["sum"], rest_y: Reduce["sum"], last_y: Reduce["sum"],
    total_z: Reduce["sum"], rest_z: Reduce["sum"], last_z: Reduce["sum"],
    bound: Scalar, grid: Grid, sheet: Sheet, viscosity: float,
) -> None:  # fmt: skip
    """Sums over the faces of a sheet across an axis a, each of which counts as its area over the mean one, of u_a and
    of u u_a + p - viscosity (grad u + grad u^T), along x, y and z.
    """


@task(kernel=TEXT)
def largest_flow_eddy(
    u: Read[U], v: Read[V], w: Read[W], p: Read[1], nu_t: Read[1],
    *, bound: Reduce["max"], grid: Grid, sheet: Sheet, viscosity: float,
) -> None:  # fmt: skip
    """`largest_flow` with viscosity + nu_t"""


@task(kernel=TEXT)
def flow_through_eddy(
    u: Read[U], v: Read[V], w: Read[W], p: Read[1], nu_t: Read[1],
    *, total_volume: Reduce["sum"], rest_volume: Reduce["sum"], last_volume: Reduce["sum"],
    total_x: Reduce["sum"], rest_x: Reduce["sum"], last_x: Reduce["sum"],
    total_y: Reduce["sum"], rest_y: Reduce["sum"], last_y: Reduce["sum"],
    total_z: Reduce["sum"], rest_z: Reduce["sum"], last_z: Reduce["sum"],
    bound: Scalar, grid: Grid, sheet: Sheet, viscosity: float,
) -> None:  # fmt: skip
    """`flow_through` with viscosity + nu_t"""


@task(kernel=TEXT)
def largest_carried(
    c: Read[1],
    u: Read[1],
    v: Read[1],
    w: Read[1],
    *,
    bound: Reduce["max"],
    grid: Grid,
    sheet: Sheet,
    diffusivity: float,
) -> None:
    """bound = the largest magnitude of what `carried_through` sums up"""


@task(kernel=TEXT)
def carried_through(
    c: Read[1], u: Read[1], v: Read[1], w: Read[1],
    *, total: Reduce["sum"], rest: Reduce["sum"], last: Reduce["sum"],
    bound: Scalar, grid: Grid, sheet: Sheet, diffusivity: float,
) -> None:  # fmt: skip
    """Sum over the faces of a sheet across an axis a, each of which counts as its area over the mean one, of
    c u_a - diffusivity dc/da, c being the mean of the cells on both sides.
    """


@task(kernel=TEXT)
def largest_carried_eddy(
    c: Read[1], u: Read[1], v: Read[1], w: Read[1], nu_t: Read[1],
    *, bound: Reduce["max"], grid: Grid, sheet: Sheet, diffusivity: float, part: float,
) -> None:  # fmt: skip
    """`largest_carried` with diffusivity + part nu_t"""


@task(kernel=TEXT)
def carried_through_eddy(
    c: Read[1], u: Read[1], v: Read[1], w: Read[1], nu_t: Read[1],
    *, total: Reduce["sum"], rest: Reduce["sum"], last: Reduce["sum"],
    bound: Scalar, grid: Grid, sheet: Sheet, diffusivity: float, part: float,
) -> None:  # fmt: skip
    """`carried_through` with diffusivity + part nu_t"""


FLOW = {False: (largest_flow, flow_through), True: (largest_flow_eddy, flow_through_eddy)}
CARRIED = {False: (largest_carried, carried_through), True: (largest_carried_eddy, carried_through_eddy)}


@dataclass(frozen=True)
class Side:
    """The low faces of `cells`, a layer across `axis`; `outward` is 1 where what goes along the axis counts, or -1."""

    cells: Box
    axis: int
    outward: int = 1


@dataclass(frozen=True, eq=False)
class Passing:
    """The program that measures what passes through a side, and what its scalars mean. It comes after a step."""

    flow: NavierStokes
    side: Side
    __name__: ClassVar[str] = "passing"

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """The parts of all sums, in scalars of which each measurement has the same."""
        flow, over, stirred = self.flow, self._cells, self.flow.turbulence is not None
        eddies = (f.nu_t,) if stirred else ()
        velocity = f.u, f.v, f.w
        yield from inflow_edges(velocity, flow.boundaries, flow.grid)
        where: dict[str, Any] = {"bound": BOUND, "sheet": self._sheet, "grid": flow.grid}
        read: tuple[str, ...] = *velocity, f.p, *eddies
        friction: dict[str, Any] = {"viscosity": flow.fluid.viscosity}
        yield FLOW[stirred][0](*read, over=over, **friction, **where)
        parts: dict[str, Any] = {
            f"{part}_{what}": f"{part}_passing_{name}" for what, name in FLOWING.items() for part in PARTS
        }
        yield FLOW[stirred][1](*read, over=over, **parts, **friction, **where)
        for quantity in flow.quantities:
            diffusion: dict[str, Any] = {"diffusivity": quantity.diffusivity}
            if flow.turbulence:
                diffusion["part"] = 1.0 / flow.turbulence.prandtl
            read = f[quantity.name], *velocity, *eddies
            yield CARRIED[stirred][0](*read, over=over, **diffusion, **where)
            sums: dict[str, Any] = {part: f"{part}_passing_carried_{quantity.name}" for part in PARTS}
            yield CARRIED[stirred][1](*read, over=over, **sums, **diffusion, **where)

    @property
    def _sheet(self) -> Sheet:
        """The high faces are taken at the high end of the domain, beyond which there are no cells."""
        axis = self.side.axis
        return Sheet(axis, self.side.cells.lo[axis] == self.flow.grid.cells[axis])

    @property
    def _cells(self) -> Box:
        return self.side.cells.shift(triple(-int(self._sheet.high and a == self.side.axis) for a in range(3)))

    @property
    def names(self) -> dict[str, str]:
        """What is measured, in words."""
        found = {"volume_flux": "volume per time"}
        found |= {f"momentum_flux_{axis}": f"momentum along {axis} per time, over density" for axis in "xyz"}
        return found | {f"flux_{each.name}": f"{each.name} times volume, per time" for each in self.flow.quantities}

    def numbers(self, scalars: Mapping[str, float]) -> list[float]:
        """The integrals over the side, outward, in the order of `names`."""
        area = self.side.outward * self.flow.staggered.area(self.side.axis)
        sums = ([scalars[f"{part}_passing_{what}"] for part in PARTS] for what in self._sums)
        return [area * (total + (rest + last)) for total, rest, last in sums]

    @property
    def _sums(self) -> tuple[str, ...]:
        return *FLOWING.values(), *(f"carried_{quantity.name}" for quantity in self.flow.quantities)
