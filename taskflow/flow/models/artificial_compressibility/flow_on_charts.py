"""A flow on charts of cells, as artificial compressibility solves it: its constants and its ghost values. How it
is marched says `model`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.collocated import CellFields, Condition
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.boundaries.sides import scalar_ghosts, side_ghosts
from taskflow.flow.closures.eddy_viscosity import Turbulence
from taskflow.flow.grid import Vector
from taskflow.flow.model import Model
from taskflow.flow.models.artificial_compressibility import eddies, measures
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
from taskflow.flow.models.artificial_compressibility.stage import residual
from taskflow.flow.operators.momentum import Fluid
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles, reduced

STATE = ("p", "u", "v", "w")
SINGLE = "_single"  # behind the name of a field: the same in single precision, beside one in double


@dataclass(frozen=True, eq=False)
class FlowOnCharts(Model):
    """A flow in the `cells` of all charts, between `sides`: its fields, constants and ghost values.

    `spacing` is that of uniform cells; without it the field `metrics` holds ten values of each cell, of the layer of
    ghost cells too (see `taskflow.flow.grid.curvilinear`: vertices are reflected beyond sides, areas `mirrored`), and
    `largest_volume` is the largest of a cell. The field `sides` holds `SIDES` in ghost cells beyond sides, `f_x`,
    `f_y`, `f_z` a force per mass that is not the same everywhere, `u_s`, `v_s`, `w_s` the velocities of sides that are
    `varying`, in the ghost cells next to them. No program writes these. `planar`: charts are one cell thick along z,
    between planes of symmetry or periodic. `speed` is the reference speed; `more_edges` are those that are not between
    two sides, where other than four charts meet or a side ends at a seam. With `real` steps are those of real time, in
    which the grid may move (`moves`): then the field `swept` has what faces sweep per time in the step. There may be
    `turbulence` in such steps, of cells that have no `spacing`: see `eddies`.

    `unit` is the unit of length of kernels, a power of two about the size of a cell: products of areas and volumes stay
    within single precision, and no digit changes. Metrics, what faces sweep, the filter of eddies, `f_x`, `f_y`, `f_z`
    and rates are in that unit; velocities, pressures, scalars and nu_t are in the units of the case, as are the
    arguments of this class.
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
    turbulence: Turbulence | None = None
    look: ClassVar[int] = 10  # steps of pseudo-time between looks in real time: an even number

    @property
    def ghost(self) -> int:
        """Fluxes read two cells on either side."""
        return 2

    @property
    def flow(self) -> tuple[str, ...]:
        """The fields that a stage changes at once: p, u, v, w and T."""
        return (*STATE, "T") if self.heat else STATE

    @property
    def state(self) -> tuple[str, ...]:
        """The fields that steps change: the flow and passive scalars."""
        return (*self.flow, *(scalar.name for scalar in self.passive))

    @property
    def fields(self) -> dict[str, Location]:
        """Every field of single values by role: the state, its next value and, with several stages, one between."""
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
        """Fields that no program writes, but `sides` and `metrics`."""
        varying = ("u_s", "v_s", "w_s") if any(side.varying for side in self.sides) else ()
        return (*varying, *(("f_x", "f_y", "f_z") if self.body_force else ()), *eddies.constants(self.turbulence))

    @property
    def moving(self) -> dict[str, float]:
        carried = {"T": self.heat.diffusivity} if self.heat else {}
        carried |= {scalar.name: scalar.diffusivity for scalar in self.passive}
        return dict.fromkeys("uvw", self.fluid.viscosity) | carried

    @cached_property
    def numbers(self) -> Numbers:
        """The constants of a stage that takes the whole step."""
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
            per_length=1 / unit, speed=self.speed or b**0.5, differ=heat.differ, **more,
        )  # fmt: skip

    @property
    def spread(self) -> float:
        """The largest of viscosity, which counts twice with eddies, and diffusivities."""
        return max([*self.moving.values(), *([2 * self.fluid.viscosity] if self.turbulence else [])])

    def carrying(self, scalar: Passive) -> Numbers:
        """The constants for a passive scalar in the place of T."""
        return replace(self.numbers, diffusivity=scalar.diffusivity / self.unit, differ=scalar.differ)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Where ghost cells are beyond two faces at once, and read: by differences along faces of skewed cells."""
        patches = [patch for side in self.sides for patch in side.patches]
        return () if self.spacing else (*edges(patches), *self.more_edges)

    @property
    def rounds(self) -> bool:
        """Whether metrics and what faces sweep are needed in single precision, too."""
        return False

    def metrics(self, f: Roles) -> str | None:
        """The field of metrics, which uniform cells do not need."""
        return None if self.spacing else f.metrics

    @abstractmethod
    def pseudo_step(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """A step of pseudo-time."""

    def begin_march(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Do what pseudo-time begins with in a step of real time."""
        yield from ()

    def compressibility(self, f: Roles) -> Iterator[Launch]:
        """b of the present velocity, in ghost cells beyond sides that inside."""
        least = self.numbers.compressibility
        yield measures.local_compressibility((f.u, f.v, f.w), f.b, over=self.cells, least=least)
        for side in self.sides:
            yield measures.local_compressibility((f.u, f.v, f.w), f.b, over=side.ghosts, least=least)

    def level(self, f: Roles) -> Iterator[Launch]:
        """Shift the pressure where nothing else says how high it is: it is 0 in a cell, or its mean over the volume is,
        by exact sums.
        """
        if any(side.kind.fixes_pressure for side in self.sides):
            return
        if (cell := self.method.pressure_cell) is not None:
            at = Box(cell, (cell[0] + 1, cell[1] + 1, cell[2] + 1))
            yield measures.value(f.p, over=at, number=f.scalar("level"))
            yield measures.take_off(f.p, over=self.cells, number=f.scalar("level"))
        else:
            most, sums = f.scalar("most"), f.scalar("content")
            yield measures.largest(f.p, over=self.cells, most=most)
            yield measures.content(f.p, self.metrics(f), over=self.cells, sums=sums, most=most, numbers=self.numbers)
            yield measures.take_off_mean(f.p, over=self.cells, sums=sums)

    def ghosts(self, f: Roles, age: str) -> Iterator[Launch]:
        """Fill the ghost cells beyond sides, and beyond two of them."""
        yield from self.flow_ghosts(f, age)
        for scalar in self.passive:
            yield from self.scalar_ghosts(f, self.sides, scalar, f[f"{scalar.name}{age}"])

    def flow_ghosts(self, f: Roles, age: str) -> Iterator[Launch]:
        """Those of p, u, v, w and T."""
        yield from self.ghosts_beyond(f, self.sides, self.of(f, STATE, age), f[f"T{age}"] if self.heat else None)

    def ghosts_beyond(self, f: Roles, sides: Iterable[Side], flow: tuple[str, ...], T: str | None) -> Iterator[Launch]:
        """Those of fields of p, u, v, w and T, by what these sides say."""
        fields, numbers = CellFields(flow, T, self.metrics(f), self.unit), _spreading(self.numbers)
        for side in sides:
            yield from side_ghosts(side, fields, numbers)
        for edge in self.edges:
            yield edge_ghosts(edge, flow[1:], T)

    def scalar_ghosts(self, f: Roles, sides: Iterable[Side], scalar: Passive, field: str) -> Iterator[Launch]:
        """Those of a field of a passive scalar, by what these sides say of it."""
        metrics, numbers = self.metrics(f), _spreading(self.carrying(scalar))
        for side in sides:
            yield from scalar_ghosts(side, scalar.name, field, metrics, numbers)
        for edge in self.edges:
            yield scalar_edge_ghosts(edge, field)

    def renew(self, f: Roles) -> Iterator[Launch]:
        """Ghost values of the present state, and its eddy viscosity."""
        yield from self.ghosts(f, "")
        if self.turbulence:
            where: dict[str, Any] = {name: getattr(self, name) for name in ("cells", "sides", "planar", "unit")}
            yield from eddies.eddy_viscosity(f, self.turbulence, **where)

    def place(self, f: Roles) -> tuple[str, str | None, str | None, str | None, str | None, tuple[str, ...] | None]:
        """The other fields that a residual reads: sides, metrics, what faces sweep, compressibility, eddy viscosity
        and force, in real time with what the levels before add.
        """
        acting = (f.f_x, f.f_y, f.f_z) if self.body_force else None
        force = self.of(f, ("past_u", "past_v", "past_w"), "") if self.real else acting
        swept, b = f.swept if self.moves else None, f.b if self.method.local else None
        return f.sides, self.metrics(f), swept, b, f.nu_t if self.turbulence else None, force

    def past(self, f: Roles, name: str | None) -> str | None:
        """The field that the levels before add to T or a scalar."""
        return f[f"past_{name}"] if self.real and name in self.state else None

    def change(self, f: Roles) -> str | None:
        """c_0 / dt of a step of real time."""
        return f.scalar(CHANGE) if self.real else None

    def rates(self, dt: float, ratio: float) -> dict[str, float]:
        """The scalars of a step of real time."""
        return self.real.scalars(dt / self.unit, ratio) if self.real else {}

    @staticmethod
    def of(f: Roles, names: tuple[str, ...], age: str) -> tuple[str, ...]:
        """The fields of an age: "", "_new" or "_mid"."""
        return tuple(f[f"{name}{age}"] for name in names)


def _spreading(numbers: Numbers) -> Condition:
    return Condition(diffusivity=numbers.diffusivity, volume=numbers.volume, areas=numbers.areas)


def residuals(model: FlowOnCharts, f: Roles, prefix: str = "") -> Iterator[Launch]:
    """The scalars most_q = max |R / V| and squares_q, the sum of (R / V)^2, of each equation, behind a prefix, in the
    `unit` of the model. Ghost values have to be those of the present state. The roles of the next state hold R / V
    afterwards.
    """
    if model.method.local:
        yield from model.compressibility(f)
    for scalar in model.passive:
        yield _residual(model, f, scalar.name, model.carrying(scalar))
        yield from _sizes(model, f, scalar.name, prefix)
    yield _residual(model, f, "T" if model.heat else None, model.numbers)
    for name in model.flow:
        yield from _sizes(model, f, name, prefix)


def norm(model: FlowOnCharts, scalars: Mapping[str, float], *names: str, prefix: str = "") -> float:
    """The root mean square of R / V over all cells, of some equations together, in the `unit` of the model."""
    total = sum(reduced(scalars, f"{prefix}squares_{name}")[0] for name in names)
    return (total / sum(chart.volume for chart in model.cells)) ** 0.5


def _residual(model: FlowOnCharts, f: Roles, carried: str | None, numbers: Numbers) -> Launch:
    """That of the flow, with what it carries."""
    heat = (f[carried], f[f"{carried}_new"]) if carried else None
    return residual(
        tuple(f[name] for name in "puvw"), tuple(f[f"{name}_new"] for name in "puvw"), heat,
        model.past(f, carried), *model.place(f), over=model.cells, rate=model.change(f), numbers=numbers,
    )  # fmt: skip


def _sizes(model: FlowOnCharts, f: Roles, name: str, prefix: str) -> Iterator[Launch]:
    most, squares = f.scalar(f"{prefix}most_{name}"), f.scalar(f"{prefix}squares_{name}")
    yield measures.largest(f[f"{name}_new"], over=model.cells, most=most)
    yield measures.sum_of_squares(f[f"{name}_new"], over=model.cells, squares=squares, most=most)
