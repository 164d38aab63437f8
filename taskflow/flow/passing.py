"""What passes through faces of the grid: volume, momentum and what the flow carries, summed over part of a layer.

Per area and time these are u.n, u (u.n) + p n - nu (grad u + grad u^T) n and c (u.n) - diffusivity dc/dn: what enters
the balances of a volume that such faces enclose. They are the fluxes of the equations themselves, with the values of
the scheme by which momentum, or c, is carried, so that balances close to rounding: what a volume gains at a moment is
what passes its sides, momentum being in each cell the mean of its two faces. Of a bounded c it is the flux in the
velocity that there is; a step has the mean of two such fluxes, in the mean of the velocities before and after.

The sums have the same bits for any blocks: see `taskflow.flow.exact_sums`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from taskflow.flow.boundaries.inflow import inflow_edges
from taskflow.flow.exact_sums import PARTS
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.momentum import Fluid
from taskflow.flow.navier_stokes import NavierStokes
from taskflow.flow.scalars.bounded import GHOST
from taskflow.flow.stencils import AROUND, SIDES_U, SIDES_V, SIDES_W
from taskflow.regions import Box, triple
from taskflow.tasks import Launch, Read, Reduce, Roles, Scalar, Task, task

TEXT = KERNELS / "passing.cu"
BOUND = "most_passing"
FLOWING = {"volume": "volume", "x": "momentum_x", "y": "momentum_y", "z": "momentum_z"}


@dataclass(frozen=True)
class Sheet:
    """Faces across an axis: the low ones of cells, or the high ones."""

    axis: int
    high: bool


@task(kernel=TEXT)
def largest_flow(
    u_sides: Read[SIDES_U], v_sides: Read[SIDES_V], w_sides: Read[SIDES_W], p: Read[1],
    *, bound: Reduce["max"], grid: Grid, sheet: Sheet, fluid: Fluid,
) -> None:  # fmt: skip
    """bound = the largest magnitude of what `flow_through` sums up"""


@task(kernel=TEXT)
def flow_through(
    u_sides: Read[SIDES_U], v_sides: Read[SIDES_V], w_sides: Read[SIDES_W], p: Read[1],
    *, total_volume: Reduce["sum"], rest_volume: Reduce["sum"], last_volume: Reduce["sum"],
    total_x: Reduce["sum"], rest_x: Reduce["sum"], last_x: Reduce["sum"],
    total_y: Reduce["sum"], rest_y: Reduce["sum"], last_y: Reduce["sum"],
    total_z: Reduce["sum"], rest_z: Reduce["sum"], last_z: Reduce["sum"],
    bound: Scalar, grid: Grid, sheet: Sheet, fluid: Fluid,
) -> None:  # fmt: skip
    """Sums over the faces of a sheet across an axis a, each of which counts as its area over the mean one, of u_a and
    of u u_a + p - viscosity (grad u + grad u^T), along x, y and z.
    """


@task(kernel=TEXT)
def largest_flow_eddy(
    u_sides: Read[SIDES_U], v_sides: Read[SIDES_V], w_sides: Read[SIDES_W], p: Read[1],
    nu_t: Read[AROUND],
    *, bound: Reduce["max"], grid: Grid, sheet: Sheet, fluid: Fluid,
) -> None:  # fmt: skip
    """`largest_flow` with viscosity + nu_t"""


@task(kernel=TEXT)
def flow_through_eddy(
    u_sides: Read[SIDES_U], v_sides: Read[SIDES_V], w_sides: Read[SIDES_W], p: Read[1],
    nu_t: Read[AROUND],
    *, total_volume: Reduce["sum"], rest_volume: Reduce["sum"], last_volume: Reduce["sum"],
    total_x: Reduce["sum"], rest_x: Reduce["sum"], last_x: Reduce["sum"],
    total_y: Reduce["sum"], rest_y: Reduce["sum"], last_y: Reduce["sum"],
    total_z: Reduce["sum"], rest_z: Reduce["sum"], last_z: Reduce["sum"],
    bound: Scalar, grid: Grid, sheet: Sheet, fluid: Fluid,
) -> None:  # fmt: skip
    """`flow_through` with viscosity + nu_t"""


def _carried(width: int) -> tuple[Task, Task]:
    """The largest and the sum of what reads c so far away."""

    def largest(
        c: Read[width], u: Read[1], v: Read[1], w: Read[1],
        *, bound: Reduce["max"], grid: Grid, sheet: Sheet, diffusivity: float,
    ) -> None:  # fmt: skip
        """bound = the largest magnitude of what is summed up"""

    def through(
        c: Read[width], u: Read[1], v: Read[1], w: Read[1],
        *, total: Reduce["sum"], rest: Reduce["sum"], last: Reduce["sum"],
        bound: Scalar, grid: Grid, sheet: Sheet, diffusivity: float,
    ) -> None:  # fmt: skip
        """Sum over the faces of a sheet across an axis a, each of which counts as its area over the mean one, of
        c u_a - diffusivity dc/da, c being the value that the scheme carries.
        """

    kind = "carried" if width == 1 else "bounded"
    largest.__name__, through.__name__ = f"largest_{kind}", f"{kind}_through"
    return task(kernel=TEXT)(largest), task(kernel=TEXT)(through)


def _carried_eddy(width: int) -> tuple[Task, Task]:
    """The same with diffusivity + nu_t / prandtl."""

    def largest(
        c: Read[width], u: Read[1], v: Read[1], w: Read[1], nu_t: Read[1],
        *, bound: Reduce["max"], grid: Grid, sheet: Sheet, diffusivity: float, prandtl: float,
    ) -> None:  # fmt: skip
        """bound = the largest magnitude of what is summed up"""

    def through(
        c: Read[width], u: Read[1], v: Read[1], w: Read[1], nu_t: Read[1],
        *, total: Reduce["sum"], rest: Reduce["sum"], last: Reduce["sum"],
        bound: Scalar, grid: Grid, sheet: Sheet, diffusivity: float, prandtl: float,
    ) -> None:  # fmt: skip
        """Sum of c u_a - (diffusivity + nu_t / prandtl) dc/da."""

    kind = "carried" if width == 1 else "bounded"
    largest.__name__, through.__name__ = f"largest_{kind}_eddy", f"{kind}_through_eddy"
    return task(kernel=TEXT)(largest), task(kernel=TEXT)(through)


largest_carried, carried_through = _carried(1)
largest_bounded, bounded_through = _carried(GHOST)
largest_carried_eddy, carried_through_eddy = _carried_eddy(1)
largest_bounded_eddy, bounded_through_eddy = _carried_eddy(GHOST)

FLOW = {False: (largest_flow, flow_through), True: (largest_flow_eddy, flow_through_eddy)}
CARRIED = {
    (False, False): (largest_carried, carried_through),
    (False, True): (largest_bounded, bounded_through),
    (True, False): (largest_carried_eddy, carried_through_eddy),
    (True, True): (largest_bounded_eddy, bounded_through_eddy),
}
"""The tasks with eddies or not, for what is bounded or not."""


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
        yield FLOW[stirred][0](*read, over=over, fluid=flow.fluid, **where)
        parts: dict[str, Any] = {
            f"{part}_{what}": f"{part}_passing_{name}" for what, name in FLOWING.items() for part in PARTS
        }
        yield FLOW[stirred][1](*read, over=over, **parts, fluid=flow.fluid, **where)
        for quantity in flow.quantities:
            diffusion: dict[str, Any] = {"diffusivity": quantity.diffusivity}
            if flow.turbulence:
                diffusion["prandtl"] = flow.turbulence.prandtl
            read, (largest, through) = (f[quantity.name], *velocity, *eddies), CARRIED[stirred, quantity.bounded]
            yield largest(*read, over=over, **diffusion, **where)
            sums: dict[str, Any] = {part: f"{part}_passing_carried_{quantity.name}" for part in PARTS}
            yield through(*read, over=over, **sums, **diffusion, **where)

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
