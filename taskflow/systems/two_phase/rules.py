"""Rules on combinations of tables with two phases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from taskflow.cases.language.problems import Key, Problem, missing, names_differ, numbered, wrong
from taskflow.cases.language.table import Rule, written
from taskflow.cases.tables.boundaries import Boundaries, Boundary, called
from taskflow.cases.tables.control import Time
from taskflow.cases.tables.grid import AXES, GridTable, narrowest
from taskflow.cases.tables.machine import Machine
from taskflow.cases.tables.magnitudes import REMEDY, Magnitudes, lost_numbers
from taskflow.cases.tables.obstacles import Obstacles
from taskflow.cases.tables.openings import Openings
from taskflow.cases.tables.physics import Forcing
from taskflow.cases.tables.planes import Planes
from taskflow.cases.tables.pressure import PressureTable
from taskflow.cases.tables.probes import TAKEN, Isosurfaces, Probes
from taskflow.cases.tables.scalars import Scalars
from taskflow.cases.tables.statistics import Spectra
from taskflow.cases.tables.timed import Timed, placed
from taskflow.flow import StaggeredGrid
from taskflow.systems.two_phase.start import shapes_are_inside
from taskflow.systems.two_phase.tables import FIELDS, LAYERS, PhaseFluidTable, TwoPhaseTable
from taskflow.systems.two_phase.wetting import walls_are_wetted

OWN = re.compile("f|phi|kappa|phi_[12]|f_1|mass|[bm]_[xyz]|[uvwp]_old")  # other fields of the model
FASTEST = 0.5  # CFL number up to which sweeps keep shares between 0 and 1
SPLIT = 10  # ratio of densities up to which the gradient of the pressure may be split
JUMP = 10  # ratio of densities up to which the velocity form may be used
MOST = 1e5  # ratio of densities: at 1e6 the pressure did not converge among 1000 droplets


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


RULES: tuple[Rule, ...] = (
    _phases_have_names, _boxes_are_inside, shapes_are_inside, _blocks_are_thick, _isosurfaces_are_of_the_interface,
    _pressure_converges, _pressure_can_be_solved, _phases_enter, _bodies_have_faces,
    walls_are_wetted, _momentum_is_kept, _sweeps_are_bounded, _numbers_can_be_computed, _scalars_are_carried,
)  # fmt: skip
