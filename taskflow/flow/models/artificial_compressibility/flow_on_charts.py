"""A flow on charts of cells, as solved by artificial compressibility: its constants and ghost values. For marching see
`model`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.collocated import CellFields, Condition
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.boundaries.sides import scalar_ghosts, side_ghosts
from taskflow.flow.closures.eddy_viscosity import Turbulence
from taskflow.flow.grid import Vector
from taskflow.flow.model import Ends, Model
from taskflow.flow.models.artificial_compressibility import eddies, measures
from taskflow.flow.models.artificial_compressibility.blocks import BLOCKS, MatrixBlocks
from taskflow.flow.models.artificial_compressibility.dual_time import CHANGE, DualTime
from taskflow.flow.models.artificial_compressibility.edges import Edge, edge_ghosts, edges, scalar_edge_ghosts
from taskflow.flow.models.artificial_compressibility.equations import (
    REACHES,
    GlobalSteps,
    HeatTransport,
    Numbers,
    Passive,
    Steps,
    TurbulentNumbers,
)
from taskflow.flow.models.artificial_compressibility.method import UPWIND_METHOD, MethodOptions
from taskflow.flow.operators.momentum import Fluid
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Derive, Launch, Program, Repeat, Roles

STATE = ("p", "u", "v", "w")
SINGLE = "_single"  # suffix of the single-precision copy of a field in double precision


@dataclass(frozen=True, eq=False)
class CollocatedFlow(Model):
    """A flow in the `cells` of all charts, between `sides`: its fields, constants and ghost values.

    No program writes these fields:

    - `metrics`: ten values per cell, also in the layer of ghost cells, unless cells are uniform with a `spacing` (see
      `taskflow.flow.grid.curvilinear`: vertices are reflected at sides, areas `mirrored`)
    - `sides`: the kind of flux in ghost cells of sides
    - `f_x`, `f_y`, `f_z`: a non-uniform force per mass
    - `u_s`, `v_s`, `w_s`: velocities of `varying` sides, in the adjacent ghost cells

    Attributes:

    - `largest_volume`: of a cell, if cells are not uniform
    - `planar`: charts are one cell thick along k, between planes of symmetry or periodic
    - `speed`: the reference speed
    - `more_edges`: edges that are not between two sides, where other than four charts meet or a side ends at a seam
    - `real`: physical time steps, in which the grid may move (`moves`). Then the field `swept` has the volume swept by
      faces per time in the step.
    - `bodies`: charts have bodies, with the fields `aperture`, `wall` and `fluid` of their surfaces. With
      `moving_bodies` some move in physical time.
    - `turbulence`: only with physical time steps and without `spacing`, see `eddies`
    - `unit`: the unit of length of kernels, a power of two near the cell size. Products of areas and volumes then stay
      within single precision, and scaling is exact. Metrics, `swept`, the filter of eddies, `f_x`, `f_y`, `f_z` and
      rates are in that unit. Velocities, pressures, scalars, nu_t and the arguments of this class are in the units of
      the case.
    """

    cells: tuple[Box, ...]
    fluid: Fluid
    sides: tuple[Side, ...]
    speed: float
    _: KW_ONLY
    method: MethodOptions = UPWIND_METHOD
    heat: HeatTransport | None = None
    passive: tuple[Passive, ...] = ()
    spacing: Vector | None = None
    largest_volume: float = 1.0
    unit: float = 1.0
    planar: bool = False
    body_force: bool = False
    more_edges: tuple[Edge, ...] = ()
    real: DualTime | None = None
    moves: bool = False
    bodies: bool = False
    moving_bodies: bool = False
    turbulence: Turbulence | None = None
    look: ClassVar[int] = 10  # steps of pseudo-time between looks in real time: an even number

    @property
    def ghost(self) -> int:
        """Layers of ghost cells: fluxes read two cells on either side."""
        return 2

    @property
    def flow(self) -> tuple[str, ...]:
        """The fields that a stage changes together: p, u, v, w and T."""
        return (*STATE, "T") if self.heat else STATE

    @property
    def state(self) -> tuple[str, ...]:
        """The fields that steps change: the flow and passive scalars."""
        return (*self.flow, *(scalar.name for scalar in self.passive))

    @property
    def fields(self) -> dict[str, Location]:
        """Every single-valued field by role: the state, its next value and, with several stages, one between."""
        ages = ("", "_new", "_mid") if len(self.method.stages.fractions) > 1 else ("", "_new")
        names = [f"{name}{age}" for age in ages for name in self.state]
        if self.method.stages.keeps:
            names += [f"d_{name}" for name in STATE]
        names += [*(self.real.fields(self.state) if self.real else []), *eddies.fields(self.turbulence)]
        return dict.fromkeys([*names, *self.constants, *(["b"] if self.method.local else [])], "c")

    @property
    def carried(self) -> tuple[str, ...]:
        """T and passive scalars."""
        return tuple(name for name in self.state if name not in STATE)

    @property
    def constants(self) -> tuple[str, ...]:
        """Single-valued fields that no program writes, except `sides`."""
        varying = ("u_s", "v_s", "w_s") if any(side.varying for side in self.sides) else ()
        force, fluid = ("f_x", "f_y", "f_z") if self.body_force else (), ("fluid",) if self.bodies else ()
        return (*varying, *force, *fluid, *eddies.constants(self.turbulence))

    @property
    def prognostic(self) -> dict[str, float]:
        carried = {"T": self.heat.diffusivity} if self.heat else {}
        carried |= {scalar.name: scalar.diffusivity for scalar in self.passive}
        return dict.fromkeys("uvw", self.fluid.viscosity) | carried

    @property
    def blocks(self) -> MatrixBlocks:
        """The blocks of implicit marching."""
        return BLOCKS[0]

    @cached_property
    def numbers(self) -> Numbers:
        """The constants of a stage that takes the full step."""
        method, fluid, turbulence, unit = self.method, self.fluid, self.turbulence, self.unit
        heat = self.heat or HeatTransport(0.0)
        pull = triple(-heat.buoyancy.expansion * g for g in heat.buoyancy.gravity) if heat.buoyancy else (0.0, 0.0, 0.0)
        dx, dy, dz = (length / unit for length in self.spacing or (unit, unit, unit))
        damped = method.flux == "central" and method.damping == "pressure"
        kind, more = (TurbulentNumbers, {"share": 1 / turbulence.prandtl}) if turbulence else (Numbers, {})
        b = method.least_compressibility(self.speed)
        return kind(
            fluid.viscosity / unit, b, heat.diffusivity / unit,
            self.spread / unit, heat.buoyancy.reference if heat.buoyancy else 0.0, method.fourth,
            volume=dx * dy * dz if self.spacing else self.largest_volume / unit**3,
            areas=(dy * dz, dx * dz, dx * dy), force=triple(unit * part for part in fluid.force),
            lift=triple(unit * part for part in pull),
            reach=REACHES[self.planar, self.spacing is not None, damped], scheme=method.scheme,
            steps=GlobalSteps() if method.global_steps else Steps(),
            blocks=self.blocks, per_length=1 / unit, speed=self.speed or b**0.5, differ=heat.differ, **more,
        )  # fmt: skip

    @property
    def spread(self) -> float:
        """The largest of viscosity, counted twice with eddies, and diffusivities."""
        return max([*self.prognostic.values(), *([2 * self.fluid.viscosity] if self.turbulence else [])])

    def carrying(self, scalar: Passive) -> Numbers:
        """Return the constants for a passive scalar instead of T."""
        return replace(self.numbers, diffusivity=scalar.diffusivity / self.unit, differ=scalar.differ)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """The ghost cells outside two faces that are read: by differences along faces of skewed cells."""
        patches = [patch for side in self.sides for patch in side.patches]
        return () if self.spacing else (*edges(patches), *self.more_edges)

    def ends(self, name: str) -> Ends:
        """Return "sides" for velocities, T and scalars. Ghost pressures are values of fluxes only."""
        if name == "p":
            return "linear"
        return "sides" if name in self.state else "nearest"

    @property
    def refill(self) -> Program:
        return self.refresh_sides

    def refresh_sides(self, f: Roles) -> Iterator[Launch]:
        """Fill the ghost values of the present state."""
        yield from self.ghosts(f, "")

    @property
    def mixed_precision(self) -> bool:
        """True if metrics and swept volumes are also needed in single precision."""
        return False

    def metrics(self, f: Roles) -> str | None:
        """Return the field of metrics, None for uniform cells."""
        return None if self.spacing else f.metrics

    @abstractmethod
    def pseudo_step(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Yield a step of pseudo-time."""

    def begin_march(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Yield the start of pseudo-time in a physical time step."""
        yield from ()

    def compressibility(self, f: Roles) -> Iterator[Launch]:
        """Compute b from the present velocity. Ghost cells of sides take the value inside."""
        least = self.numbers.compressibility
        yield measures.local_compressibility((f.u, f.v, f.w), f.b, over=self.cells, least=least)
        for side in self.sides:
            yield measures.local_compressibility((f.u, f.v, f.w), f.b, over=side.ghosts, least=least)

    def level(self, f: Roles) -> Iterator[Launch]:
        """Shift the pressure, unless a side prescribes it, to 0 in a cell or to a volume mean of 0, by exact sums."""
        if any(side.kind.fixes_pressure for side in self.sides):
            return
        if (cell := self.method.pressure_cell) is not None:
            at = Box(cell, (cell[0] + 1, cell[1] + 1, cell[2] + 1))
            yield measures.value(f.p, over=at, number=f.scalar("level"))
            yield measures.take_off(f.p, over=self.cells, number=f.scalar("level"))
        else:
            most, sums = f.scalar("most"), f.scalar("content")
            yield measures.largest(f.p, over=self.cells, most=most)
            fluid = f.fluid if self.bodies else None
            where: dict[str, Any] = {"over": self.cells, "numbers": self.numbers}
            yield measures.content(f.p, self.metrics(f), fluid, sums=sums, most=most, **where)
            yield measures.take_off_mean(f.p, over=self.cells, sums=sums)

    def ghosts(self, f: Roles, age: str) -> Iterator[Launch]:
        """Fill the ghost cells of sides and edges."""
        yield from self.flow_ghosts(f, age)
        for scalar in self.passive:
            yield from self.scalar_ghosts(f, self.sides, scalar, f[f"{scalar.name}{age}"])

    def flow_ghosts(self, f: Roles, age: str) -> Iterator[Launch]:
        """Fill the ghost cells of p, u, v, w and T."""
        yield from self.ghosts_beyond(f, self.sides, self.of(f, STATE, age), f[f"T{age}"] if self.heat else None)

    def ghosts_beyond(self, f: Roles, sides: Iterable[Side], flow: tuple[str, ...], T: str | None) -> Iterator[Launch]:
        """Fill the ghost cells of fields of p, u, v, w and T, by the conditions of these sides."""
        fields = CellFields(flow, T, self.metrics(f), self.unit, self.numbers.viscosity)
        numbers = _spreading(self.numbers)
        for side in sides:
            yield from side_ghosts(side, fields, numbers)
        for edge in self.edges:
            yield edge_ghosts(edge, flow[1:], T)

    def scalar_ghosts(self, f: Roles, sides: Iterable[Side], scalar: Passive, field: str) -> Iterator[Launch]:
        """Fill the ghost cells of a field of a passive scalar, by the conditions of these sides."""
        metrics, numbers = self.metrics(f), _spreading(self.carrying(scalar))
        for side in sides:
            yield from scalar_ghosts(side, scalar.name, field, metrics, numbers)
        for edge in self.edges:
            yield scalar_edge_ghosts(edge, field)

    def refresh(self, f: Roles) -> Iterator[Launch]:
        """Fill the ghost values of the present state, and compute its eddy viscosity."""
        yield from self.refresh_sides(f)
        if self.turbulence:
            where: dict[str, Any] = {name: getattr(self, name) for name in ("cells", "sides", "planar", "unit")}
            yield from eddies.eddy_viscosity(f, self.turbulence, **where)

    def place(self, f: Roles) -> tuple[str, str | None, str | None, str | None, str | None, tuple[str, ...] | None]:
        """Return the other fields that a residual reads: sides, metrics, swept volumes, compressibility, eddy viscosity
        and force, in physical time with the contributions of previous levels.
        """
        acting = (f.f_x, f.f_y, f.f_z) if self.body_force else None
        force = self.of(f, ("past_u", "past_v", "past_w"), "") if self.real else acting
        swept, b = f.swept if self.moves else None, f.b if self.method.local else None
        return f.sides, self.metrics(f), swept, b, f.nu_t if self.turbulence else None, force

    def surface_fields(self, f: Roles) -> tuple[str, str, str] | None:
        """Return the fields of the surfaces of bodies, or None without bodies."""
        return (f.aperture, f.wall, f.fluid) if self.bodies else None

    def past(self, f: Roles, name: str | None) -> str | None:
        """Return the field that previous levels add to T or a scalar, or None."""
        return f[f"past_{name}"] if self.real and name in self.state else None

    def change(self, f: Roles) -> str | None:
        """Return the scalar c_0 / dt of a physical time step."""
        return f.scalar(CHANGE) if self.real else None

    def rates(self, dt: float, ratio: float) -> dict[str, float]:
        """Return the scalars of a physical time step."""
        return self.real.scalars(dt / self.unit, ratio) if self.real else {}

    @staticmethod
    def of(f: Roles, names: tuple[str, ...], age: str) -> tuple[str, ...]:
        """Return the fields of an age: "", "_new" or "_mid"."""
        return tuple(f[f"{name}{age}"] for name in names)


def _spreading(numbers: Numbers) -> Condition:
    return Condition(diffusivity=numbers.diffusivity, volume=numbers.volume, areas=numbers.areas)
