"""Averages over time: [statistics], [[spectra]]."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import prod
from typing import Annotated, Any, Literal, Self

from taskflow.cases.formulas.values import checked, saying, text, whole
from taskflow.cases.language.problems import Problem, numbered, unknown_fields, wrong
from taskflow.cases.language.table import NonNegative, Table, Truth, entry, optional, reads
from taskflow.cases.tables.boundaries import Boundaries
from taskflow.cases.tables.control import EVERYTHING, FieldNames, Interval
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.obstacles import Obstacles
from taskflow.cases.tables.openings import Openings
from taskflow.cases.tables.probes import RecordTable
from taskflow.cases.timing.intervals import Every
from taskflow.common.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.flow.measures.statistics import VELOCITY, covariance_of

MOST = 2**24  # numbers of one field, which one process has in memory to write them
KEY = ("statistics", "fields")


ORDERS = "give 1 for means alone, or 2 for variances and covariances as well"
_order = saying(checked(whole, lambda order: order <= 2, ORDERS), ORDERS)


class StatisticsTable(Table):
    """Means and covariances in time."""

    start: NonNegative = entry("the time of the first sample", 0.0)
    every: Interval = entry("interval of samples", Every(steps=10))
    fields: FieldNames = optional(
        "some of the fields that `output.fields` may have, `u`, `v` and `w` together", otherwise=EVERYTHING
    )
    order: Annotated[Literal[1, 2], reads(_order)] = entry("1: means. 2: variances and covariances as well", 2)
    budget: Truth = entry(
        "also the terms of the [budget of turbulent kinetic energy](../howto/statistics.md#budget). Needs `order = 2`"
        " and u, v, w and p",
        False,
    )
    write: Interval | None = optional(
        "interval of records, in addition to the end", otherwise="only at the end"
    )

    def completed(self, tables: Mapping[str, Any]) -> Self:
        return self if self.fields is not None else self.model_copy(update={"fields": tables["fields"]})


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
            raise BadInput(f"name two different fields; the spectrum of {text(one)} itself is recorded by fields")
        if (one, other) in pairs or (other, one) in pairs:
            raise BadInput(f"give the pair of {text(one)} and {text(other)} once")
        pairs.append((one, other))
    return tuple(pairs)


class SpectrumTable(RecordTable):
    """Spectra of some fields along one direction, or over shells of wavenumber."""

    along: Literal["x", "y", "z", "all"] = entry(
        "a periodic direction of uniform cells, or `all` if all are: shells of wavenumber",
        remedy='give the direction, x, y or z, or "all"',
    )
    start: NonNegative = entry("the time of the first sample", 0.0)
    every: Interval = entry("interval of samples", Every(steps=10))
    write: Interval | None = optional(
        "interval of records, in addition to the end. A record is the mean over the samples since the last"
        " one. Equal to `every`: instantaneous spectra",
        otherwise="only at the end",
    )
    fields: FieldNames = optional("as `output.fields`", otherwise=EVERYTHING)
    pairs: Annotated[tuple[tuple[str, str], ...], reads(_pairs)] = entry(
        'pairs of fields, as `[["u", "w"], ["w", "T"]]`, for [co-spectra](../howto/statistics.md#co-spectra) and,'
        " along a direction, quadrature spectra",
        (),
    )


Spectra = tuple[SpectrumTable, ...]


def _fields_exist(recordable: tuple[str, ...], statistics: StatisticsTable | None) -> Iterator[Problem]:
    return unknown_fields(KEY, statistics.fields if statistics else None, recordable)


def _velocity_is_whole(statistics: StatisticsTable | None) -> Iterator[Problem]:
    names = (statistics and statistics.fields) or ()
    if 0 < sum(name in names for name in VELOCITY) < len(VELOCITY):
        yield wrong(KEY, names, "give all of u, v and w, or none of them")


def _budgets_have_what_they_need(
    boundaries: Boundaries, openings: Openings, statistics: StatisticsTable | None
) -> Iterator[Problem]:  # fmt: skip
    if statistics is None or not statistics.budget:
        return
    key = ("statistics", "budget")
    ends = [axis for axis in AXES if getattr(boundaries, axis) is None]
    edges = [f"there are openings ({openings[0].name})"] if openings else []
    edges += [f"{' and '.join(ends)} are not periodic"] if len(ends) > 1 else []
    if edges and any(side.roughness for side in (*boundaries.sides.values(), *openings)):
        yield wrong(key, True, f"{edges[0]}, and the edge of a rough wall has no stress; omit it")
    if statistics.order != 2:
        yield wrong(key, True, "it is made of covariances; give statistics.order = 2")
    if statistics.fields and not {*VELOCITY, "p"} <= {*statistics.fields}:
        yield wrong(key, True, "it needs u, v, w and p among statistics.fields; add them, or omit fields")


def _covariances_are_told_apart(fields: tuple[str, ...], statistics: StatisticsTable | None) -> Iterator[Problem]:
    """Scalars a, a_b, b_c and c would have two covariances a_b_c."""
    if statistics is None:
        return
    names = statistics.fields or fields
    roles = Counter(covariance_of(a, b) for n, a in enumerate(names) for b in names[n:])
    for role, times in roles.items():
        if times > 1:
            remedy = f"{times} covariances would be called {role}; give scalars other names, or omit one"
            yield wrong(KEY, names, remedy)
            return


StatisticsTable.rules = (_fields_exist, _velocity_is_whole, _budgets_have_what_they_need, _covariances_are_told_apart)


def _spectra_are_of_fields(fields: tuple[str, ...], spectra: Spectra) -> Iterator[Problem]:
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
    grid: GridTable, boundaries: Boundaries, obstacles: Obstacles, spectra: Spectra
) -> Iterator[Problem]:
    """Yield a problem if spectra, one per line in inhomogeneous directions, are too many."""
    for key, one in numbered(spectra=spectra):
        if one.along == "all":
            continue
        alike = {axis for axis in AXES if getattr(boundaries, axis) is not None and not obstacles}
        lines = prod(cells for axis, cells in zip(AXES, grid.cells, strict=True) if axis not in (one.along, *alike))
        numbers = lines * (grid.cells[AXES.index(one.along)] // 2)
        if numbers > MOST:
            remedy = f"{lines} lines differ, and of {numbers} numbers {MOST} can be kept; record planes instead"
            yield wrong((*key, "along"), one.along, remedy)


SpectrumTable.rules = (_spectra_are_of_fields, _directions_have_waves, _there_are_not_too_many)
