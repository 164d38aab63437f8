"""Whether fields that a table names are there."""

from collections.abc import Collection, Iterator

from taskflow.simulation.case.problems import Key, Problem, shown, wrong

NEEDS = {"T": "; T needs a [heat] table", "nu_t": "; nu_t needs a [turbulence] table"}


def missing(key: Key, given: Collection[str] | None, fields: Collection[str]) -> Iterator[Problem]:
    """What is wrong with names that are given under a key and are none of the fields of the case."""
    for name in given or ():
        if name not in fields:
            message = f"this case has no field {shown(name)}; it has {', '.join(fields)}{NEEDS.get(name, '')}"
            yield wrong(key, given, message)
