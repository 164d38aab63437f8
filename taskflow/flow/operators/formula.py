"""Formulas of fields, position and time given by a case, as parts of kernel texts.

A formula is evaluated in double precision at one location in each cell. Fields at other locations are interpolated with
second order: the mean of both faces at centres, and linear interpolation between centres at faces, which differs from
the mean on stretched grids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

from taskflow.flow.grid import FACES, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Read, Stencil, Task, offsets, task

COORDINATES = ("x", "y", "z")
TIME = "t"
STEPS = ("X", "Y", "Z")
INDICES = ("c.i", "c.j", "c.k")
HEADERS = "".join(f'#include "{KERNELS / name}"\n' for name in ("formula.h", "flags.h", "adams_bashforth.h"))
PREAMBLE = f'#define UZ 1\n#include "cell.h"\n{HEADERS}'


@dataclass(frozen=True)
class Formula:
    """C++ formula: `text` of the doubles `value_x`, ..., `value_t`, `value_NAME`. `names` are its variables."""

    text: str
    names: tuple[str, ...]

    @property
    def timed(self) -> bool:
        """True if the formula contains t."""
        return TIME in self.names

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in (*COORDINATES, TIME))


def parameter(name: str) -> str:
    """Return the task parameter for a field of this name, valid in C++."""
    return f"field_{name}"


def stencil(of: Location, at: Location) -> Stencil:
    """Return the cells in which a field at the location `of` is read for its value at the location `at`."""
    reach = dict.fromkeys(COORDINATES, (0, 0))
    for axis, face in zip(COORDINATES, FACES, strict=True):
        if of != at and face in (of, at):
            reach[axis] = (0, 1) if face == of else (-1, 0)
    return offsets(**reach)


def _values(formula: Formula, locations: Mapping[str, Location], at: Location, origin: Vector) -> Iterator[str]:
    """Yield the kernel lines of a formula's variables in a cell c, except t. The domain begins at `origin`."""
    for name in formula.fields:
        yield f"const double value_{name} = {_brought(parameter(name), locations[name], at)};"
    for axis, name in enumerate(COORDINATES):
        if name in formula.names:
            place = "face" if at == FACES[axis] else "centre"
            yield f"const double value_{name} = {origin[axis].hex()} + {place}(grid, {axis}, {INDICES[axis]});"


def _brought(field: str, of: Location, at: Location) -> str:
    """Return the expression that interpolates a field from one location to another."""
    if of == at:
        return f"{field}[c]"
    centred = f", {STEPS[FACES.index(of)]}" if of != "c" else ""
    if at == "c":
        return f"centred({field}, c{centred})"
    axis = FACES.index(at)
    return f"between({field}, c{centred}, axis(grid, {axis}, {INDICES[axis]}, {STEPS[axis]}))"


def evaluating(
    name: str, text: str, formula: Formula, at: Location, origin: Vector,
    *, fields: Mapping[str, Any], numbers: Mapping[str, object], velocity: Mapping[str, Location], **words: str,
) -> Task:  # fmt: skip
    """Return the task `name` that evaluates a formula at a location.

    Its kernel is `text` with {name}, {fields}, {time}, {now}, {values}, {text} and other `words` replaced. Its
    parameters are `fields`, then the fields of the formula, then the keywords `numbers`. `velocity` has the locations
    of fields that are not at centres.
    """

    def body() -> None:
        """Do what a formula of the case says."""

    locations: dict[str, Location] = {field: velocity.get(field, "c") for field in formula.fields}
    kernel = PREAMBLE + text.format(
        name=name, text=formula.text, fields="".join(f", In {parameter(field)}" for field in formula.fields),
        time=", In64 time" if formula.timed else "", now="\n  const double value_t = *time;" if formula.timed else "",
        values="\n".join(f"    {line}" for line in _values(formula, locations, at, origin)), **words,
    )  # fmt: skip
    read = {**fields, **{parameter(field): Read[stencil(of, at)] for field, of in locations.items()}}
    parameters = [Parameter(word, Parameter.POSITIONAL_OR_KEYWORD, annotation=kind) for word, kind in read.items()]
    parameters += [Parameter(word, Parameter.KEYWORD_ONLY, annotation=kind) for word, kind in numbers.items()]
    body.__name__ = name
    body.__dict__["__signature__"] = Signature(parameters)
    return task(kernel=kernel)(body)
