"""Formulas of fields, place and time that a case gives, as parts of kernel texts.

A formula is evaluated in double precision at one place in each cell. A field that lives elsewhere is brought there with
second order: from faces to centres as the mean of both, from centres to faces on the line between them, which on
stretched grids is no plain mean.
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
    """A formula as C++ has it: `text` computes a double from the doubles `value_x`, ..., `value_t` and `value_NAME` of
    fields, whose `names` without that prefix are in it.
    """

    text: str
    names: tuple[str, ...]

    @property
    def timed(self) -> bool:
        """Whether it depends on the time itself."""
        return TIME in self.names

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that it reads, by role."""
        return tuple(name for name in self.names if name not in (*COORDINATES, TIME))


def parameter(name: str) -> str:
    """The parameter of a task that is a field of this name, whatever that may mean in C++."""
    return f"field_{name}"


def stencil(of: Location, at: Location) -> Stencil:
    """The cells around a cell in which a field that lives in one place is read for its value in another one."""
    reach = dict.fromkeys(COORDINATES, (0, 0))
    for axis, face in zip(COORDINATES, FACES, strict=True):
        if of != at and face in (of, at):
            reach[axis] = (0, 1) if face == of else (-1, 0)
    return offsets(**reach)


def _values(formula: Formula, locations: Mapping[str, Location], at: Location, origin: Vector) -> Iterator[str]:
    """The lines of a kernel that find what a formula is made of, in a cell c: all but the time. The low end of the
    domain is at `origin`.
    """
    for name in formula.fields:
        yield f"const double value_{name} = {_brought(parameter(name), locations[name], at)};"
    for axis, name in enumerate(COORDINATES):
        if name in formula.names:
            place = "face" if at == FACES[axis] else "centre"
            yield f"const double value_{name} = {origin[axis].hex()} + {place}(grid, {axis}, {INDICES[axis]});"


def _brought(field: str, of: Location, at: Location) -> str:
    """The value of a field that lives in one place in another one."""
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
    """The task of a name that evaluates a formula at a place: of a kernel text with {name}, {fields}, {time}, {now},
    {values}, {text} and other `words` in it, and with these fields and keywords, the fields of the formula behind them.
    `velocity` says where those live that do not in centres.
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
