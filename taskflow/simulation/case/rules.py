"""What tables of a case must have in common, and the defaults that one takes from another."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from taskflow.flow import StaggeredGrid
from taskflow.flow.obstacles import MOST
from taskflow.simulation.case.boundaries import AXES, FACES, Boundaries
from taskflow.simulation.case.control import Output, Time
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.obstacles import Obstacle
from taskflow.simulation.case.physics import Body, Grid, Heat
from taskflow.simulation.case.pressure import Pressure
from taskflow.simulation.case.problems import Problem, present, shown, wrong
from taskflow.simulation.case.scalar_rules import SCALAR_RULES
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.case.table import written
from taskflow.simulation.case.turbulence import Turbulence
from taskflow.simulation.expression import Expression
from taskflow.simulation.initial.spectrum import SPECTRA
from taskflow.simulation.initial.wave_sum import FLAT, Lattice

MOST_WAVES = 1 << 21  # some hundred megabytes while their amplitudes are computed, on every block
MOST_SNAPSHOTS = 1_000_000
LEAST_TOLERANCE = {"single": 1e-5, "double": 1e-13}  # some hundred roundings
TOLERANCE = {"single": 1e-4, "double": 1e-6}
LOOSEST = 0.1  # a default that no grid makes larger
ROUNDING = {"single": 6e-8, "double": 1.1e-16}
FEWEST = 4  # cells in a row that multigrid can make fewer of
NO_HEAT = "this case has no temperature; add a [heat] table with diffusivity, or leave it out"


def contradictions(tables: Mapping[str, Any]) -> Iterator[Problem]:
    """All that tables say against each other. A rule is passed over where one of its tables is missing or wrong."""
    for rule, names in RULES:
        if all(name in tables for name in names):
            yield from rule(*(tables[name] for name in names))


def _blocks_have_planes(grid: Grid, machine: Machine) -> Iterator[Problem]:
    if machine.blocks == "auto":
        return
    for axis, blocks, cells in zip(AXES, machine.blocks, grid.cells, strict=True):
        if blocks > cells:
            remedy = f"{blocks} blocks in {axis}, but {cells} planes of cells; give at most {cells}"
            yield wrong(("machine", "blocks"), machine.blocks, remedy)
    if machine.workers != "auto" and machine.workers > math.prod(machine.blocks):
        remedy = f"more processes than the {math.prod(machine.blocks)} blocks; give at most as many"
        yield wrong(("machine", "workers"), machine.workers, remedy)


def _walls_have_room(grid: Grid, boundaries: Boundaries) -> Iterator[Problem]:
    for face in FACES:
        side = getattr(boundaries, face)
        axis = face[0]
        if side and side.type in ("wall", "inflow", "outflow") and grid.cells[AXES.index(axis)] == 1:
            kind = f"{'a' if side.type == 'wall' else 'an'} {side.type}"
            remedy = f'one cell in {axis} has no room for {kind}; give {axis} = "periodic" for 2D, or more cells'
            yield wrong(("boundaries", face), side.written(), remedy)


def _heat_is_on(heat: Heat | None, boundaries: Boundaries, initial: Initial) -> Iterator[Problem]:
    for face in FACES:
        side = getattr(boundaries, face)
        for option in ("temperature", "heat_flux", "heat_transfer"):
            value = getattr(side, option, None)
            if value is None:
                continue
            if heat is None:
                yield wrong(("boundaries", face, option), written(value), NO_HEAT)
            elif option != "temperature" and value != 0 and heat.diffusivity == 0:
                yield wrong(("boundaries", face, option), value, "no heat flows without heat.diffusivity; give one")
        table = getattr(side, "table", None)
        if heat is None and table and "T" in table.names:
            message = "it has T, but this case has no temperature; add a [heat] table, or leave the column out"
            yield wrong(("boundaries", face, "table"), table.source, message)
    if heat is None and initial.temperature is not None:
        yield wrong(("initial", "temperature"), initial.temperature.source, NO_HEAT)


def _outflow_is_determined(boundaries: Boundaries) -> Iterator[Problem]:
    """Convection knows how fast, but not how much leaves through which of several sides; pressure does."""
    sides = {face: side for face in FACES if (side := getattr(boundaries, face))}
    leaving = [face for face, side in sides.items() if side.type == "outflow"]
    carried = [face for face in leaving if sides[face].pressure is None]
    for face in carried:
        if len(leaving) > 1:
            yield wrong(
                ("boundaries", face), sides[face].written(),
                f"with {len(leaving)} outflows pressure decides how much leaves where; give all of them pressure = 0",
            )  # fmt: skip
        elif all(side.type != "inflow" for side in sides.values()):
            yield wrong(
                ("boundaries", face), sides[face].written(),
                "nothing enters that could leave; give an inflow, or the outflow pressure = 0",
            )  # fmt: skip


def _inflow_fits_its_side(boundaries: Boundaries) -> Iterator[Problem]:
    for face in FACES:
        side, axis = getattr(boundaries, face), AXES.index(face[0])
        law, table = getattr(side, "log_law", None), getattr(side, "table", None)
        inward = -1.0 if face.endswith("max") else 1.0
        if law and law.up == face[0]:
            yield wrong(("boundaries", face, "log_law", "up"), law.up, f"the wind would not blow through {face}")
        elif law and law.direction and law.direction[axis] * inward <= 0:
            sign = ">" if inward > 0 else "<"
            remedy = f"the wind has to blow in at {face}; give a direction with {face[0]} {sign} 0"
            yield wrong(("boundaries", face, "log_law", "direction"), law.direction, remedy)
        elif law and law.direction and law.direction[AXES.index(law.up)] != 0:
            remedy = f"the wind blows along the ground; give 0 as its {law.up} component"
            yield wrong(("boundaries", face, "log_law", "direction"), law.direction, remedy)
        if table and "T" in table.names and side.temperature is not None:
            remedy = "the table has T as well; give one of them"
            yield wrong(("boundaries", face, "temperature"), written(side.temperature), remedy)
        if table and face[0] in table.axes:
            remedy = f"{face} has one {face[0]}; leave the column {face[0]} out"
            yield wrong(("boundaries", face, "table"), table.source, remedy)


def _rough_walls_are_resolved(grid: Grid, boundaries: Boundaries, turbulence: Turbulence | None) -> Iterator[Problem]:
    for face in FACES:
        roughness = getattr(getattr(boundaries, face), "roughness", None)
        if roughness is None:
            continue
        key, axis = ("boundaries", face, "roughness"), AXES.index(face[0])
        most = grid.lengths[axis] / grid.cells[axis] / 2
        if turbulence is None:
            yield wrong(key, roughness, "the law of the wall is one of turbulent flow; add a [turbulence] table")
        elif roughness > most:
            remedy = f"the first cell is not as far from the wall; give at most {most:g}, or fewer cells in {face[0]}"
            yield wrong(key, roughness, remedy)


def _fields_exist(
    heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None, output: Output
) -> Iterator[Problem]:
    fields = _all_fields(heat, scalars, turbulence)
    for name in output.fields or ():
        if name not in fields:
            hint = {"T": "; T needs a [heat] table", "nu_t": "; nu_t needs a [turbulence] table"}.get(name, "")
            message = f"this case has no field {shown(name)}; it has {', '.join(fields)}{hint}"
            yield wrong(("output", "fields"), output.fields, message)


def _snapshots_can_be_counted(time: Time, output: Output) -> Iterator[Problem]:
    every = output.every
    if every is None:
        return
    count = 0.0
    if time.end is not None and every.time is not None:
        count = time.end / every.time
    elif time.steps is not None and every.steps is not None:
        count = time.steps / every.steps
    if count > MOST_SNAPSHOTS:
        remedy = f"this is {count:.3g} snapshots; give a longer interval, for at most {MOST_SNAPSHOTS}"
        yield wrong(("output", "every"), every.written(), remedy)


def _tolerance_can_be_reached(pressure: Pressure, machine: Machine) -> Iterator[Problem]:
    least = LEAST_TOLERANCE[machine.precision]
    if pressure.tolerance is not None and not least <= pressure.tolerance < 1:
        rounded = f"residuals are relative, and rounded in {machine.precision} precision"
        remedy = f"{rounded}; give {least:g} or more, below 1"
        yield wrong(("pressure", "tolerance"), pressure.tolerance, remedy)


def _levels_are_no_finer(pressure: Pressure, machine: Machine) -> Iterator[Problem]:
    if pressure.precision == "double" and machine.precision == "single":
        remedy = 'machine.precision is "single", and corrections cannot be finer; leave it out'
        yield wrong(("pressure", "precision"), pressure.precision, remedy)


def _multigrid_has_cells(grid: Grid, pressure: Pressure) -> Iterator[Problem]:
    if pressure.solver == "multigrid" and max(grid.cells) < FEWEST:
        remedy = f'{" x ".join(map(str, grid.cells))} cells are too few to coarsen; give "fft" or "jacobi"'
        yield wrong(("pressure", "solver"), pressure.solver, remedy)


def _bulk_velocity_is_free(boundaries: Boundaries, body: Body) -> Iterator[Problem]:
    if body.bulk_velocity is None:
        return
    for axis, mean, acceleration in zip(AXES, body.bulk_velocity.means, body.force, strict=True):
        if mean is None:
            continue
        key = ("body", "bulk_velocity", axis)
        if getattr(boundaries, axis) is None:
            remedy = f'what flows along {axis} has to come back; give boundaries.{axis} = "periodic", or leave it out'
            yield wrong(key, mean, remedy)
        if acceleration != 0:
            remedy = f"it takes the force that it needs; give 0 for body.force along {axis} (now {acceleration:g})"
            yield wrong(key, mean, remedy)
    if any(body.geostrophic_wind):
        remedy = "body.bulk_velocity drives the flow, too; leave one of them out"
        yield wrong(("body", "geostrophic_wind"), body.geostrophic_wind, remedy)


def _bulk_velocity_is_without_bodies(body: Body, obstacles: tuple[Obstacle, ...]) -> Iterator[Problem]:
    if body.bulk_velocity is not None and obstacles:
        remedy = "not available in this version with obstacles, as these change it; give body.force"
        yield wrong(("body", "bulk_velocity"), body.bulk_velocity.written(), remedy)


def _wind_is_geostrophic(body: Body) -> Iterator[Problem]:
    if any(body.geostrophic_wind) and not any(body.rotation):
        remedy = "without rotation no Coriolis force balances it; give body.rotation, or leave it out"
        yield wrong(("body", "geostrophic_wind"), body.geostrophic_wind, remedy)


def _noise_has_waves(grid: Grid, boundaries: Boundaries, initial: Initial) -> Iterator[Problem]:
    if initial.noise is None:
        return
    x, y, z = (getattr(boundaries, axis) is not None for axis in AXES)
    staggered, noise = StaggeredGrid(grid.cells, grid.lengths, periodic=(x, y, z)), initial.noise
    waves = Lattice(staggered, SPECTRA[noise.spectrum].end * noise.wavenumber)
    if len(waves.dimensions) < 2:
        remedy = f"it needs two directions of more than {FLAT} cells; give more, or leave it out"
        yield wrong(("initial", "noise"), noise.written(), remedy)
        return
    least, most = (min(f(axis) for axis in waves.dimensions) for f in (waves.unit, waves.finest))
    if not least <= noise.wavenumber <= most:
        remedy = f"the domain and its cells have waves of {least:g} to {most:g}; give one of these"
        yield wrong(("initial", "noise", "wavenumber"), noise.wavenumber, remedy)
    elif waves.size > MOST_WAVES:
        remedy = f"its spectrum has {waves.size:.3g} waves in this domain; give a smaller one, for at most {MOST_WAVES}"
        yield wrong(("initial", "noise", "wavenumber"), noise.wavenumber, remedy)


def _obstacles_have_heat(heat: Heat | None, obstacles: tuple[Obstacle, ...]) -> Iterator[Problem]:
    for n, obstacle in enumerate(obstacles, start=1):
        if heat is None and obstacle.temperature is not None:
            yield wrong(("obstacles", f"[{n}]", "temperature"), obstacle.temperature, NO_HEAT)


def _eddies_meet_no_obstacles(turbulence: Turbulence | None, obstacles: tuple[Obstacle, ...]) -> Iterator[Problem]:
    if turbulence is not None and obstacles:
        remedy = "not available around obstacles in this version; leave out [turbulence] or [[obstacles]]"
        yield wrong(("turbulence", "model"), turbulence.model, remedy)


def _eddies_carry_centrally(
    turbulence: Turbulence | None, heat: Heat | None, scalars: Scalars
) -> Iterator[Problem]:
    remedy = 'not available with turbulence in this version; give scheme = "central"'
    if turbulence is not None and heat is not None and heat.scheme != "central":
        yield wrong(("heat", "scheme"), heat.scheme, remedy)
    for n, scalar in enumerate(scalars if turbulence is not None else (), start=1):
        if scalar.scheme != "central":
            yield wrong(("scalars", f"[{n}]", "scheme"), scalar.scheme, remedy)


def _forces_can_be_followed(obstacles: tuple[Obstacle, ...]) -> Iterator[Problem]:
    names = list(dict.fromkeys(obstacle.name for obstacle in obstacles if obstacle.name))
    if len(names) > MOST:
        remedy = f"the forces on at most {MOST} bodies are followed; leave out names, or give several parts one name"
        yield wrong(("obstacles",), f"{len(names)} names", remedy)


def _forcing_is_for_obstacles(pressure: Pressure, obstacles: tuple[Obstacle, ...]) -> Iterator[Problem]:
    if pressure.forcing is not None and not obstacles:
        yield wrong(("pressure", "forcing"), pressure.forcing, "this case has no [[obstacles]]; leave it out")


RULES = (
    (_blocks_have_planes, ("grid", "machine")),
    (_walls_have_room, ("grid", "boundaries")),
    (_heat_is_on, ("heat", "boundaries", "initial")),
    (_outflow_is_determined, ("boundaries",)),
    (_inflow_fits_its_side, ("boundaries",)),
    (_fields_exist, ("heat", "scalars", "turbulence", "output")),
    *SCALAR_RULES,
    (_rough_walls_are_resolved, ("grid", "boundaries", "turbulence")),
    (_snapshots_can_be_counted, ("time", "output")),
    (_tolerance_can_be_reached, ("pressure", "machine")),
    (_multigrid_has_cells, ("grid", "pressure")),
    (_levels_are_no_finer, ("pressure", "machine")),
    (_noise_has_waves, ("grid", "boundaries", "initial")),
    (_bulk_velocity_is_free, ("boundaries", "body")),
    (_bulk_velocity_is_without_bodies, ("body", "obstacles")),
    (_wind_is_geostrophic, ("body",)),
    (_obstacles_have_heat, ("heat", "obstacles")),
    (_eddies_meet_no_obstacles, ("turbulence", "obstacles")),
    (_eddies_carry_centrally, ("turbulence", "heat", "scalars")),
    (_forces_can_be_followed, ("obstacles",)),
    (_forcing_is_for_obstacles, ("pressure", "obstacles")),
)


def completed(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a sound case with the defaults that depend on other tables filled in."""
    heat, boundaries, initial, output = (tables[name] for name in ("heat", "boundaries", "initial", "output"))
    if output.fields is None:
        output = output.model_copy(update={"fields": _all_fields(heat, tables["scalars"], tables["turbulence"])})
    if heat:
        if initial.temperature is None:
            initial = initial.model_copy(update={"temperature": Expression(heat.reference)})
        boundaries = boundaries.model_copy(update=dict(_with_heat(boundaries, heat)))
    pressure, precision = tables["pressure"], tables["machine"].precision
    if pressure.max_iterations is not None and pressure.tolerance is None:
        tolerance = max(TOLERANCE[precision], min(_left(tables["grid"], precision), LOOSEST))
        pressure = pressure.model_copy(update={"tolerance": tolerance})
    return {**tables, "boundaries": boundaries, "initial": initial, "output": output, "pressure": pressure}


def _left(grid: Grid, precision: str) -> float:
    """About the relative residual that the digits of p leave of the smoothest right-hand side, whatever the solver.

    Rounding of p is multiplied by 1 / spacing^2, p itself by 1 / length^2. In single precision 6e-5 was left at 128^3
    and 1.1e-3 at 512^3 of a Taylor-Green vortex.
    """
    rows = [(length, length / n) for length, n in zip(grid.lengths, grid.cells, strict=True) if n > 1]
    longest, finest = max((length for length, _ in rows), default=1.0), min((step for _, step in rows), default=1.0)
    return ROUNDING[precision] * (longest / finest) ** 2 / 10


def _all_fields(heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None) -> tuple[str, ...]:
    carried, eddies = tuple(scalar.name for scalar in scalars), ("nu_t",) if turbulence else ()
    return ("u", "v", "w", "p", *(("T",) if heat else ()), *carried, *eddies)


def _with_heat(boundaries: Boundaries, heat: Heat) -> Iterator[tuple[str, Any]]:
    """Walls that said nothing of heat, now without heat flux; inflows, at the reference temperature."""
    for face in FACES:
        side = getattr(boundaries, face)
        if side and side.type == "wall" and not present(dict(side), "temperature", "heat_flux", "heat_transfer"):
            yield face, side.model_copy(update={"heat_flux": 0.0})
        if side and side.type == "inflow" and side.temperature is None and "T" not in getattr(side.table, "names", ()):
            yield face, side.model_copy(update={"temperature": heat.reference})
