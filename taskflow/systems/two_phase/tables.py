"""The tables [two_phase] and [[phases]] of a case, and their rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from taskflow.cases.formulas.values import non_negative, positive, tuple_of, unchosen
from taskflow.cases.language.capabilities import TIMED, Supports
from taskflow.cases.language.problems import Key, Problem, exclusive, missing, names_differ, numbered, present, wrong
from taskflow.cases.language.table import (
    Natural,
    NonNegative,
    Number,
    Table,
    Truth,
    Whole,
    entry,
    optional,
    reads,
    written,
)
from taskflow.cases.tables.boundaries import Boundaries, Boundary, called
from taskflow.cases.tables.control import Interval, Time
from taskflow.cases.tables.grid import AXES, GridTable, narrowest
from taskflow.cases.tables.initial import Profile, profile
from taskflow.cases.tables.machine import Machine
from taskflow.cases.tables.magnitudes import REMEDY, Magnitudes, lost_numbers
from taskflow.cases.tables.obstacles import Obstacles
from taskflow.cases.tables.openings import Openings
from taskflow.cases.tables.physics import FluidTable, Forcing
from taskflow.cases.tables.planes import Planes
from taskflow.cases.tables.pressure import PressureTable
from taskflow.cases.tables.probes import OFTEN, TAKEN, Isosurfaces, Probes, RecordTable
from taskflow.cases.tables.scalars import Corners, Scalars
from taskflow.cases.tables.statistics import Spectra
from taskflow.cases.tables.timed import Timed, placed
from taskflow.cases.timing.intervals import Every
from taskflow.common.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.systems.two_phase.start import PhaseShape, shapes_are_inside
from taskflow.systems.two_phase.wetting import walls_are_wetted

FIELDS = ("u", "v", "w", "p", "f", "phi", "kappa")
OWN = re.compile("f|phi|kappa|phi_[12]|f_1|mass|[bm]_[xyz]|[uvwp]_old")  # other fields of the model
SCHEMES = ("koren", "weno5", "quick", "central")
OF_LEVEL_SETS = ("reinitialise", "conserve", "thickness")
FASTEST = 0.5  # CFL number up to which sweeps keep shares between 0 and 1
SPLIT = 10  # ratio of densities up to which the gradient of the pressure may be split
JUMP = 10  # ratio of densities up to which the velocity form may be used
TWO = "give two numbers {}, of phase 1 and of phase 2"
OF_BODIES = "an interface meets bodies at about 90 degrees; omit it"
HEAT_OF_WALLS = "temperature", "heat_flux", "heat_transfer", "outside_temperature"
SUPPORTS = Supports(
    places={
        "bodies", "body.gravity", "boundaries", "boundaries.inflow.phase", "boundaries.vent.phase",
        "boundaries.wall.contact_angle", "fluid.scheme", "initial.velocity", "initial.noise", "initial.source",
        "initial.time", "obstacles", "openings", "particles", "pictures", "pressure", "scalars", TIMED,
    },
    lacks={
        "obstacles.motion": None,
        "obstacles.temperature": None,
        "bodies.treatment.immersed": None,
        "boundaries.wall.velocity.timed.placed": None,
        "boundaries.outflow.pressure.nonzero": None,
        "boundaries.outflow.pressure.timed": None,
        "boundaries.outflow.pressure.advected": None,
        **{f"openings.{key}": None for key in HEAT_OF_WALLS},
        "openings.roughness": None,
        "openings.pressure.nonzero": None,
        "openings.pressure.timed": None,
        "openings.pressure.advected": None,
        "boundaries.vent.pressure.nonzero": None,
        "boundaries.vent.pressure.timed": None,
        "boundaries.vent.temperature": None,
        "two_phase.contact_angle": "it is of each wall, boundaries.*.contact_angle; omit it here",
        "obstacles.contact_angle": OF_BODIES,
        "openings.contact_angle": None,
        "openings.obstacle": None,
        "fluid.viscosity": "two_phase.viscosity has the viscosities of both phases; omit it",
        "scalars.scheme.central": 'with two phases a scalar stays within bounds; give "koren", or omit it',
        "particles.response_time": "it is of one fluid, and differs between two phases; omit it: tracers follow"
        " both",
    },
    apart={("openings", "particles"): None},
)  # fmt: skip
LAYERS = 3  # cells on either side that differences of phi, and columns of shares, reach
MOST = 1e5  # ratio of densities: at 1e6 the pressure did not converge among 1000 droplets


def _initial(value: object) -> Profile | None:
    """Return an expression, or a number, the uniform share of phase 1: 0 or 1."""
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value not in (0, 1):
        raise BadInput("give an expression in x, y, z that is positive in phase 1, or the number 0 or 1")
    return profile(value)


def _scheme(value: object) -> Any:
    if value not in SCHEMES:
        raise BadInput(unchosen(value, [*SCHEMES]))
    return value


class PhaseFluidTable(FluidTable):
    """The fluid table next to [two_phase], which has the densities and viscosities."""

    viscosity: SkipJsonSchema[NonNegative] = 0.0
    scheme: Annotated[Any, reads(_scheme), WithJsonSchema({"type": "string", "enum": [*SCHEMES]})] = entry(
        "advection scheme of momentum: `koren` with mass fluxes, or up to a density ratio of 10 one of the others",
        "koren",
    )

    @classmethod
    def paths(cls) -> list[Key]:
        return [("scheme",)]

    def written(self) -> dict[str, Any]:
        return {"scheme": self.scheme}


class TwoPhaseTable(Table):
    """Two immiscible fluids. Phase 1 fills the cells with positive `initial`, or the `shapes` of phase 1."""

    density: Annotated[tuple[float, float], reads(tuple_of(positive, 2, TWO.format("> 0")))] = entry(
        "of phase 1 and of phase 2, with a ratio of at most 100000",
        remedy="give the densities of phase 1 and of phase 2, two numbers > 0",
    )
    viscosity: Annotated[tuple[float, float], reads(tuple_of(non_negative, 2, TWO.format(">= 0")))] = entry(
        "dynamic, of phase 1 and of phase 2",
        remedy="give the dynamic viscosities of phase 1 and of phase 2, two numbers >= 0",
    )
    surface_tension: NonNegative = entry("between both phases", 0.0)
    method: Literal["levelset", "vof"] = entry(
        "interface method: a level set, or a volume of fluid with planes in cells, which keeps both volumes to"
        " rounding",
        "levelset",
    )
    initial: Annotated[Profile | None, reads(_initial)] = optional(
        "an [expression](#initial), positive in phase 1 and 0 on the interface, or the number 0 or 1, the"
        " fraction of phase 1 everywhere. In Python also a function f(x, y, z)",
        otherwise="this or `shapes` is required",
    )
    shapes: tuple[PhaseShape, ...] | None = optional(
        "initial regions of the phases, instead of `initial`. Where shapes overlap, the last one holds",
        otherwise="this or `initial` is required",
        remedy="give a list of tables, each under [[two_phase.shapes]]",
    )
    background: Literal[1, 2] | None = optional("with `shapes`: the phase outside them", otherwise="2, with `shapes`")
    viscosity_mean: Literal["harmonic", "arithmetic"] = entry("between the phases", "harmonic")
    reinitialise: Natural = entry("with `levelset`: number of iterations that make phi a distance after each step", 1)
    conserve: Truth = entry("with `levelset`: keep the volume of phase 1 by a shift of phi", True)
    smallest: Whole | None = optional(
        "with `vof`: every 10 steps each connected part of a phase with a volume below this number of cells becomes the"
        " other phase",
        otherwise="nothing is removed",
    )
    thickness: Number = entry("with `levelset`: half the width of the density transition, in spacings, 1 to 4", 1.5)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        remedy = "give an expression in x, y, z that is positive in phase 1, or two_phase.shapes"
        yield from exclusive(values, "initial", "shapes", needed=missing("initial", remedy))
        if values.get("shapes") in ([], ()):
            yield wrong("shapes", [], "give one shape or more, or omit it and give initial")
        if not present(values, "shapes"):
            for key in present(values, "background"):
                yield wrong(key, values[key], "it is what shapes do not cover; omit it, or give shapes")
        for key in present(values, *OF_LEVEL_SETS) if values.get("method") == "vof" else ():
            yield wrong(key, values[key], 'it is of two_phase.method = "levelset"; omit it')
        for key in present(values, "smallest") if values.get("method") != "vof" else ():
            yield wrong(key, values[key], 'it is of two_phase.method = "vof"; give that, or omit it')
        thickness = values.get("thickness", 1.5)
        if isinstance(thickness, int | float) and not 1 <= thickness <= 4:
            yield wrong("thickness", thickness, "give a number from 1 to 4: half a width in spacings")

    def written(self) -> dict[str, Any]:
        """Return the table as in a case file, without the keys that its method does not read."""
        omitted = OF_LEVEL_SETS if self.method == "vof" else ()
        return {key: value for key, value in super().written().items() if key not in omitted}


class PhaseTable(RecordTable):
    """Integrals over one phase."""

    phase: Literal[1, 2] = entry("1 or 2", remedy="give the phase, 1 or 2")
    box: Corners | None = optional("lowest and highest corner, rounded to whole cells", otherwise="the domain")
    every: Interval = entry(OFTEN, Every(steps=10))
    droplets: Truth = entry("also number, Sauter diameter and largest volumes of the connected parts", False)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if values.get("droplets") is True and present(values, "box"):
            yield wrong("droplets", True, "parts are those in the domain, and box cuts them; omit droplets, or box")


def _phases_have_names(
    tables: Mapping[str, Any], probes: Probes, planes: Planes, isosurfaces: Isosurfaces, spectra: Spectra
) -> Iterator[Problem]:
    known = [group for _, group in numbered(probes=probes, planes=planes, isosurfaces=isosurfaces, spectra=spectra)]
    used = {*TAKEN, *FIELDS, *(group.name for group in known)}
    yield from names_differ(used, numbered(phases=tables.get("phases", ())))


def _boxes_are_inside(tables: Mapping[str, Any], grid: GridTable, cells: StaggeredGrid) -> Iterator[Problem]:
    for key, table in numbered(phases=tables.get("phases", ())):
        if table.box is None:
            continue
        ends = ([cells.nearest_face(axis, corner[axis]) for corner in table.box] for axis in range(3))
        thin = [axis for axis, (low, high) in zip(AXES, ends, strict=True) if low >= high]
        if not grid.contains(*table.box):
            yield grid.beyond((*key, "box"), table.box)
        elif thin:
            remedy = f"along {thin[0]} the same face is nearest to both corners; give a box that has cells"
            yield wrong((*key, "box"), table.box, remedy)


def _blocks_are_thick(grid: GridTable, machine: Machine) -> Iterator[Problem]:
    if machine.blocks == "auto":
        return
    for axis, blocks, cells in zip(AXES, machine.blocks, grid.cells, strict=True):
        if blocks > 1 and cells // blocks < LAYERS:
            thin = f"the thinnest of {blocks} blocks along {axis} has {cells // blocks} cells, and needs {LAYERS}"
            yield wrong(("machine", "blocks"), machine.blocks, f"{thin}; give at most {max(1, cells // LAYERS)} there")


def _scalars_are_carried(scalars: Scalars) -> Iterator[Problem]:
    for key, scalar in numbered(scalars=scalars):
        if OWN.fullmatch(scalar.name):
            yield wrong((*key, "name"), scalar.name, "the model of two phases has a field of this name; give another")


def _isosurfaces_are_of_the_interface(two_phase: TwoPhaseTable, isosurfaces: Isosurfaces) -> Iterator[Problem]:
    for key, surface in numbered(isosurfaces=isosurfaces):
        if two_phase.method == "vof" and surface.field != "f":
            yield wrong((*key, "field"), surface.field, "with a volume of fluid a surface is of f; give f, at 0.5")
        elif surface.field not in ("f", "phi"):
            yield wrong((*key, "field"), surface.field, "a surface is of f or phi; give f, at 0.5, or phi, at 0")


def _pressure_converges(two_phase: TwoPhaseTable) -> Iterator[Problem]:
    low, high = sorted(two_phase.density)
    if high > MOST * low:
        remedy = "give densities of a ratio up to 100000; beyond it the pressure does not converge"
        yield wrong(("two_phase", "density"), list(two_phase.density), remedy)


def _numbers_can_be_computed(two_phase: TwoPhaseTable, cells: StaggeredGrid, machine: Machine) -> Iterator[Problem]:
    numbers = Magnitudes(narrowest(cells), 0.0, machine.precision)
    checks = {"density": Magnitudes.divisor, "viscosity": Magnitudes.plain, "surface_tension": Magnitudes.plain}
    yield from lost_numbers(numbers, {"two_phase": two_phase}, {TwoPhaseTable: checks})
    kinematic = max(two_phase.viscosity) / min(two_phase.density)
    if lost := numbers.diffuses(kinematic):
        about = f"over the least density it is up to {kinematic:.3g}; {lost}"
        yield wrong(("two_phase", "viscosity"), list(two_phase.viscosity), f"{about}; {REMEDY}")


def _momentum_is_kept(two_phase: TwoPhaseTable, fluid: PhaseFluidTable) -> Iterator[Problem]:
    low, high = sorted(two_phase.density)
    if fluid.scheme != "koren" and two_phase.method == "vof":
        remedy = 'with two_phase.method = "vof" the sweeps advect momentum; give "koren", or method = "levelset"'
        yield wrong(("fluid", "scheme"), fluid.scheme, remedy)
    elif fluid.scheme != "koren" and high > JUMP * low:
        remedy = f'it keeps no momentum where densities jump; give "koren", or densities of a ratio up to {JUMP}'
        yield wrong(("fluid", "scheme"), fluid.scheme, remedy)


def _sweeps_are_bounded(two_phase: TwoPhaseTable, time: Time) -> Iterator[Problem]:
    if two_phase.method == "vof" and time.cfl is not None and time.cfl > FASTEST:
        yield wrong(("time", "cfl"), time.cfl, f"a volume of fluid is bounded up to {FASTEST}; give that, or less")


def _pressure_can_be_solved(two_phase: TwoPhaseTable, pressure: PressureTable) -> Iterator[Problem]:
    low, high = sorted(two_phase.density)
    if pressure.solver == "fft" and high > SPLIT * low:
        remedy = f'it is for densities of a ratio up to {SPLIT}, and theirs is {high / low:g}; give "multigrid"'
        yield wrong(("pressure", "solver"), pressure.solver, remedy)
    if pressure.solver == "jacobi" and pressure.iterations is not None:
        remedy = "densities jump, and so few sweeps leave most of the divergence; give pressure.tolerance, or another"
        yield wrong(("pressure", "iterations"), pressure.iterations, f"{remedy} pressure.solver")


def _phases_enter(boundaries: Boundaries, opened: Openings, body: Forcing) -> Iterator[Problem]:
    sides = boundaries.sides.items()
    every: list[tuple[Key, str, Boundary]] = [(("boundaries", face), face, side) for face, side in sides]
    every += [(key, opening.side, opening) for key, opening in numbered(openings=opened)]
    for key, face, side in every:
        if key[0] == "openings" and side.kind.solid and placed(*(side.velocity or ())):
            remedy = "a wall has the same velocity everywhere, with two phases; give numbers or expressions of t"
            yield wrong((*key, "velocity"), written(side.velocity), remedy)
        falls = [axis for axis, g in zip(AXES, body.gravity, strict=True) if g and axis != face[0]]
        endless = [axis for axis in falls if f"{axis}_min" not in boundaries.sides]
        if side.kind.enters and side.phase is None:
            remedy = "give the phase that enters, 1 or 2, or an expression for the share of phase 1"
            yield missing("phase", remedy).within(key)
        elif not side.kind.enters and isinstance(side.phase, Timed):
            remedy = f"through {called(side.kind)} one phase enters; give 1 or 2"
            yield wrong((*key, "phase"), written(side.phase), remedy)
        if side.kind.fixes_pressure and (len(falls) > 1 or endless):
            remedy = (
                f"the pressure on it is the weight of the fluid above, and gravity acts along {' and '.join(falls)};"
                " give it one component along the side, with sides across it, too, or an outflow without pressure"
            )
            given = "type" if side.pressure is None else "pressure"
            yield wrong((*key, given), getattr(side, given), remedy)


def _bodies_have_faces(pressure: PressureTable, obstacles: Obstacles) -> Iterator[Problem]:
    if obstacles and pressure.solver == "fft":
        remedy = 'its equation ignores faces of bodies; give "multigrid", or omit it'
        yield wrong(("pressure", "solver"), pressure.solver, remedy)


TwoPhaseTable.rules = (
    _phases_have_names, _boxes_are_inside, shapes_are_inside, _blocks_are_thick, _isosurfaces_are_of_the_interface,
    _pressure_converges, _pressure_can_be_solved, _phases_enter, _bodies_have_faces,
    walls_are_wetted, _momentum_is_kept, _sweeps_are_bounded, _numbers_can_be_computed, _scalars_are_carried,
)  # fmt: skip
