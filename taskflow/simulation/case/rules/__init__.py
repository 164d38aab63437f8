"""What tables of a case must have in common, and the defaults that one takes from another."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from taskflow.simulation.case.problems import Problem
from taskflow.simulation.case.rules import (
    boundaries,
    driving,
    grid,
    machine,
    magnitudes,
    obstacles,
    pressure,
    probes,
    scalars,
    spectra,
    statistics,
    turbulence,
)
from taskflow.simulation.case.rules.defaults import all_fields, completed

__all__ = ["all_fields", "completed", "contradictions"]

TOPICS = (
    machine, grid, magnitudes, boundaries, scalars, pressure, driving, obstacles, turbulence, statistics, probes,
    spectra,
)  # fmt: skip


def contradictions(tables: Mapping[str, Any]) -> Iterator[Problem]:
    """All that tables say against each other. A rule is passed over where one of its tables is missing or wrong."""
    for rule, names in chain.from_iterable(topic.RULES for topic in TOPICS):
        if all(name in tables for name in names):
            yield from rule(*(tables[name] for name in names))
