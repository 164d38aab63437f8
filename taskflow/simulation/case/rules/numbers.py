"""Whether the arithmetic of a computation holds the numbers of a case, and what it makes of them."""

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from taskflow.simulation.case.boundaries import AXES
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.physics import Grid
from taskflow.simulation.case.problems import Key, Problem, wrong
from taskflow.simulation.case.rules.grid import faces_fit
from taskflow.simulation.case.table import written

QUANTITIES = ("fluid", "heat", "body", "boundaries", "initial", "scalars", "obstacles", "turbulence")
DIGITS = 1e3  # units in the last place of a coordinate that a cell is wide, at least: widths have three digits then
UNLIKE = 1 / sys.float_info.epsilon  # of widths: beyond this one is lost in rounding beside the other


def _range(machine: Machine) -> tuple[float, float]:
    """The smallest and the largest number of which the product of three is one in the precision of a computation."""
    about = np.finfo({"single": "f4", "double": "f8"}[machine.precision])
    return float(about.tiny) ** (1 / 3), float(about.max) ** (1 / 3)


def _cells_can_be_told_apart(grid: Grid, machine: Machine) -> Iterator[Problem]:
    if any(faces_fit(grid)):
        return
    cells, (least, most) = grid.staggered((False, False, False)), _range(machine)
    for axis, name in enumerate(AXES):
        low, length, narrow = grid.origin[axis], grid.lengths[axis], cells.narrowest(axis)
        if not (least <= narrow and length <= most):
            remedy = f"cells of {narrow:.3g} in {machine.precision} precision; give lengths in another unit"
            yield wrong(("grid", "lengths"), grid.lengths, remedy)
            return
        if narrow < DIGITS * sys.float_info.epsilon * max(abs(low), abs(low + length)):
            remedy = f"cells of {narrow:.3g} in {name} cannot be told apart there; give an origin nearer to 0"
            yield wrong(("grid", "origin"), grid.origin, remedy)
            return
    several = [cells.narrowest(axis) for axis in range(3) if grid.cells[axis] > 1] or [1.0]
    if max(several) > UNLIKE * min(several):
        remedy = (
            f"cells are {max(several):.3g} long and {min(several):.3g} wide, which arithmetic does not hold beside each"
            f" other; give other lengths or grid.cells, up to a ratio of {UNLIKE:.0e}"
        )
        yield wrong(("grid", "lengths"), grid.lengths, remedy)


def _numbers_fit(name: str, table: Any, machine: Machine) -> Iterator[Problem]:
    _, most = _range(machine)
    for key, value in _numbers((name,), written(table)):
        if abs(value) > most:
            remedy = f"too large for {machine.precision} precision; give at most {most:.0e}, in another unit"
            yield wrong(key, value, remedy)


def _numbers(key: Key, value: Any) -> Iterator[tuple[Key, float]]:
    """All numbers in a table, with their keys; those of a list of numbers have the key of the list."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _numbers((*key, name), inner)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value, start=1):
            yield from _numbers((*key, f"[{number}]") if isinstance(inner, Mapping) else key, inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, float(value)


RULES = (
    (_cells_can_be_told_apart, ("grid", "machine")),
    *((partial(_numbers_fit, name), (name, "machine")) for name in QUANTITIES),
)
