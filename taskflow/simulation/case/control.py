"""How the run proceeds and what it tells: [time], [pressure], [output], [monitor]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import model_validator

from taskflow.errors import BadInput
from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.table import Positive, Table, Whole, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import one_of, text

Interval = Annotated[Every, reads(Every.parse)]
Precision = Annotated[Literal["single", "double"], reads(one_of("single", "double"))]


class Time(Table):
    """Where the run stops and how long its steps are."""

    end: Positive | None = None
    steps: Whole | None = None
    steady: Positive | None = None
    cfl: Positive | None = None
    step: Positive | None = None
    diffusion: Positive = 0.2
    scheme: Annotated[Literal["ab2"], reads(one_of("ab2", later=("rk3",)))] = "ab2"

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        if not present(given, "end", "steps"):
            yield missing("end", "give the time at which to stop, or time.steps")
        yield from _either(given, "end", "steps")
        yield from _either(given, "cfl", "step")

    @model_validator(mode="before")
    @classmethod
    def _adaptive(cls, given: Any) -> Any:
        fixed = not isinstance(given, Mapping) or present(given, "cfl", "step")
        return given if fixed else {**given, "cfl": 0.5}


class Pressure(Table):
    """The solver of the pressure equation; `auto` is Jacobi. The last solution is always the starting guess."""

    later: ClassVar[Mapping[str, str]] = {"tolerance": "give iterations", "max_iterations": "give iterations"}

    solver: Annotated[Literal["auto", "jacobi"], reads(one_of("auto", "jacobi", later=("multigrid", "fft")))] = "auto"
    iterations: Whole = 30

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        yield from _either(given, "iterations", "tolerance")


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(name, str) for name in value):
        raise BadInput('give a list of names, as ["u", "p"]')
    twice = next((name for name in value if value.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"name {text(twice)} once")
    return tuple(value)


class Output(Table):
    """Which `fields` are written, and when besides time 0 and the end."""

    fields: Annotated[tuple[str, ...] | None, reads(_names)] = None
    every: Interval | None = None
    precision: Precision = "single"


class Monitor(Table):
    """When a line goes to the log and NaN is looked for."""

    every: Interval = Every(steps=10)


def _either(given: Mapping[str, Any], first: str, second: str) -> Iterator[Problem]:
    if len(present(given, first, second)) == 2:
        yield wrong(second, given[second], f"{first} is given as well; give one of them")
