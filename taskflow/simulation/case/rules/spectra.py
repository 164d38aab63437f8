"""What spectra must have in common with the rest of a case."""

from collections.abc import Iterator
from math import prod

from taskflow.simulation.case.boundaries import AXES, Boundaries
from taskflow.simulation.case.obstacles import Obstacles
from taskflow.simulation.case.physics import Grid, Heat
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.case.rules.defaults import all_fields
from taskflow.simulation.case.rules.fields import missing
from taskflow.simulation.case.rules.grid import sound
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.case.spectra import Spectra
from taskflow.simulation.case.turbulence import Turbulence

MOST = 2**24  # numbers of one field, which one process has in memory to write them


def _fields_exist(
    heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None, spectra: Spectra
) -> Iterator[Problem]:
    fields = all_fields(heat, scalars, turbulence)
    for n, one in enumerate(spectra, start=1):
        yield from missing(("spectra", f"[{n}]", "fields"), one.fields, fields)
        for pair in one.pairs:
            yield from missing(("spectra", f"[{n}]", "pairs"), pair, fields)


def _directions_have_waves(grid: Grid, boundaries: Boundaries, spectra: Spectra) -> Iterator[Problem]:
    staggered = sound(grid, boundaries)
    if staggered is None:
        return
    for n, one in enumerate(spectra, start=1):
        for axis, name in enumerate(AXES):
            if one.along not in (name, "all"):
                continue
            if not staggered.periodic[axis]:
                problem = f"{name} is not periodic; choose a direction that is"
            elif not staggered.uniform[axis]:
                problem = f"{name} is stretched; choose a direction of uniform cells"
            elif grid.cells[axis] == 1 and one.along != "all":
                problem = f"there is one cell along {name}, and no wave; choose another direction"
            else:
                continue
            yield wrong(("spectra", f"[{n}]", "along"), one.along, problem)


def _there_are_not_too_many(
    grid: Grid, boundaries: Boundaries, obstacles: Obstacles, spectra: Spectra
) -> Iterator[Problem]:
    """Where nothing is alike, every line has a spectrum."""
    for n, one in enumerate(spectra, start=1):
        if one.along == "all":
            continue
        alike = {axis for axis in AXES if getattr(boundaries, axis) is not None} if not obstacles else set[str]()
        lines = prod(cells for axis, cells in zip(AXES, grid.cells, strict=True) if axis not in (one.along, *alike))
        numbers = lines * (grid.cells[AXES.index(one.along)] // 2)
        if numbers > MOST:
            remedy = f"{lines} lines are not alike, and of {numbers} numbers {MOST} can be kept; record planes instead"
            yield wrong(("spectra", f"[{n}]", "along"), one.along, remedy)


RULES = (
    (_fields_exist, ("heat", "scalars", "turbulence", "spectra")),
    (_directions_have_waves, ("grid", "boundaries", "spectra")),
    (_there_are_not_too_many, ("grid", "boundaries", "obstacles", "spectra")),
)
