"""The system of two phases: its tables [two_phase] and [[phases]], its model, and the numbers in its log."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from taskflow.errors import BadInput
from taskflow.flow import Fluid
from taskflow.flow.measures.phases import PhaseIntegrals, PhaseMonitor
from taskflow.flow.models.two_phase.level_set import LevelSet
from taskflow.flow.models.two_phase.two_phase import TwoPhase
from taskflow.flow.operators.phases import Phases
from taskflow.flow.poisson import Operator, relative_residual
from taskflow.output import FieldMetadata, of_phase
from taskflow.runtime.regions import Box
from taskflow.simulation.build.flow import FlowMeasures, FlowSystem
from taskflow.simulation.build.pressure import multigrid, sweeps
from taskflow.simulation.build.scales import Scale, Scales
from taskflow.simulation.case import Case
from taskflow.simulation.case.control import Interval
from taskflow.simulation.case.grid import GridTable
from taskflow.simulation.case.initial import Profile, profile
from taskflow.simulation.case.pressure import PressureTable
from taskflow.simulation.case.probes import OFTEN, TAKEN, GroupName, Isosurfaces, Planes, Probes, named
from taskflow.simulation.case.problems import Problem, numbered, wrong
from taskflow.simulation.case.scalars import Corners
from taskflow.simulation.case.statistics import Spectra
from taskflow.simulation.case.table import Natural, NonNegative, Number, Table, Truth, entry, reads
from taskflow.simulation.expression import Expression
from taskflow.simulation.records.series import Integral
from taskflow.simulation.schedule import Every, Tick
from taskflow.simulation.values import non_negative, positive

CFL, CAPILLARY = 0.3, 0.7
WORDS = {
    "p": "pressure",
    "f": "volume fraction of phase 1",
    "phi": "distance to the interface, positive in phase 1",
    "kappa": "curvature of the interface, positive around a droplet of phase 1",
}
METHODS = ("levelset", "vof")
MOST = 1e5  # ratio of densities: at 1e6 the pressure did not converge among 1000 droplets


def _pair(kind: Any, words: str) -> Any:
    def read(value: object) -> tuple[float, float]:
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise BadInput(f"give two numbers {words}, of phase 1 and of phase 2")
        first, second = (kind(number) for number in value)
        return first, second

    return reads(read)


def _interface(value: object) -> Profile:
    """An expression, or a number, the share of phase 1 everywhere: 0 or 1."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if value not in (0, 1):
            raise BadInput("give an expression in x, y, z that is positive in phase 1, or the number 0 or 1")
        return Expression(value - 0.5)
    return profile(value)


def _method(value: object) -> str:
    if value == "vof":
        raise BadInput('volume of fluid is not available in this version; give "levelset"')
    if value not in METHODS:
        raise BadInput('give "levelset"')
    return "levelset"


class TwoPhaseTable(Table):
    """Two immiscible fluids. Phase 1 is where `initial` is positive."""

    density: Annotated[tuple[float, float], _pair(positive, "> 0")] = entry(
        "of phase 1 and of phase 2; one may be 100000 times the other",
        remedy="give the densities of phase 1 and of phase 2, two numbers > 0",
    )
    viscosity: Annotated[tuple[float, float], _pair(non_negative, ">= 0")] = entry(
        "dynamic, of phase 1 and of phase 2",
        remedy="give the dynamic viscosities of phase 1 and of phase 2, two numbers >= 0",
    )
    surface_tension: NonNegative = entry("between both phases", 0.0)
    method: Annotated[Literal["levelset"], reads(_method)] = entry("how the interface is followed", "levelset")
    initial: Annotated[Profile, reads(_interface)] = entry(
        "phase 1 where it is positive, 0 on the interface: an [expression](#initial), which need not be a distance, or"
        " the number 0 or 1, the share of phase 1 everywhere",
        remedy="give an expression in x, y, z that is positive in phase 1",
    )
    viscosity_mean: Literal["harmonic", "arithmetic"] = entry("between the phases", "harmonic")
    reinitialise: Natural = entry("iterations by which phi is made a distance after each step", 1)
    conserve: Truth = entry("keep the volume of phase 1 by a shift of phi", True)
    thickness: Number = entry("half the width over which the density changes, in spacings: 1 to 4", 1.5)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        thickness = values.get("thickness", 1.5)
        if isinstance(thickness, int | float) and not 1 <= thickness <= 4:
            yield wrong("thickness", thickness, "give a number from 1 to 4: half a width in spacings")


class PhaseTable(Table):
    """Integrals over one phase."""

    name: GroupName = named()
    phase: Literal[1, 2] = entry("1 or 2", remedy="give the phase, 1 or 2")
    box: Corners | None = entry("its lowest and its highest corner; whole cells", None, otherwise="the domain")
    every: Interval = entry(OFTEN, Every(steps=10))


def _phases_have_names(
    tables: Mapping[str, Any], probes: Probes, planes: Planes, isosurfaces: Isosurfaces, spectra: Spectra
) -> Iterator[Problem]:
    known = [group for _, group in numbered(probes=probes, planes=planes, isosurfaces=isosurfaces, spectra=spectra)]
    taken = {*TAKEN, *TwoPhaseSystem.every_field, *(group.name for group in known)}
    for key, table in numbered(phases=tables.get("phases", ())):
        if table.name in taken:
            yield wrong((*key, "name"), table.name, "something in the store has this name; give another one")
        taken.add(table.name)


def _boxes_are_inside(tables: Mapping[str, Any], grid: GridTable) -> Iterator[Problem]:
    for key, table in numbered(phases=tables.get("phases", ())):
        if table.box is not None and not grid.contains(*table.box):
            yield grid.beyond((*key, "box"), table.box)


def _isosurfaces_are_of_the_interface(isosurfaces: Isosurfaces) -> Iterator[Problem]:
    for key, surface in numbered(isosurfaces=isosurfaces):
        if surface.field not in ("f", "phi"):
            yield wrong((*key, "field"), surface.field, "a surface is of f or phi; give f, at 0.5, or phi, at 0")


def _pressure_converges(two_phase: TwoPhaseTable) -> Iterator[Problem]:
    low, high = sorted(two_phase.density)
    if high > MOST * low:
        remedy = "give densities of a ratio up to 100000; beyond it the pressure does not converge"
        yield wrong(("two_phase", "density"), list(two_phase.density), remedy)


def _pressure_has_coefficients(pressure: PressureTable) -> Iterator[Problem]:
    if pressure.solver in ("fft", "jacobi"):
        remedy = 'its coefficient, 1/density, is variable; give "multigrid", or leave it out'
        yield wrong(("pressure", "solver"), pressure.solver, remedy)


TwoPhaseTable.rules = (
    _phases_have_names, _boxes_are_inside, _isosurfaces_are_of_the_interface, _pressure_converges,
    _pressure_has_coefficients,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TwoPhaseMeasures(FlowMeasures):
    """The quantities in the log of two phases."""

    model: TwoPhase
    residuals: ClassVar[tuple[str, ...]] = ("residual", "potential_energy", "area")

    @cached_property
    def monitor(self) -> PhaseMonitor:
        """The program that measures."""
        return PhaseMonitor(self.model, self.model.phases)

    def solved(self, scalars: Mapping[str, float], tick: Tick) -> dict[str, float]:
        """The relative residual of the pressure equation, and how many iterations it took."""
        iterations = self.model.pressure.taken(scalars) if tick.step else 0
        return {"residual": relative_residual(scalars), "iterations": iterations}

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """The line, `wall` seconds after the first state; the kinetic energy is the mean of rho |u|^2 / 2."""
        phases, numbers = self.model.phases, self.monitor.numbers(scalars)
        kept = self.model.interface.numbers(scalars) if tick.step else {}
        about = {"surface_energy": phases.surface_tension * numbers["area"]}
        return super().line(scalars, tick, wall) | numbers | about | kept


@dataclass(frozen=True, eq=False)
class TwoPhaseSystem(FlowSystem):
    """Two phases, selected by the table [two_phase]."""

    claims, table = "two_phase", TwoPhaseTable
    accepts: ClassVar[frozenset[str]] = frozenset(("body.gravity", "initial.velocity", "initial.noise", "pressure"))
    sides: ClassVar[frozenset[str]] = frozenset(("wall", "slip", "symmetry"))
    lists: ClassVar[Mapping[str, type[Table]]] = {"phases": PhaseTable}
    fewest: ClassVar[int] = 27
    every_field: ClassVar[tuple[str, ...]] = ("u", "v", "w", "p", "f", "phi", "kappa")

    @classmethod
    def prepared(cls, tables: Mapping[str, Any]) -> dict[str, Any]:
        """The tables, with `time.cfl` 0.3 where neither that nor a step is given."""
        time = tables.get("time")
        if isinstance(time, Mapping) and time.get("cfl") is None and time.get("step") is None:
            return {**tables, "time": {**time, "cfl": CFL}}
        return dict(tables)

    @classmethod
    def fields(cls, tables: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the fields that a snapshot can have: a curvature with surface tension."""
        return cls.every_field if tables["two_phase"].surface_tension else cls.every_field[:-1]

    @classmethod
    def headline(cls, case: Case) -> str:
        """The densities and the method, in a line."""
        first, second = case.own.density
        return f"Two phases: density {first:g} and {second:g}, level set"

    @cached_property
    def phases(self) -> Phases:
        """Densities, viscosities, surface tension and gravity."""
        own = self.sim.case.own
        (rho_1, rho_2), (mu_1, mu_2), arithmetic = own.density, own.viscosity, own.viscosity_mean == "arithmetic"
        return Phases(rho_1, rho_2, mu_1, mu_2, own.surface_tension, self.sim.case.body.gravity, arithmetic)

    @cached_property
    def model(self) -> TwoPhase:
        """The equations with their boundary conditions."""
        sim, own = self.sim, self.sim.case.own
        grid = sim.grid.constants
        interface = LevelSet(grid, own.thickness, own.reinitialise, own.conserve)
        pressure = multigrid(sim.case, Operator(grid, variable=True), sim.blocks, sim.device)
        fluid = Fluid(self.phases.kinematic_viscosity)
        given = {**self.physics, "fluid": fluid, "phases": self.phases, "interface": interface, "pressure": pressure}
        return TwoPhase(**given, capillary=sim.case.time.capillary or CAPILLARY)

    @cached_property
    def measures(self) -> TwoPhaseMeasures:
        """The quantities in the log."""
        return TwoPhaseMeasures(self.model)

    @property
    def metadata(self) -> dict[str, FieldMetadata]:
        """The metadata of the fields; p is a true pressure."""
        metadata = super().metadata
        return metadata | {name: replace(metadata[name], long_name=WORDS[name]) for name in WORDS.keys() & metadata}

    @property
    def initial(self) -> dict[str, Any]:
        """The initial velocity, and phi."""
        return {**super().initial, "phi": self.sim.case.own.initial}

    @property
    def scales(self) -> Scales:
        """The largest values that the case explains: weight and surface tension make either phase faster."""
        phases, known, h = self.phases, super().scales, min(self.sim.grid.spacing)
        fall = phases.ratio * math.hypot(*phases.gravity)
        bent = phases.surface_tension / (min(phases.density_1, phases.density_2) * h * h)
        speed = Scale(known.speed.largest, known.speed.gain + fall + bent)
        return replace(known, speed=speed, carried={"f": Scale(1.0)}, driven=True)

    @property
    def sweeps(self) -> int | None:
        """The number of iterations in each solve, where it is fixed."""
        return sweeps(self.sim.case)

    @property
    def surfaces(self) -> tuple[Integral, ...]:
        """The integrals over phases."""
        integrals = []
        for table in getattr(self.sim.case, "phases", ()):
            measured = PhaseIntegrals(self.sim.grid, table.name, table.phase, self._cells(table.box))
            series = of_phase(table.name, measured.names, {"phase": table.phase})
            integrals.append(Integral(series, (measured,), table.every))
        return tuple(integrals)

    def _cells(self, box: tuple[Any, Any] | None) -> Box:
        """The whole cells of a box, by the nearest faces."""
        grid = self.sim.grid
        if box is None:
            return grid.box
        lo, hi = ([grid.nearest_face(axis, place[axis]) for axis in range(3)] for place in box)
        return Box((lo[0], lo[1], lo[2]), (hi[0], hi[1], hi[2]))

    @property
    def attributes(self) -> dict[str, Any]:
        """The boundary conditions and the properties of both phases."""
        phases, known = self.phases, dict(super().attributes)
        known.pop("viscosity", None)  # there are two
        return known | {
            "density_1": phases.density_1, "density_2": phases.density_2, "viscosity_1": phases.viscosity_1,
            "viscosity_2": phases.viscosity_2, "surface_tension": phases.surface_tension,
        }  # fmt: skip

    def described(self) -> Iterator[tuple[str, str]]:
        """Label and text of each line on the phases and the bounds of a step."""
        phases, grid = self.phases, self.sim.grid
        yield "phases", f"level set; ratio of densities {phases.ratio:g}; {self.sim.case.machine.precision} precision"
        spacing = min(grid.spacing)
        wave = self.model.capillary * phases.capillary_step(spacing)
        if phases.surface_tension:
            yield "", f"a step is at most {wave:.3g}, the share {self.model.capillary:g} of the capillary limit"

    @property
    def report(self) -> dict[str, Any]:
        """The model, and the ratio of densities."""
        return {"model": "two_phase", "density_ratio": self.phases.ratio}

