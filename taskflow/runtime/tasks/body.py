"""Tasks written in Python: the views of fields and scalars in their body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import Any

import numpy as np

from taskflow.runtime.regions import Box, Triple, hull
from taskflow.runtime.tasks.graph import Compute
from taskflow.runtime.tasks.numbers import Operator, ScalarArray, cut
from taskflow.runtime.tasks.privilege import Privilege
from taskflow.runtime.tasks.reading import reading
from taskflow.runtime.tasks.sweep import Point

Array = Any  # numpy.ndarray or cupy.ndarray, in the order [z, y, x]


class View:
    """A field over the cells of a point task.

    `view[...]` are the cells, `view[1, 0, 0]` their neighbours at higher x. `view[...] = values` writes the cells.
    Raises PermissionError for a write without privilege or to a neighbour, and for a read outside the declared stencil.
    On CPUs the arrays of neighbours and of fields that are not written are read-only.
    """

    def __init__(self, name: str, privilege: Privilege, array: Array, origin: Triple, box: Box) -> None:
        self._name, self._privilege, self._array, self._origin, self._box = name, privilege, array, origin, box

    def __getitem__(self, offset: EllipsisType | Triple) -> Array:
        moved = (0, 0, 0) if offset is ... else offset
        if not self._privilege.reads:
            raise PermissionError(f"field {self._name!r} was declared Write: its old values cannot be read")
        if moved not in self._privilege.stencil:
            raise PermissionError(f"field {self._name!r} is read at the offset {moved}, outside its declared stencil")
        array = self._array[self._box.shift(moved).slices(self._origin)]
        if isinstance(array, np.ndarray) and (any(moved) or not self._privilege.writes):
            array.flags.writeable = False
        return array

    def __setitem__(self, cells: EllipsisType, values: Array) -> None:
        if not self._privilege.writes:
            raise PermissionError(f"field {self._name!r} was declared Read: it cannot be written")
        if cells is not ...:
            raise PermissionError(
                f"field {self._name!r} is written at the offset {cells}: a task writes no cells but its own"
            )
        self._array[self._box.slices(self._origin)] = values


class SweptView(View):
    """A field over one point of a sweep: its own value, and the values of earlier neighbours. Raises PermissionError
    for other reads.
    """

    def __init__(self, point: Point, name: str, privilege: Privilege, array: Array, origin: Triple) -> None:
        super().__init__(name, privilege, array, origin, point.box)
        self._point = point

    def __getitem__(self, offset: EllipsisType | Triple) -> Array:
        if offset is not ... and offset != (0, 0, 0) and not self._point.earlier(*offset):
            raise PermissionError(
                f"field {self._name!r} is read in the cell {self._point.cell} at the offset {offset}, where the sweep"
                " has not been: ask sweep.earlier(x, y, z) first"
            )
        return super().__getitem__(offset)


class Fold:
    """A reduction parameter. `fold(values)` folds an array of one value per cell, `fold(first, second)` one array into
    each of several numbers. Exact sums also take a `bound`, or one each: at least a sixteenth of the largest
    magnitude.
    """

    def __init__(self, operator: Operator, numbers: ScalarArray | None) -> None:
        self._operator, self._numbers = operator, numbers
        self.values = [IDENTITY[operator]] * (len(numbers.of("")) if numbers else 1)

    def fold(self, *values: Array, bound: float | Sequence[float] | None = None) -> None:
        """Fold `values` into the numbers, or into the parts of exact sums. NaN stays NaN. Raises TypeError if the
        number of arrays is wrong, if exact sums have no bound, or if others have one.
        """
        count, exact = (self._numbers.count, self._numbers.exact) if self._numbers else (1, False)
        if len(values) != count or exact == (bound is None):
            arguments = f"{len(values)} arrays and {'no' if bound is None else 'a'} bound"
            remedy = f"give {count} arrays{' and bound=...' if exact else ' alone'}"
            raise TypeError(f"{self._numbers or self._operator} was folded with {arguments}; {remedy}")
        arrays = list(values)
        if bound is not None:
            bounds = bound if isinstance(bound, Sequence) else [bound] * len(values)
            pairs = zip(values, bounds, strict=True)
            arrays = [part for array, limit in pairs for part in cut(array.astype("f8"), limit)]
        folded = (float(getattr(array, self._operator)()) for array in arrays)
        self.values = [combine(self._operator, pair) for pair in zip(self.values, folded, strict=True)]


IDENTITY: dict[Operator, float] = {"sum": 0.0, "max": -np.inf, "min": np.inf}


def combine(operator: Operator, values: Iterable[float]) -> float:
    """Return the values folded in order. Only the last bits of a sum depend on it. NaN stays NaN."""
    step = {"sum": np.add, "max": np.maximum, "min": np.minimum}[operator]
    result = np.float64(IDENTITY[operator])
    for value in values:
        result = step(result, value)
    return float(result)


class ForeignView:
    """A field of another region over the cells that a point task reads: `view.box` is the smallest box around them,
    `view[...]` are its values.
    """

    def __init__(self, array: Array, origin: Triple, boxes: Sequence[Box]) -> None:
        self.box = hull(boxes)
        self._array, self._origin = array, origin

    def __getitem__(self, _: EllipsisType) -> Array:
        array = self._array[self.box.slices(self._origin)]
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
        return array


def run_body(
    node: Compute, arrays: Mapping[str, Array], origins: Mapping[str, Triple], scalars: Mapping[str, float]
) -> dict[str, float]:
    """Run the Python body of a point task, and return the value of each reduction over its cells.

    `arrays` hold the fields in the order [z, y, x], with first elements in the cells `origins`.
    """
    for name, placed in node.placed.items():
        for point in placed.points(node.box):
            _run(replace(node, box=point.box), arrays, origins, scalars, {name: point})
    return {} if node.placed else _run(node, arrays, origins, scalars, {})


def _run(
    node: Compute,
    arrays: Mapping[str, Array],
    origins: Mapping[str, Triple],
    scalars: Mapping[str, float],
    sweep: Mapping[str, Point],
) -> dict[str, float]:
    """Run the body for all cells together, or for one point of a `sweep`, which is passed as its parameter."""
    launch = node.launch
    task = launch.task
    views: dict[str, View | ForeignView] = {}
    for parameter, (name, privilege) in zip(task.fields, launch.requirements, strict=True):
        array, origin = arrays[name], origins[name]
        if privilege.foreign:
            boxes = reading(name, privilege, launch, node.partition).around(node.box)
            views[parameter] = ForeignView(array, origin, boxes)
        elif privilege.swept:
            views[parameter] = SweptView(next(iter(sweep.values())), name, privilege, array, origin)
        else:
            views[parameter] = View(name, privilege, array, origin, node.box)
    taken = {parameter: scalars[name] for parameter, name in launch.scalars.items()}
    numbers: dict[str, Any] = {}
    for parameter in (name for name in task.keywords if name not in task.constants):
        several = task.numbers.get(parameter)
        names = several.of(parameter) if several else (parameter,)
        if names[0] in task.reductions:
            numbers[parameter] = Fold(task.reductions[names[0]], several)
        else:
            numbers[parameter] = several.values(taken, parameter) if several else taken[parameter]
    task.body(*task.arguments(views), **{**launch.constants, **sweep}, **task.left_out(), **numbers)
    folded = (value for fold in numbers.values() if isinstance(fold, Fold) for value in fold.values)
    return {name: value for (name, _), value in zip(launch.reductions.values(), folded, strict=True)}
