"""The system of artificial compressibility on charts: its model, and its entries in run, log and report."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from taskflow.cases import Case
from taskflow.cases.checks import all_fields
from taskflow.cases.language.capabilities import Supports
from taskflow.cases.language.table import Table
from taskflow.cases.tables.charts.grid import BodyFittedGrid, made
from taskflow.cases.tables.charts.openings import ChartOpening, can_be_opened
from taskflow.cases.tables.charts.sides import ChartSides
from taskflow.cases.tables.method import METHOD
from taskflow.cases.tables.motion import placed
from taskflow.cases.timing.schedule import Clock
from taskflow.common.caching import cached_property
from taskflow.common.rows import Row
from taskflow.flow import Fluid
from taskflow.flow.models.artificial_compressibility.bodies import BodyForces
from taskflow.flow.models.artificial_compressibility.forces import Forces
from taskflow.flow.models.artificial_compressibility.method import MethodOptions
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.output.store.conditions import TURBULENCE
from taskflow.runtime.regions import Box, Field, triple
from taskflow.systems.artificial_compressibility import references
from taskflow.systems.artificial_compressibility.bodies import ChartBodies
from taskflow.systems.artificial_compressibility.boundaries import more_edges, sides_of
from taskflow.systems.artificial_compressibility.checks import (
    initial_fields_fit,
    march_warnings,
    numbers_on,
    sides_fit,
)
from taskflow.systems.artificial_compressibility.constants import MetricFields, constant_fields
from taskflow.systems.artificial_compressibility.domain import ChartDomain
from taskflow.systems.artificial_compressibility.measures import CompressibilityMeasures
from taskflow.systems.artificial_compressibility.paths import ChartPaths
from taskflow.systems.artificial_compressibility.references import dual_time
from taskflow.systems.artificial_compressibility.residuals import InnerCriterion, ResidualCriterion
from taskflow.systems.artificial_compressibility.rules import RULES
from taskflow.systems.artificial_compressibility.survey import survey
from taskflow.systems.artificial_compressibility.tables import SUPPORTS, CompressibilityMethod, MarchTime
from taskflow.systems.base.flow import WORDS
from taskflow.systems.base.given import GivenRanges
from taskflow.systems.base.onset import AROUND_BODIES
from taskflow.systems.base.outlook import Outlook
from taskflow.systems.base.physics import eddies_described, turbulence_of
from taskflow.systems.base.scales import Scales, fluid_row
from taskflow.systems.base.step_cost import StepCost
from taskflow.systems.base.system import System
from taskflow.systems.bodies import Survey
from taskflow.systems.initial.fields import initial_profiles

CompressibilityMethod.rules = RULES


@dataclass(frozen=True, eq=False)
class CompressibilitySystem(System):
    """A flow on body-fitted cells: its steady state, or physical time steps."""

    table_name: ClassVar[str] = METHOD
    table: ClassVar[type[Table]] = CompressibilityMethod
    tables: ClassVar[Mapping[str, type[Table]]] = {"grid": BodyFittedGrid, "boundaries": ChartSides, "time": MarchTime}
    lists: ClassVar[Mapping[str, type[Table]]] = {"openings": ChartOpening}
    supports: ClassVar[Supports] = SUPPORTS
    min_fields: ClassVar[int] = 12
    accepts_other_grids: ClassVar[bool] = True
    words: ClassVar[Mapping[str, str]] = WORDS

    @classmethod
    def fields(cls, tables: Mapping[str, Any]) -> tuple[str, ...]:
        return all_fields(tables)

    @classmethod
    def derived(cls, tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the grid before and after openings are made, and the conditions of all sides."""
        if "grid" not in tables or "openings" not in tables or (unopened := made(tables["grid"])) is None:
            return
        yield "unopened", unopened
        if can_be_opened(unopened, tables["openings"]):
            yield "charts", (charts := tables["grid"].completed(tables).grid())
            if "boundaries" in tables:
                named = {opening.name: opening for opening in tables["openings"]}
                yield "boundaries", tables["boundaries"].opened(named, unopened.sides.keys() - charts.sides.keys())

    @classmethod
    def headline(cls, case: Case) -> str:
        return f"Artificial compressibility: {case.own.march}, {case.own.flux} fluxes"

    @classmethod
    def pseudo_time(cls, case: Case) -> bool:
        return case.time.steady is not None

    @cached_property
    def domain(self) -> ChartDomain:
        case = self.sim.case
        cuts = tuple(sorted(case.machine.pieces.items()))
        return ChartDomain(case.table("grid"), cuts, self.pseudo_time(case), case.motion, case.own.ordering)

    @property
    def grid(self) -> MultiBlockGrid:
        return self.domain.grid

    @cached_property
    def bodies(self) -> ChartBodies | None:
        """The bodies inside charts, or None."""
        return ChartBodies(self.sim.case, self.domain) if self.sim.case.obstacles else None

    @property
    def solid(self) -> Callable[[Box], np.ndarray] | None:
        return None if self.bodies is None or self.bodies.moving else self.bodies.at(0.0).solid

    @property
    def moving(self) -> None:
        """None: surfaces of bodies that move are among the `constants`, written before each step."""
        return None

    @cached_property
    def surroundings(self) -> ChartPaths | None:
        return ChartPaths(self.bodies, self.model.sides) if self.bodies and self.bodies.moving else None

    @cached_property
    def survey(self) -> Survey | None:
        return survey(self.bodies, self.model.sides) if self.bodies else None

    @cached_property
    def speed(self) -> float:
        return references.speed(self.sim.case, self.grid, self.sim.case.own.reference_speed, self.sim.case.initial)

    def with_references(self, tables: Mapping[str, Any]) -> Mapping[str, Any]:
        return references.with_references(self.sim.case, self.grid, tables)

    @cached_property
    def model(self) -> ArtificialCompressibility:
        case, domain = self.sim.case, self.domain
        kind, how = case.own.marching(domain.tile, real=not domain.steady, double=self.sim.dtype == "f8")
        return kind(
            domain.atlas.charts,
            Fluid(case.fluid.viscosity, case.table("body").numbers),
            sides_of(case, self.grid, domain.atlas.ghost, planar=self.domain.planar),
            self.speed,
            method=self._method,
            heat=references.heat_of(case, self.grid),
            passive=references.passive_of(case, self.grid),
            spacing=self._spacing,
            largest_volume=max(chart.sizes.largest for chart in self.grid.charts),
            unit=domain.unit,
            planar=self.domain.planar,
            body_force=case.table("body").varies,
            more_edges=more_edges(self.grid, domain.atlas, planar=self.domain.planar),
            real=None if domain.steady else dual_time(case, domain, self.speed),
            moves=case.motion is not None,
            bodies=self.bodies is not None,
            moving_bodies=self.bodies is not None and bool(self.bodies.moving),
            turbulence=turbulence_of(case),
            **how,
        )

    @property
    def _method(self) -> MethodOptions:
        table: CompressibilityMethod = self.sim.case.own
        b, damping = table.compressibility, table.damping
        local = None if isinstance(b, float | str) else b.factor * self.speed**2
        return MethodOptions(
            compressibility=b if isinstance(b, float) else local,
            local=local is not None,
            flux=table.flux,
            reconstruction=table.reconstruction or "third",
            limiter=table.limiter,
            damping=damping.type if damping else "jst",
            fourth=damping.fourth if damping else 1 / 64,
            march=table.explicit,
            cfl=table.cfl if isinstance(table.cfl, float) else None,
            global_steps=table.steps == "global",
            pressure_cell=self.domain.nearest(table.pressure_at) if table.pressure_at else None,
        )

    @property
    def _spacing(self) -> tuple[float, float, float] | None:
        """The spacing of identical Cartesian cells, if friction needs no gradients along faces; else None."""
        keys = dict(self.sim.case.table("grid"))
        skewed = any(keys["stretching"]) or keys["distortion"] or keys["turned"] if keys["shape"] == "box" else True
        if skewed or self.grid.turns or self.domain.motion is not None or self.sim.case.turbulence is not None:
            return None
        return triple(length / cells for length, cells in zip(keys["lengths"], keys["cells"], strict=True))

    @property
    def constant_fields(self) -> tuple[Field, ...]:
        """Metrics, kinds of sides, their velocities, corners of cells."""
        return constant_fields(self.model, self.sim.dtype, corners=bool(self.measures.forces.sides))

    @property
    def constants(self) -> MetricFields:
        tables, body = self.sim.case.table("boundaries"), self.sim.case.table("body")
        of_case = tables, body, self.constant_fields, self.domain.unit
        return MetricFields(self.domain, self.model.sides, *of_case, bodies=self.bodies)

    @property
    def inflows(self) -> MetricFields | None:
        return self.constants if self.constants.changing else None

    @property
    def clock(self) -> Clock:
        """Steps of pseudo-time, counted as time, or physical time steps."""
        time = self.sim.case.time
        clock = self.sim.case.clock(self.model.step_limit(time.step, time.cfl or 1.0, math.inf))
        return replace(clock, motion=self.surroundings.longest) if self.surroundings else clock

    @property
    def advective_rate(self) -> float:
        """In physical time the largest sum of |S| / V, times the reference speed."""
        return self.model.real.rest if self.model.real else 0.0

    @cached_property
    def outlook(self) -> Outlook:
        if not self.model.real:
            return Outlook()
        rate = self.advective_rate
        return Outlook(rate, AROUND_BODIES, references.foresight(self.sim.case, self.domain, rate / self.speed))

    @property
    def steady_criterion(self) -> ResidualCriterion | InnerCriterion:
        """The residual criterion of the steady state, or of the end of a physical time step."""
        case, accept = self.sim.case, self.sim.case.own.stall == "accept"
        if self.model.real:
            return InnerCriterion(self.model, self.domain)
        every, patience = case.own.looks(case.monitor.every)
        below = case.table("time").steady
        return ResidualCriterion(self.model, below, every, accept, self.domain.thickness, patience)

    @cached_property
    def given(self) -> GivenRanges:
        case, method = self.sim.case, self.model.method
        limits = (method.flux, method.reconstruction, method.limiter) == ("upwind", "third", "none")
        remedy = 'give method.limiter = "van-albada", or more cells' if limits else "give more cells"
        names = [*(["T"] if case.heat else []), *(scalar.name for scalar in case.scalars)]
        return GivenRanges.of(case, dict.fromkeys(names, remedy), self.domain.boxes)

    @property
    def iteration_name(self) -> str:
        return f"{self.model.look} steps of pseudo-time"

    @property
    def remedy(self) -> str:
        return f"{self.model.remedy}; the flow may be unsteady"

    @cached_property
    def measures(self) -> CompressibilityMeasures:
        tables = self.sim.case.table("boundaries").sides
        walls = tuple(side for side in self.model.sides if side.kind.solid)
        middles = {side.name: np.mean(self.domain.around(side.name), axis=0).tolist() for side in walls}
        about = {name: tables[name].moment_about or (x, y, z) for name, (x, y, z) in middles.items()}
        normal = self.domain.normal
        span = 1.0 if normal is None else float(np.ptp(self.grid.charts[0].vertices[normal]))
        forces = Forces(self.model, walls, about, bool(walls))
        named = {opening.name for opening in self.sim.case.openings}
        open_ones = tuple(side for side in self.model.sides if side.name in named and not side.kind.solid)
        through = Forces(self.model, open_ones, {}, openings=True)
        if self.bodies is None:
            return CompressibilityMeasures(self.model, forces, through, span, self.domain.motion)
        moving = self.bodies.moving
        turning = frozenset(name for name, motion in moving.items() if motion.angle.varies)
        bodies = BodyForces(self.model.cells, self.model.numbers, self.bodies.points, self.domain.unit, turning)
        return CompressibilityMeasures(self.model, forces, through, span, bodies=bodies, moving=moving)

    @property
    def initial(self) -> dict[str, Any]:
        return initial_profiles(self.sim.case)

    @property
    def scales(self) -> Scales:
        return references.scales(self.sim.case, self.domain, self.model)

    @property
    def attributes(self) -> dict[str, Any]:
        case = self.sim.case
        attributes: dict[str, Any] = {"viscosity": case.fluid.viscosity, "reference_speed": self.speed}
        attributes |= {TURBULENCE: case.turbulence.model} if case.turbulence else {}
        for name, side in case.table("boundaries").sides.items():
            attributes[f"boundary_{name}"] = side.type
            if side.kind.solid and not side.varies and case.motion is None:  # else records say how fast it is
                attributes[f"boundary_{name}_velocity"] = np.array(side.numbers)
        return attributes

    def check(self, start: float = 0.0) -> None:
        case = self.sim.case
        numbers = numbers_on(self.grid, dict(case), case.machine)
        _ = self.survey  # reports invalid bodies
        if self.surroundings is not None:
            path = self.surroundings.path(start, case.end_time)
            self.surroundings.check(start, path[-1], path, case.time.step)
        initial_fields_fit(self.initial, placed(self.grid, case.motion), numbers)
        sides_fit(case, self.domain, numbers)

    @property
    def warnings(self) -> tuple[str, ...]:
        return *super().warnings, *march_warnings(self.sim.case, self.model, self.domain.thickness)

    def solver_rows(self) -> Iterator[Row]:
        yield fluid_row(self.sim.case, self.speed)
        method, precision = self.model.method, self.sim.case.machine.precision
        yield Row("method", f"artificial compressibility, {self.model.marched}; {precision} precision")
        limited = "" if method.limiter == "none" else f" with the limiter {method.limiter}"
        damped = f"damping {method.damping} of {method.fourth:g}"
        scheme = damped if method.flux == "central" else f"{method.reconstruction}{limited}"
        yield Row("", f"{method.flux} fluxes, {scheme}", "detail")
        b = f"{'at least ' if method.local else ''}{method.least_compressibility(self.speed):.4g}"
        yield Row("", f"compressibility {b}, reference speed {self.speed:.4g}", "detail")
        for side in self.model.sides:
            if side.kind.described and not side.kind.permeable:
                yield Row("", f"{side.name}: {side.kind.described}")
        for n, opening in enumerate(self.sim.case.openings):
            faces = sum(patch.cells.volume for patch in self.grid.sides[opening.name])
            yield Row("" if n else "openings", f"{opening.name} in {opening.side}: {opening.type}, {faces} faces")

    def rows(self, cost: StepCost) -> Iterator[Row]:
        yield from super().rows(cost)
        if extra := self.model.extra_fields(self.sim.dtype):
            parts = [f"{field.nbytes} of {field.name}" for field in extra if field.values > 1]
            if rounded := sum(field.nbytes for field in extra if field.values == 1):
                parts.append(f"{rounded} of vectors and flow in single precision")
            yield Row("cells", f"bytes per cell: {', '.join(parts)}", "detail")
        if self.sim.case.turbulence:
            yield Row("eddies", eddies_described(self.sim.case))
        of = {depth: [name for name in self.model.state if cost.depths.get(name) == depth] for depth in (1, 2)}
        depths = (f"{depth} of {' '.join(names)}" for depth, names in of.items() if names)
        yield Row("stencil", f"layers of cells that are read around a cell: {', '.join(depths)}", "detail")

    @property
    def report(self) -> dict[str, Any]:
        b = self.model.method.least_compressibility(self.speed)
        return {"model": self.sim.case.own.type, "compressibility": b, "reference_speed": self.speed}
