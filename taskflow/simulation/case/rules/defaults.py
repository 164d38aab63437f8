"""The defaults that a table of a case takes from another."""

from collections.abc import Iterator, Mapping
from typing import Any

from taskflow.simulation.case.boundaries import FACES, Boundaries
from taskflow.simulation.case.physics import Grid, Heat
from taskflow.simulation.case.problems import present
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.case.turbulence import Turbulence
from taskflow.simulation.expression import Expression

TOLERANCE = {"single": 1e-4, "double": 1e-6}
LOOSEST = 0.1  # a default that no grid makes larger
ROUNDING = {"single": 6e-8, "double": 1.1e-16}


def completed(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a sound case with the defaults that depend on other tables filled in."""
    heat, boundaries, initial, output = (tables[name] for name in ("heat", "boundaries", "initial", "output"))
    if output.fields is None:
        output = output.model_copy(update={"fields": all_fields(heat, tables["scalars"], tables["turbulence"])})
    statistics = tables["statistics"]
    if statistics and statistics.fields is None:
        fields = all_fields(heat, tables["scalars"], tables["turbulence"])
        statistics = statistics.model_copy(update={"fields": fields})
    if heat:
        if initial.temperature is None:
            initial = initial.model_copy(update={"temperature": Expression(heat.reference)})
        boundaries = boundaries.model_copy(update=dict(_with_heat(boundaries, heat)))
    pressure, precision = tables["pressure"], tables["machine"].precision
    if pressure.max_iterations is not None and pressure.tolerance is None:
        tolerance = max(TOLERANCE[precision], min(_left(tables["grid"], precision), LOOSEST))
        pressure = pressure.model_copy(update={"tolerance": tolerance})
    completed = {"boundaries": boundaries, "initial": initial, "output": output, "pressure": pressure}
    return {**tables, **completed, "statistics": statistics}


def _left(grid: Grid, precision: str) -> float:
    """About the relative residual that the digits of p leave of the smoothest right-hand side, whatever the solver.

    Rounding of p is multiplied by 1 / spacing^2, p itself by 1 / length^2. In single precision 6e-5 was left at 128^3
    and 1.1e-3 at 512^3 of a Taylor-Green vortex.
    """
    narrowest = grid.staggered((False, False, False)).narrowest
    rows = [(length, narrowest(a)) for a, length in enumerate(grid.lengths) if grid.cells[a] > 1]
    longest, finest = max((length for length, _ in rows), default=1.0), min((step for _, step in rows), default=1.0)
    return ROUNDING[precision] * (longest / finest) ** 2 / 10


def all_fields(heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None) -> tuple[str, ...]:
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
