"""What statistics must have in common with the rest of a case."""

from collections import Counter
from collections.abc import Iterator

from taskflow.flow.statistics import VELOCITY, covariance_of
from taskflow.simulation.case.boundaries import AXES, FACES, Boundaries
from taskflow.simulation.case.physics import Heat
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.case.rules.defaults import all_fields
from taskflow.simulation.case.rules.fields import missing
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.case.statistics import Statistics
from taskflow.simulation.case.turbulence import Turbulence

KEY = ("statistics", "fields")


def _fields_exist(
    heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None, statistics: Statistics | None
) -> Iterator[Problem]:
    return missing(KEY, statistics.fields if statistics else None, all_fields(heat, scalars, turbulence))


def _velocity_is_whole(statistics: Statistics | None) -> Iterator[Problem]:
    given = (statistics and statistics.fields) or ()
    if 0 < sum(name in given for name in VELOCITY) < len(VELOCITY):
        yield wrong(KEY, given, "give all of u, v and w, or none of them")


def _budgets_have_what_they_need(boundaries: Boundaries, statistics: Statistics | None) -> Iterator[Problem]:
    if statistics is None or not statistics.budget:
        return
    key = ("statistics", "budget")
    ends = [axis for axis in AXES if getattr(boundaries, axis) is None]
    if len(ends) > 1 and any(getattr(getattr(boundaries, face), "roughness", None) for face in FACES):
        problem = f"{' and '.join(ends)} are not periodic, and the edge of a rough wall has no stress; leave it out"
        yield wrong(key, True, problem)
    if statistics.order != 2:
        yield wrong(key, True, "it is made of covariances; give statistics.order = 2")
    if statistics.fields and not {*VELOCITY, "p"} <= {*statistics.fields}:
        yield wrong(key, True, "it needs u, v, w and p among statistics.fields; add them, or leave fields out")


def _names_are_told_apart(
    heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None, statistics: Statistics | None
) -> Iterator[Problem]:
    """Scalars a, a_b, b_c and c would have two covariances a_b_c."""
    if statistics is None:
        return
    fields = statistics.fields or all_fields(heat, scalars, turbulence)
    roles = Counter(covariance_of(a, b) for n, a in enumerate(fields) for b in fields[n:])
    for role, times in roles.items():
        if times > 1:
            remedy = f"{times} covariances would be called {role}; give scalars other names, or leave one out"
            yield wrong(KEY, fields, remedy)
            return


RULES = (
    (_fields_exist, ("heat", "scalars", "turbulence", "statistics")),
    (_velocity_is_whole, ("statistics",)),
    (_budgets_have_what_they_need, ("boundaries", "statistics")),
    (_names_are_told_apart, ("heat", "scalars", "turbulence", "statistics")),
)
