"""Which spectra are averaged over time: [[spectra]]."""

from collections.abc import Iterator
from math import prod
from typing import Annotated, Literal

from taskflow.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.simulation.case.boundaries import Boundaries
from taskflow.simulation.case.control import EVERYTHING, Interval, names
from taskflow.simulation.case.grid import AXES, Grid
from taskflow.simulation.case.obstacles import Obstacles
from taskflow.simulation.case.probes import GroupName, named
from taskflow.simulation.case.problems import Problem, numbered, unknown_fields, wrong
from taskflow.simulation.case.table import NonNegative, Table, entry, listed, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import one_of, text

MOST = 2**24  # numbers of one field, which one process has in memory to write them
ALONG = ("x", "y", "z", "all")


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    """Two different names each, no two alike in any order."""
    if not isinstance(value, (list, tuple)):
        raise BadInput('give a list of pairs of names, as [["u", "w"]]')
    pairs = []
    for pair in value:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise BadInput('give pairs of names, as [["u", "w"]]')
        one, other = pair
        if one == other:
            raise BadInput(f"name two different fields; the spectrum of {text(one)} itself is that of fields")
        if (one, other) in pairs or (other, one) in pairs:
            raise BadInput(f"give the pair of {text(one)} and {text(other)} once")
        pairs.append((one, other))
    return tuple(pairs)


class Spectrum(Table):
    """Spectra of some fields along one direction, or over shells of wavenumber."""

    name: GroupName = named()
    along: Annotated[Literal["x", "y", "z", "all"], reads(one_of(*ALONG))] = entry(
        "a periodic direction of uniform cells; `all`, where all are: over shells of wavenumber",
        remedy='give the direction, x, y or z, or "all"',
    )
    start: NonNegative = entry("the time from which on samples count", 0.0)
    every: Interval = entry("as `output.every`: when a sample is taken. Cuts no step", Every(steps=10))
    write: Interval | None = entry(
        "as `output.every`: when the mean over the samples since the last record is written, besides the end",
        None,
        otherwise="only at the end",
    )
    fields: Annotated[tuple[str, ...] | None, reads(names)] = entry("as `output.fields`", None, otherwise=EVERYTHING)
    pairs: Annotated[tuple[tuple[str, str], ...], reads(_pairs)] = entry(
        'pairs of fields, as `[["u", "w"], ["w", "T"]]`: [co-spectra](../howto/statistics.md#co-spectra) besides, and'
        " along a direction quadrature spectra",
        (),
    )


spectra = listed(Spectrum, "tables, each under [[spectra]]")
Spectra = Annotated[tuple[Spectrum, ...], reads(spectra)]


def _fields_exist(fields: tuple[str, ...], spectra: Spectra) -> Iterator[Problem]:
    for key, one in numbered(spectra=spectra):
        yield from unknown_fields((*key, "fields"), one.fields, fields)
        for pair in one.pairs:
            yield from unknown_fields((*key, "pairs"), pair, fields)


def _directions_have_waves(staggered: StaggeredGrid, spectra: Spectra) -> Iterator[Problem]:
    for key, one in numbered(spectra=spectra):
        for axis, name in enumerate(AXES):
            if one.along not in (name, "all"):
                continue
            if not staggered.periodic[axis]:
                problem = f"{name} is not periodic; choose a direction that is"
            elif not staggered.uniform[axis]:
                problem = f"{name} is stretched; choose a direction of uniform cells"
            elif staggered.cells[axis] == 1 and one.along != "all":
                problem = f"there is one cell along {name}, and no wave; choose another direction"
            else:
                continue
            yield wrong((*key, "along"), one.along, problem)


def _there_are_not_too_many(
    grid: Grid, boundaries: Boundaries, obstacles: Obstacles, spectra: Spectra
) -> Iterator[Problem]:
    """Where nothing is alike, every line has a spectrum."""
    for key, one in numbered(spectra=spectra):
        if one.along == "all":
            continue
        alike = {axis for axis in AXES if getattr(boundaries, axis) is not None and not obstacles}
        lines = prod(cells for axis, cells in zip(AXES, grid.cells, strict=True) if axis not in (one.along, *alike))
        numbers = lines * (grid.cells[AXES.index(one.along)] // 2)
        if numbers > MOST:
            remedy = f"{lines} lines are not alike, and of {numbers} numbers {MOST} can be kept; record planes instead"
            yield wrong((*key, "along"), one.along, remedy)


RULES = (_fields_exist, _directions_have_waves, _there_are_not_too_many)
