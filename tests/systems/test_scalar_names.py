"""The programs of a run share one set of scalars: none may change a number of another one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

import taskflow as tf
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.tasks import Derive, Program, Repeat, Roles
from tests.cases.two_phases import case

EVERY = {"steps": 1}
RECORDED = {
    "time": {"steps": 1, "steady": 1e-9}, "monitor": {"every": EVERY}, "statistics": {"every": EVERY},
    "particles": [{"name": "tracers", "points": [[0.1, 0.1, 0.1]], "every": EVERY}],
    "scalars": [{"name": "share", "diffusivity": 1e-3}, {"name": "speed", "diffusivity": 1e-3}],
}  # fmt: skip
SURFACE = {"name": "surface", "value": 0.5, "every": EVERY}
INFLOW = {"type": "inflow", "velocity": [1, 0, 0], "temperature": 1.0}
ONE_FLUID = {
    "grid": {"cells": [8, 8, 8], "lengths": [1, 1, 1]}, "fluid": {"viscosity": 0.01}, "heat": {"diffusivity": 0.01},
    "boundaries": {"x_min": INFLOW, "x_max": "outflow", "y": "periodic", "z": "periodic"},
    "turbulence": {"model": "wale"}, "surfaces": [{"name": "cut", "x": 0.5, "every": EVERY}],
    "spectra": [{"name": "lines", "along": "y", "every": EVERY}], "output": {"fields": ["p", "Q", "change = u*t"]},
}  # fmt: skip


def scalars_of(program: Program, roles: Roles) -> Iterator[tuple[str, str | None]]:
    """The scalars of a program without their numbers, each with the task that makes it, None where it is read."""
    for item in program(roles):
        if isinstance(item, Repeat):
            yield from scalars_of(item.body, roles)
            yield from [(item.count, "count")] if item.count else []
        elif isinstance(item, Derive):
            yield from ((name, "derive") for name in item.names)
        else:
            made = {name: item.task.name for name, _ in item.reductions.values()}
            both = {**dict.fromkeys(item.scalars.values()), **made}
            yield from ((re.sub(r"\.\d+(\.\w+)?$", "", name), task) for name, task in both.items())


@pytest.mark.parametrize("tables", ["two phases", "one fluid"])
def test_what_records_read_no_other_program_makes(tables):
    """The weight of a sample was the total of phase 1 once, and `volume_change` in the log was that weight less 1."""
    droplet = tables == "two phases"
    followed = {**RECORDED, "isosurfaces": [{**SURFACE, "field": "f" if droplet else "share"}]}
    setup = RunSetup(case(**followed) if droplet else tf.Case(**followed, **ONE_FLUID), (1, 1, 1))
    tasks: list[dict[str, set[str]]] = []
    for program in setup.spec.programs:
        made = defaultdict(set)
        for name, task in scalars_of(program, Roles.of(tuple(setup.partition.fields))):
            made[name] |= {task} if task else set()
        tasks.append(made)
    flow = 3  # the programs of the flow, which share numbers: the start, the monitor and the step
    assert len(tasks) > flow
    for record in tasks[flow:]:
        for other in tasks:
            shared = {name for name in record if other.get(name)}
            assert {name: record[name] for name in shared} == {name: other[name] for name in shared}
