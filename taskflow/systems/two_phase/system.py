"""The system of two phases: its model, and its numbers in the log."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from taskflow.cases import Case
from taskflow.cases.formulas.expression import Expression
from taskflow.cases.language.capabilities import Supports
from taskflow.cases.language.table import Table
from taskflow.cases.tables.initial import Function, Profile
from taskflow.cases.timing.intervals import Tick
from taskflow.common.caching import cached_property
from taskflow.common.errors import named
from taskflow.common.rows import Row, details, labelled
from taskflow.flow import Fluid
from taskflow.flow.measures.phases import PhaseIntegrals, PhaseMonitor
from taskflow.flow.measures.surfaces import Isosurface, Surface
from taskflow.flow.models.two_phase.momentum import PhaseObstacles
from taskflow.flow.models.two_phase.two_phase import TwoPhase
from taskflow.flow.operators.phases import Phases
from taskflow.flow.poisson import Operator
from taskflow.flow.time.schemes import DiffusiveRates
from taskflow.geometry import Composition
from taskflow.runtime.regions import Box, triple
from taskflow.systems.base.flow import FlowMeasures, FlowSystem
from taskflow.systems.base.pressure import mixed, pressure_numbers, released, sweeps
from taskflow.systems.base.reach import capillary_out_of_reach, out_of_reach
from taskflow.systems.base.scales import Scale, Scales
from taskflow.systems.initial.fields import CellMeans
from taskflow.systems.records.correction import StateCorrection
from taskflow.systems.records.series import Integral
from taskflow.systems.two_phase.droplets import phase_record
from taskflow.systems.two_phase.methods import METHODS, CapturingMethod, InitialShares, surface_on
from taskflow.systems.two_phase.pressure import choice, projecting, solver, words
from taskflow.systems.two_phase.removal import SmallParts, removed
from taskflow.systems.two_phase.rules import RULES
from taskflow.systems.two_phase.start import (
    FEWER,
    InitialPhases,
    composed,
    cut_shapes,
    friction,
    initial_phases,
    one_phase,
)
from taskflow.systems.two_phase.tables import (
    FIELDS,
    LAYERS,
    SUPPORTS,
    PhaseFluidTable,
    PhaseTable,
    TwoPhaseTable,
)
from taskflow.systems.two_phase.wetting import without_tension

CFL, CAPILLARY = 0.3, 0.7
WORDS = {
    **FlowSystem.words,
    "p": "pressure",
    "f": "volume fraction of phase 1",
    "phi": "distance to the interface, positive in phase 1",
    "kappa": "curvature of the interface, positive around a droplet of phase 1",
}
TwoPhaseTable.rules = RULES


@dataclass(frozen=True, eq=False)
class TwoPhaseMeasures(FlowMeasures):
    """The quantities in the log of two phases."""

    model: TwoPhase
    surface: Surface = field(kw_only=True)
    trimmed: bool = field(kw_only=True)  # small parts are removed
    residuals: ClassVar[tuple[str, ...]] = ("residual", "potential_energy", "area")

    @cached_property
    def monitor(self) -> PhaseMonitor:
        return PhaseMonitor(self.model, self.model.phases, self.surface)

    def solved(self, scalars: Mapping[str, float], tick: Tick) -> dict[str, float]:
        return pressure_numbers(self.model.pressure, scalars, tick)

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """Return the line, `wall` seconds after the first state; energies are integrals over the domain."""
        phases, numbers, interface = self.model.phases, self.monitor.numbers(scalars), self.model.interface
        kept = interface.numbers(scalars) if tick.step else {}
        about: dict[str, Any] = {"surface_energy": phases.surface_tension * numbers["area"]}
        if phases.surface_tension:
            about |= interface.counts(scalars)
        if tick.limit:
            about["limit"] = tick.limit
        if self.trimmed:
            about |= removed(scalars)
        return super().line(scalars, tick, wall) | numbers | about | kept


@dataclass(frozen=True, eq=False)
class TwoPhaseSystem(FlowSystem):
    """Two phases, selected by the table [two_phase]."""

    table_name, table = "two_phase", TwoPhaseTable
    supports: ClassVar[Supports] = SUPPORTS
    lists: ClassVar[Mapping[str, type[Table]]] = {"phases": PhaseTable}
    tables: ClassVar[Mapping[str, type[Table]]] = {"fluid": PhaseFluidTable}
    min_block_cells: ClassVar[int] = LAYERS
    accepts_other_grids: ClassVar[bool] = True
    words: ClassVar[Mapping[str, str]] = WORDS  # p is a true pressure
    min_fields: ClassVar[int] = 27

    @classmethod
    def with_defaults(cls, tables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tables with `time.cfl` 0.3 if neither `time.cfl` nor a step is given."""
        time = tables.get("time")
        if isinstance(time, Mapping) and time.get("cfl") is None and time.get("step") is None:
            return {**tables, "time": {**time, "cfl": CFL}}
        return dict(tables)

    @classmethod
    def fields(cls, tables: Mapping[str, Any]) -> tuple[str, ...]:
        own = tables["two_phase"]
        absent = {"phi"} - {METHODS[own.method].field} | (set() if own.surface_tension else {"kappa"})
        fields = (name for name in FIELDS if name not in absent)
        return (*fields, *(scalar.name for scalar in tables["scalars"]))

    @classmethod
    def headline(cls, case: Case) -> str:
        first, second = case.own.density
        return f"Two phases: density {first:g} and {second:g}, {METHODS[case.own.method].words}"

    @property
    def method(self) -> CapturingMethod:
        """The interface method of the case."""
        return METHODS[self.sim.case.own.method]

    @property
    def initial_sources(self) -> Mapping[str, str]:
        return self.method.sources

    @cached_property
    def phases(self) -> Phases:
        own = self.sim.case.own
        (rho_1, rho_2), (mu_1, mu_2), arithmetic = own.density, own.viscosity, own.viscosity_mean == "arithmetic"
        return Phases(rho_1, rho_2, mu_1, mu_2, own.surface_tension, self.sim.case.body.gravity, arithmetic)

    @cached_property
    def model(self) -> TwoPhase:
        sim, grid = self.sim, self.sim.grid.constants
        arguments = {**self.physics, "fluid": Fluid(self.phases.kinematic_viscosity), "phases": self.phases}
        interface = self.method.interface(sim.case, grid, self.phases, arguments["boundaries"])
        operator = Operator(grid, released(sim.case), variable=True, openings=tuple(mixed(sim.case)))
        pressure = solver(sim.case, operator, sim.blocks, sim.device)
        arguments |= {"interface": interface, "pressure": pressure, "projecting": projecting(sim.case)}
        return TwoPhase(**arguments, capillary=sim.case.time.capillary or CAPILLARY)

    @cached_property
    def measures(self) -> TwoPhaseMeasures:
        surface = self.method.surface(self.model.interface)
        about: dict[str, Any] = {"derived": self.logged, "surface": surface, "trimmed": bool(self.corrections)}
        return TwoPhaseMeasures(self.model, self.sim.bodies.driven, **about)

    @cached_property
    def obstacles(self) -> PhaseObstacles | None:
        return PhaseObstacles(self.sim.bodies.followed, phases=self.phases) if self.sim.case.obstacles else None

    @property
    def initial(self) -> dict[str, Any]:
        bent = self.sim.case.own.surface_tension > 0
        return {**super().initial, self.method.field: self.method.initial(self.phi, self.sim.grid, bent)}

    @cached_property
    def phi(self) -> Profile | Composition:
        """The initial phi, positive in phase 1. Raises BadInput if the file of a shape cannot be read."""
        own = self.sim.case.own
        if isinstance(own.initial, Expression) and not isinstance(own.initial.source, str):
            return Expression(own.initial.source - 0.5)  # the share of phase 1 everywhere
        return own.initial or composed(own.shapes, own.background or 2, self.sim.case.grid)

    @property
    def initial_sums(self) -> dict[str, CellMeans | Function]:
        """The shares of phase 1, whose sum is its volume. Triangulated surfaces begin with the volume of smoothed f,
        since distances to many triangles take long.
        """
        if self.method.field == "f" or (isinstance(self.phi, Expression) and self.phi.uniform) or self._slow:
            return {}
        means = InitialShares(self.phi, self.sim.grid)
        return {"f": Function(means) if isinstance(self.phi, Function) else means}

    @property
    def _slow(self) -> bool:
        return any(shape.type == "surface" for shape in self.sim.case.own.shapes or ())

    @property
    def scales(self) -> Scales:
        """The largest values that the case explains: weight and surface tension accelerate either phase."""
        phases, known, h = self.phases, super().scales, min(self.sim.grid.spacing)
        fall = phases.ratio * math.hypot(*phases.gravity)
        bent = phases.surface_tension / (min(phases.density_1, phases.density_2) * h * h)
        speed = Scale(known.speed.largest, known.speed.gain + fall + bent)
        return replace(known, speed=speed, carried={**known.carried, "f": Scale(1.0)}, driven=True)

    @property
    def sweeps(self) -> int | None:
        return sweeps(self.sim.case, choice(self.sim.case))

    @property
    def corrections(self) -> tuple[StateCorrection, ...]:
        smallest = self.sim.case.own.smallest
        return (SmallParts(self.model, smallest, bool(self.sim.case.obstacles)),) if smallest else ()

    @property
    def surfaces(self) -> tuple[Integral, ...]:
        integrals, planes = [], tuple(face for face, side in self.model.boundaries.items() if side.symmetric)
        for table in getattr(self.sim.case, "phases", ()):
            about = self._cells(table.box), bool(self.obstacles), self.measures.surface, planes
            measured = PhaseIntegrals(self.sim.grid, table.name, table.phase, *about)
            integrals.append(phase_record(table, measured))
        return tuple(integrals)

    def isosurface(self, field: str, value: float) -> Isosurface:
        return Isosurface(self.sim.grid, surface_on(field, value, self.model.boundaries), bool(self.obstacles))

    def _cells(self, box: tuple[Any, Any] | None) -> Box:
        """Return the complete cells of a box, by the nearest faces."""
        grid = self.sim.grid
        ends = (triple(grid.nearest_face(axis, place[axis]) for axis in range(3)) for place in box or ())
        return grid.box if box is None else Box(*ends)

    @property
    def attributes(self) -> dict[str, Any]:
        phases, known = self.phases, dict(super().attributes)
        known.pop("viscosity", None)  # there are two
        return known | {
            "density_1": phases.density_1, "density_2": phases.density_2, "viscosity_1": phases.viscosity_1,
            "viscosity_2": phases.viscosity_2, "surface_tension": phases.surface_tension,
        }  # fmt: skip

    @cached_property
    def start(self) -> InitialPhases:
        """The phases at the start. Raises BadInput if phi is not finite."""
        phi, key = self.phi, "initial" if self.sim.case.own.shapes is None else "shapes"
        with named(f"two_phase.{key}"):
            return initial_phases(phi, self.sim.grid, FEWER) if self._slow else initial_phases(phi, self.sim.grid)

    @property
    def diffusive_rates(self) -> DiffusiveRates:
        """The estimated friction rate on faces next to the interface, and the largest diffusive rates."""
        spacing = self.model.limiting_grid.spacing
        return self.model.carried.beside(friction(self.phases, spacing, self.model.interface.width))

    def check(self, start: float = 0.0) -> None:
        """See `FlowSystem`. Also raises BadInput if phi is not finite, or the file of a shape cannot be read."""
        super().check(start)
        _ = self.start

    @property
    def _elsewhere(self) -> bool:
        """True if the interface comes from another state."""
        return self.sim.source is not None and self.method.field in (self.sim.source.fields or ())

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of long cells, of contact angles without surface tension, of steps out of reach, of cut shapes, and
        of one phase that fills the domain, unless meant.
        """
        case = self.sim.case
        long = self.method.caution(self.sim.grid.constants, case.own.thickness)
        begun = () if self._elsewhere else (
            *one_phase(case.own, self.start), *cut_shapes(case.own.shapes or (), case.grid, self.sim.grid),
        )  # fmt: skip
        dry = without_tension(case.boundaries, case.own.surface_tension)
        return (*long, *dry, *out_of_reach(case, self.clock.limit), *capillary_out_of_reach(case), *begun)

    def solver_rows(self) -> Iterator[Row]:
        phases, model, precision = self.phases, self.model, self.sim.case.machine.precision
        yield Row("phases", f"{self.method.words}; ratio of densities {phases.ratio:g}; {precision} precision")
        elsewhere = (Row("", "the interface begins where initial.source has it"),)
        yield from elsewhere if self._elsewhere else self.start.rows()
        yield Row("pressure", words(self.sim.case))
        yield from details(labelled("first step", self._first_step()))
        if phases.surface_tension:
            wave = model.capillary * phases.capillary_step(min(model.grid.resolved))
            share = f"the share {model.capillary:g} of the capillary limit"
            yield Row("", f"a step is at most {wave:.3g}, {share}", "detail")

    def _first_step(self) -> Iterator[str]:
        """Yield the bound that sets the first step, and the steps allowed by the others, with the capillary one against
        them.
        """
        bounds = self.clock.limit.bounds(self.advective_rate, self.diffusive_rates)
        known = sorted((length, name) for name, length in bounds.items() if length < math.inf)
        if not known:
            yield "not bounded: the fluid is at rest, and nothing drives it; give time.step"
            return
        (length, name), *others = known
        allowed = ", ".join(f"time.{other} {longer:.3g}" for longer, other in others)
        yield f"about {length:.3g}, by time.{name}" + (f"; by {allowed}" if allowed else "")
        if name == "capillary" and others:
            yield f"capillary waves make it {others[0][0] / length:.2g} times as short as everything else would"

    @property
    def report(self) -> dict[str, Any]:
        pressure = asdict(choice(self.sim.case))
        return {"model": "two_phase", "density_ratio": self.phases.ratio, "pressure": pressure}
