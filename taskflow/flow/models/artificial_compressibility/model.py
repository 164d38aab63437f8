"""Incompressible flow by artificial compressibility (A. J. Chorin 1967, J. Comput. Phys. 2, 12), marched explicitly in
pseudo-time to a steady state; after W. Xue and C. J. Roy (2020) and L. Luo et al. (2014).

    (1/b) dp/dtau + div u = 0,    du/dtau + div(u u) + grad p - viscosity Laplacian(u) = force - expansion (T - T_0) g
    dT/dtau + div(T u) - div(diffusivity grad T) = 0

p is divided by the density. All values live in the centres of cells, whose vertices are anywhere: no step is taken
along coordinates, and velocities are along x, y and z of space. When nothing changes any more, div u = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from taskflow.flow.grid import Vector
from taskflow.flow.model import Model
from taskflow.flow.models.artificial_compressibility import eddies, measures
from taskflow.flow.models.artificial_compressibility.dual_time import CHANGE, DualTime
from taskflow.flow.models.artificial_compressibility.equations import HeatTransport, Numbers, Passive
from taskflow.flow.models.artificial_compressibility.ghosts import ghosts_of_flow, ghosts_of_scalar
from taskflow.flow.models.artificial_compressibility.method import UPWIND_METHOD, MethodOptions
from taskflow.flow.models.artificial_compressibility.numbers import numbers_of
from taskflow.flow.models.artificial_compressibility.pressure_level import shifted
from taskflow.flow.models.artificial_compressibility.residuals import norm, residuals
from taskflow.flow.models.artificial_compressibility.sides import Edge, Side, edges
from taskflow.flow.models.artificial_compressibility.stage import stage, transport
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.stability import StepLimit
from taskflow.flow.turbulence.eddy_viscosity import Turbulence
from taskflow.runtime.regions import Box, Location
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles

STATE = ("p", "u", "v", "w")
NAMES = {"p": "continuity", "u": "momentum_x", "v": "momentum_y", "w": "momentum_z", "T": "heat"}


@dataclass(frozen=True, eq=False)
class ArtificialCompressibility(Model):
    """The equations over the `cells` of all charts, between `sides`.

    `spacing` is that of uniform cells; without it the field `metrics` holds ten values of each cell, of the layer of
    ghost cells too (see `taskflow.flow.grid.curvilinear.metrics`; beyond sides vertices are reflected), and
    `largest_volume` is the largest of a cell. The field `sides` holds `SIDES` in ghost cells beyond sides, `f_x`,
    `f_y`, `f_z` a force per mass that is not the same everywhere, `u_s`, `v_s`, `w_s` the velocities of sides that are
    `varying`, in the ghost cells next to them. No program writes these. `planar`: charts are one cell thick along z,
    between planes of symmetry or periodic. `speed` is the reference speed; `more_edges` are those that are not between
    two sides, where other than four charts meet or a side ends at a seam. With `real` steps are those of real time, in
    which the grid may move (`moves`): then the field `swept` has what faces sweep per time in the step. There may be
    `turbulence` in such steps, of cells that have no `spacing`: see `eddies`.

    Where no side says how high the pressure is, `monitor` shifts it: fluxes feel its differences alone, so that steps
    need no level, which would cost a step of a single stage half as much again.
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
    def judged(self) -> tuple[Passive, ...]:
        """The passive scalars whose residuals are measured."""
        return self.passive if self.real else ()

    @property
    def moving(self) -> dict[str, float]:
        """All that moves, each with its diffusivity."""
        carried = {"T": self.heat.diffusivity} if self.heat else {}
        carried |= {scalar.name: scalar.diffusivity for scalar in self.passive}
        return dict.fromkeys("uvw", self.fluid.viscosity) | carried

    @cached_property
    def numbers(self) -> Numbers:
        """The constants of a stage that takes the whole step."""
        return numbers_of(self)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """Where ghost cells are beyond two faces at once, and read: by differences along faces of skewed cells."""
        patches = [patch for side in self.sides for patch in side.patches]
        return () if self.spacing else (*edges(patches), *self.more_edges)

    @property
    def level_free(self) -> bool:
        """Whether no side says how high the pressure is."""
        return all(side.kind not in ("outflow", "far-field") for side in self.sides)

    def start(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Ghost values of the initial state."""
        yield from self.renew(f)
        if self.real:
            yield from self.real.start(self, f)

    def renew(self, f: Roles) -> Iterator[Launch]:
        """Ghost values of the present state, and its eddy viscosity."""
        yield from self.ghosts(f, "")
        if self.turbulence:
            yield from eddies.eddy_viscosity(self, f, self.turbulence)

    def step(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """A step of real time; without it one of pseudo-time."""
        yield from self.real.step(self, f) if self.real else self.pseudo_step(f)

    def begin_march(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Do what pseudo-time begins with in a step of real time."""
        yield from ()

    def pseudo_step(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """A step of pseudo-time."""
        march, source = self.method.stages, ""
        for n, (fraction, fresh) in enumerate(zip(march.fractions, march.fresh, strict=True)):
            yield from self.ghosts(f, source)
            if n == 0:
                yield from self.pace(f)
            target = "_mid" if n % 2 else "_new"
            numbers = replace(self.numbers, fraction=fraction * self.method.courant, fresh=fresh)
            yield stage(
                (*self.of(f, STATE, source), *self.of(f, STATE, ""), *self.of(f, STATE, target), f.sides),
                (f[f"T{source}"], f.T, f[f"T{target}"]) if self.heat else None, self.past(f, "T"), *self.place(f)[1:],
                tuple(f[f"d_{name}"] for name in STATE) if march.keeps else None,
                over=self.cells, step=f.scalar("dtau" if self.method.global_steps else "one"), rate=self.change(f),
                numbers=numbers,
            )  # fmt: skip
            for scalar in self.passive:
                ages = tuple(f[f"{scalar.name}{age}"] for age in (source, "", target))
                flow, begun, place = self.of(f, STATE, source), (f.u, f.v, f.w), self.place(f)[:-1]
                step = f.scalar("dtau" if self.method.global_steps else "one")
                where: dict[str, Any] = {"over": self.cells, "step": step, "rate": self.change(f)}
                spreading, past = replace(numbers, diffusivity=scalar.diffusivity), self.past(f, scalar.name)
                yield transport(flow, begun, ages, past, *place, numbers=spreading, **where)
            source = target
        for name in self.state:
            f.swap(name, f"{name}{source}")

    @property
    def marched(self) -> str:
        """How it marches, in words."""
        return f"{self.method.march} with CFL {self.method.courant:g}"

    @property
    def remedy(self) -> str:
        """Say what to change where the march diverges."""
        return self.method.remedy

    def progress(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return what the log says of a step."""
        return {"cfl": self.method.courant}

    @property
    def factors_precision(self) -> str:
        """The precision in which factors of linear equations are stored, where it is another one than usual."""
        return ""

    def rate(self, scalars: Mapping[str, float]) -> float:
        """In real time that of the fastest cell; steps of pseudo-time do not follow from a rate."""
        return self.real.rate(self, scalars) if self.real else 0.0

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        """Steps of real time, of one length or up to a CFL number of u; or steps of pseudo-time, each of them one:
        how far each cell goes, `MethodOptions.courant` says.
        """
        return StepLimit(fixed=fixed, cfl=cfl) if self.real else StepLimit(fixed=1.0)

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """The numbers that `step` reads."""
        return {"one": 1.0} | (self.real.scalars(dt, ratio) if self.real else {})

    def monitor(self, f: Roles) -> Iterator[Launch]:
        """The residuals: scalars from which `norms` follow. They are in the roles of the next state afterwards. And the
        level of the pressure.
        """
        if not self.real:  # which does it in every step
            yield from self.level(f)
        yield from self.ghosts(f, "")
        yield from residuals(self, f)

    def norms(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """The root mean square of R / V of each equation, from the scalars of `monitor`."""
        return {NAMES[name]: norm(self, scalars, name) for name in self.flow}

    def pace(self, f: Roles) -> Iterator[Launch]:
        """Compute what steps need that are the same everywhere, or a compressibility that is not."""
        if self.method.local:
            yield from self.compressibility(f)
        if self.method.global_steps:
            metrics, b = None if self.spacing else f.metrics, f.b if self.method.local else None
            where: dict[str, Any] = {"over": self.cells, "dtau": f.scalar("dtau"), "numbers": self.numbers}
            yield measures.least_step((f.u, f.v, f.w), metrics, b, self.place(f)[4], **where)

    def compressibility(self, f: Roles) -> Iterator[Launch]:
        """b of the present velocity, in ghost cells beyond sides that inside."""
        least = self.numbers.compressibility
        yield measures.local_compressibility((f.u, f.v, f.w), f.b, over=self.cells, least=least)
        for side in self.sides:
            yield measures.local_compressibility((f.u, f.v, f.w), f.b, over=side.ghosts, least=least)

    def level(self, f: Roles) -> Iterator[Launch]:
        """Shift the pressure where nothing else says how high it is."""
        if self.level_free:
            yield from shifted(self, f)

    def ghosts(self, f: Roles, age: str) -> Iterator[Launch]:
        """Fill the ghost cells beyond sides, and beyond two of them."""
        yield from self.flow_ghosts(f, age)
        for scalar in self.passive:
            yield from ghosts_of_scalar(self, f, self.sides, scalar, f[f"{scalar.name}{age}"])

    def flow_ghosts(self, f: Roles, age: str) -> Iterator[Launch]:
        """Those of p, u, v, w and T."""
        yield from ghosts_of_flow(self, f, self.sides, self.of(f, STATE, age), f[f"T{age}"] if self.heat else None)

    def place(self, f: Roles) -> tuple[str, str | None, str | None, str | None, str | None, tuple[str, ...] | None]:
        """The other fields that a residual reads: sides, metrics, what faces sweep, compressibility, eddy viscosity
        and force, in real time with what the levels before add.
        """
        given = (f.f_x, f.f_y, f.f_z) if self.body_force else None
        force = self.of(f, ("past_u", "past_v", "past_w"), "") if self.real else given
        metrics, swept = None if self.spacing else f.metrics, f.swept if self.moves else None
        return f.sides, metrics, swept, f.b if self.method.local else None, f.nu_t if self.turbulence else None, force

    def past(self, f: Roles, name: str | None) -> str | None:
        """The field that the levels before add to T or a scalar."""
        return f[f"past_{name}"] if self.real and name in self.state else None

    def change(self, f: Roles) -> str | None:
        """c_0 / dt of a step of real time."""
        return f.scalar(CHANGE) if self.real else None

    @staticmethod
    def of(f: Roles, names: tuple[str, ...], age: str) -> tuple[str, ...]:
        """The fields of an age: "", "_new" or "_mid"."""
        return tuple(f[f"{name}{age}"] for name in names)
