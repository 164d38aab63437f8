"""What blocks, precision and snapshots must have in common with the rest of a case."""

import math
from collections.abc import Iterator

from taskflow.simulation.case.boundaries import AXES
from taskflow.simulation.case.control import Output, Time
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.physics import Grid, Heat
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.case.rules.defaults import all_fields
from taskflow.simulation.case.rules.fields import missing
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.case.turbulence import Turbulence

MOST_BLOCKS = 1024
MOST_SNAPSHOTS = 1_000_000


def _blocks_have_planes(grid: Grid, machine: Machine) -> Iterator[Problem]:
    if machine.blocks == "auto":
        return
    if (count := math.prod(machine.blocks)) > MOST_BLOCKS:
        yield wrong(("machine", "blocks"), machine.blocks, f"{count} blocks; give at most {MOST_BLOCKS} in all")
        return
    for axis, blocks, cells in zip(AXES, machine.blocks, grid.cells, strict=True):
        if blocks > cells:
            remedy = f"{blocks} blocks in {axis}, but {cells} planes of cells; give at most {cells}"
            yield wrong(("machine", "blocks"), machine.blocks, remedy)
    if machine.workers != "auto" and machine.workers > math.prod(machine.blocks):
        remedy = f"more processes than the {math.prod(machine.blocks)} blocks; give at most as many"
        yield wrong(("machine", "workers"), machine.workers, remedy)


def _fields_exist(
    heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None, output: Output
) -> Iterator[Problem]:
    return missing(("output", "fields"), output.fields, all_fields(heat, scalars, turbulence))


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


RULES = (
    (_blocks_have_planes, ("grid", "machine")),
    (_fields_exist, ("heat", "scalars", "turbulence", "output")),
    (_snapshots_can_be_counted, ("time", "output")),
)
