"""The system of an incompressible fluid, solved by projection: how it is made of a case, and what its log tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, ClassVar

from taskflow.errors import BadInput
from taskflow.flow import Monitor, NavierStokes
from taskflow.flow.bodies import Obstacles
from taskflow.flow.measures.energy_budget import EnergyBudget
from taskflow.flow.measures.surface_flux import SurfaceFlux
from taskflow.flow.models.projection.navier_stokes import VELOCITY
from taskflow.flow.poisson import relative_residual
from taskflow.output import FieldMetadata, through_sides
from taskflow.simulation.build.navier_stokes import model_described, navier_stokes, outflows_described
from taskflow.simulation.build.pressure import FORCING, choice, described, solver, sweeps
from taskflow.simulation.build.scales import Scales, advective_rate, scales
from taskflow.simulation.build.system import System
from taskflow.simulation.case import FACES, Case
from taskflow.simulation.case.case import all_fields
from taskflow.simulation.case.magnitudes import Magnitudes
from taskflow.simulation.inflow.inflow import InflowProfile, Inflows, moments, profiles
from taskflow.simulation.initial.initial import largest, noise
from taskflow.simulation.initial.initial import profiles as initial_profiles
from taskflow.simulation.initial.noise import RandomVelocity
from taskflow.simulation.records.series import Integral, geometry, sides
from taskflow.simulation.schedule import Tick

if TYPE_CHECKING:
    from taskflow.simulation.build.simulation import Simulation

WORDS = {
    "u": "velocity along x",
    "v": "velocity along y",
    "w": "velocity along z",
    "p": "pressure divided by density",
    "T": "temperature",
    "nu_t": "eddy viscosity",
}


@dataclass(frozen=True, eq=False)
class Measures:
    """The quantities that a line of the log has, of a state whose monitor has run. Picklable."""

    model: NavierStokes

    @cached_property
    def monitor(self) -> Monitor:
        """The program that measures."""
        return Monitor(self.model)

    @property
    def finite(self) -> tuple[str, ...]:
        """The names of those that are finite in a sane state."""
        integrals = (f"integral_{quantity.name}" for quantity in self.model.passive)
        return ("kinetic_energy", "divergence", "residual", *integrals)

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """The line, `wall` seconds after the first state: see CASE in the reference."""
        model, monitor, cells = self.model, self.monitor, self.model.staggered.box.volume
        numbers: dict[str, Any] = {
            "step": tick.step,
            "time": tick.time,
            "dt": tick.dt,
            "cfl": tick.dt * scalars["rate"],
            "divergence": scalars["divergence"],
            "residual": relative_residual(scalars),
            "iterations": model.pressure.taken(scalars) if tick.step else 0,
            "kinetic_energy": scalars["energy"] / cells,
            "wall": wall,
            "change": monitor.change(scalars, tick.dt),
        }
        numbers |= model.driving.forces(scalars, model.scheme, tick.dt, cells)
        if model.turbulence:
            numbers["eddy_viscosity"] = scalars["eddy"]
        if model.heat:
            numbers |= {f"nusselt_{face}": value for face, value in monitor.nusselt(scalars).items()}
        if model.obstacles:
            numbers["bodies"] = model.obstacles.found(scalars)
        return numbers | monitor.integrals(scalars)


@dataclass(frozen=True, eq=False)
class Projection(System):
    """The system that a case is of where it names no other."""

    fewest: ClassVar[int] = 8  # the velocity, its next one or its tendency, pressure and its right-hand side

    @classmethod
    def of(cls, sim: Simulation) -> Projection:
        """The system of a case, which is known to be this one."""
        assert isinstance(sim.system, cls)
        return sim.system

    @classmethod
    def fields(cls, tables: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the fields that a snapshot can have."""
        return all_fields(tables["heat"], tables["scalars"], tables["turbulence"])

    @classmethod
    def headline(cls, case: Case) -> str:
        """The solver of the pressure, in a line."""
        return f"Pressure: {described(case)}"

    @cached_property
    def model(self) -> NavierStokes:
        """The equations with their boundary conditions."""
        sim = self.sim
        near = sim.bodies.near if sim.case.obstacles else None
        pressure = solver(sim.case, sim.grid.constants, sim.blocks, sim.device, near)
        varying = any(profile.varies for side in self._profiles.values() for profile in side.values())
        return navier_stokes(sim.case, sim.grid, pressure, self.obstacles, varying=varying)

    @property
    def metadata(self) -> dict[str, FieldMetadata]:
        """The metadata of the fields, of which velocities, pressure, temperature and eddy viscosity have WORDS."""
        metadata = super().metadata
        return metadata | {name: replace(metadata[name], long_name=WORDS[name]) for name in WORDS.keys() & metadata}

    @cached_property
    def measures(self) -> Measures:
        """The quantities in the log."""
        return Measures(self.model)

    @property
    def initial(self) -> dict[str, Any]:
        """The initial fields by name."""
        return initial_profiles(self.sim.case)

    @property
    def noise(self) -> RandomVelocity | None:
        """The random velocity that is added to them."""
        return noise(self.sim.case, self.sim.grid)

    @property
    def advective_rate(self) -> float:
        """That of walls, inflows and initial velocity."""
        return advective_rate(self)

    @property
    def scales(self) -> Scales:
        """How large what is computed can get."""
        return scales(self)

    @cached_property
    def _profiles(self) -> dict[str, dict[str, InflowProfile]]:
        case = self.sim.case
        return {face: profiles(case, face) for face in FACES if case.boundary(face).type == "inflow"}

    @cached_property
    def inflows(self) -> Inflows:
        """The values that enter at inflows."""
        return Inflows(self.sim.grid, self._profiles, self.model.openings, self.sim.dtype)

    @cached_property
    def obstacles(self) -> Obstacles | None:
        """The bodies as the model knows them; None without any."""
        case = self.sim.case
        if not case.obstacles:
            return None
        forced = case.pressure.forcing or FORCING if choice(case).name == "fft" else 0
        return self.sim.bodies.obstacles(forced)

    @property
    def sweeps(self) -> int | None:
        """How many iterations each solve does whatever they leave."""
        return sweeps(self.sim.case)

    @property
    def budget(self) -> EnergyBudget | None:
        """The budget of the turbulent kinetic energy, where the case asks for one."""
        flow, table = self.model, self.sim.case.statistics
        if table is None or not table.budget:
            return None
        eddies, viscosity = flow.turbulence is not None, flow.fluid.viscosity
        return EnergyBudget(flow.grid, flow.boundaries, viscosity, eddies, self.obstacles)

    @property
    def surfaces(self) -> tuple[Integral, ...]:
        """The integrals over surfaces."""
        integrals = []
        for surface in self.sim.case.surfaces:
            around = sides(surface, self.sim.grid)
            measured = tuple(SurfaceFlux(self.model, side) for side in around)
            series = through_sides(surface.name, measured[0].names, *geometry(around, self.sim.grid))
            integrals.append(Integral(series, measured, surface.every))
        return tuple(integrals)

    def check(self) -> None:
        """Raises BadInput where a formula is not finite or too large, no length of a step can be found, more enters
        than can leave, and where bodies cannot be.
        """
        sim = self.sim
        _ = sim.survey  # finds what is wrong with bodies
        self.inflows.check(moments(sim.case))
        initial = largest(sim.case, sim.grid)
        self._check_sizes(initial)
        speeds = [value for name, value in initial.items() if name in VELOCITY]
        if len(speeds) == len(VELOCITY) and not self.inflows.profiles:
            sim.clock.limit.longest(max(speeds))

    def _check_sizes(self, initial: dict[str, float]) -> None:
        """Raises BadInput where what formulas give is too large for the equations."""
        case, grid, inflows = self.sim.case, self.sim.grid, self.inflows
        x, y, z = (grid.narrowest(axis) for axis in range(3))
        numbers = Magnitudes((x, y, z), case.fluid.viscosity, case.machine.precision)
        entering = zip(inflows.profiles, inflows.fastest(moments(case)), strict=True)
        sizes = [(f"boundaries.{face}", float(max(speeds)), "velocity") for face, speeds in entering]
        sizes += [(f"initial {name}", value, "velocity" if name in VELOCITY else "") for name, value in initial.items()]
        for key, value, kind in sizes:
            if lost := numbers.velocity(value) if kind and value > 1 else numbers.carried(value):
                raise BadInput(f"{key}: values of {value:g}; {lost}; give smaller ones")

    def described(self) -> Iterator[tuple[str, str]]:
        """Label and text of the line on the solver of the pressure."""
        yield "pressure", f"{described(self.sim.case)}; {self.sim.case.machine.precision} precision"

    def details(self) -> Iterator[tuple[str, str]]:
        """Label and text of each line on openings and eddies."""
        case = self.sim.case
        yield from zip(chain(["openings"], repeat("")), self._openings(), strict=False)
        if case.turbulence:
            yield "eddies", model_described(case)

    def _openings(self) -> Iterator[str]:
        """The sides where fluid enters and leaves."""
        inflows = self.inflows
        for face in inflows.profiles:
            speeds = inflows.inward(face, 0.0)
            often = " at first, and changes in time" if inflows.varies else ""
            yield f"{face}: fluid enters at {speeds.mean():.4g} on average, {speeds.max():.4g} at most{often}"
        yield from outflows_described(self.model)

    @property
    def report(self) -> dict[str, Any]:
        """The solver of the pressure."""
        chosen = choice(self.sim.case)
        return {"pressure": {"solver": chosen.name, "why": chosen.why}}
