"""Averages over time: [statistics]."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from taskflow.errors import BadInput
from taskflow.flow.measures.statistics import VELOCITY, covariance_of
from taskflow.simulation.case.boundaries import Boundaries
from taskflow.simulation.case.control import EVERYTHING, Interval, names
from taskflow.simulation.case.grid import AXES
from taskflow.simulation.case.problems import Problem, unknown_fields, wrong
from taskflow.simulation.case.table import NonNegative, Table, entry, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import truth, whole

KEY = ("statistics", "fields")


def _order(value: object) -> int:
    try:
        order = whole(value)
    except BadInput:
        order = 0
    if order not in (1, 2):
        raise BadInput("give 1 for means alone, or 2 for variances and covariances as well")
    return order


class Statistics(Table):
    """Means and covariances in time."""

    start: NonNegative = entry("the time from which on samples count", 0.0)
    every: Interval = entry("as `output.every`: when a sample is taken. Cuts no step", Every(steps=10))
    fields: Annotated[tuple[str, ...] | None, reads(names)] = entry(
        "some of the fields that `output.fields` may have; `u`, `v` and `w` together", None, otherwise=EVERYTHING
    )
    order: Annotated[Literal[1, 2], reads(_order)] = entry("1: means; 2: variances and covariances as well", 2)
    budget: Annotated[bool, reads(truth)] = entry(
        "also what the [budget of turbulent kinetic energy](../howto/statistics.md#budget) needs; with `order = 2`, and"
        " u, v, w and p",
        False,
    )
    write: Interval | None = entry(
        "as `output.every`: when they are written, besides the end", None, otherwise="only at the end"
    )


def _fields_exist(fields: tuple[str, ...], statistics: Statistics | None) -> Iterator[Problem]:
    return unknown_fields(KEY, statistics.fields if statistics else None, fields)


def _velocity_is_whole(statistics: Statistics | None) -> Iterator[Problem]:
    names = (statistics and statistics.fields) or ()
    if 0 < sum(name in names for name in VELOCITY) < len(VELOCITY):
        yield wrong(KEY, names, "give all of u, v and w, or none of them")


def _budgets_have_what_they_need(boundaries: Boundaries, statistics: Statistics | None) -> Iterator[Problem]:
    if statistics is None or not statistics.budget:
        return
    key = ("statistics", "budget")
    ends = [axis for axis in AXES if getattr(boundaries, axis) is None]
    if len(ends) > 1 and any(side.roughness for side in boundaries.sides.values()):
        problem = f"{' and '.join(ends)} are not periodic, and the edge of a rough wall has no stress; leave it out"
        yield wrong(key, True, problem)
    if statistics.order != 2:
        yield wrong(key, True, "it is made of covariances; give statistics.order = 2")
    if statistics.fields and not {*VELOCITY, "p"} <= {*statistics.fields}:
        yield wrong(key, True, "it needs u, v, w and p among statistics.fields; add them, or leave fields out")


def _covariances_are_told_apart(fields: tuple[str, ...], statistics: Statistics | None) -> Iterator[Problem]:
    """Scalars a, a_b, b_c and c would have two covariances a_b_c."""
    if statistics is None:
        return
    names = statistics.fields or fields
    roles = Counter(covariance_of(a, b) for n, a in enumerate(names) for b in names[n:])
    for role, times in roles.items():
        if times > 1:
            remedy = f"{times} covariances would be called {role}; give scalars other names, or leave one out"
            yield wrong(KEY, names, remedy)
            return


RULES = (_fields_exist, _velocity_is_whole, _budgets_have_what_they_need, _covariances_are_told_apart)
