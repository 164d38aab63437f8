"""How the run proceeds and what it tells: [time], [output], [monitor], [checkpoint]."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import model_validator

from taskflow.errors import BadInput
from taskflow.flow.schemes import ADAMS_BASHFORTH, RUNGE_KUTTA
from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.table import Positive, Precision, Table, Whole, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import natural, one_of, positive, text

LEAST_ERROR = 1e-15
SCHEMES = {"ab2": ADAMS_BASHFORTH, "rk3": RUNGE_KUTTA}
Interval = Annotated[Every, reads(Every.parse)]


class Time(Table):
    """Where the run stops and how long its steps are."""

    end: Positive | None = None
    steps: Whole | None = None
    steady: Positive | None = None
    cfl: Positive | None = None
    step: Positive | None = None
    diffusion: Positive = 0.2
    scheme: Annotated[Literal["ab2", "rk3"], reads(one_of(*SCHEMES))] = "ab2"

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


def names(value: object) -> tuple[str, ...]:
    """A list of names, each once."""
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(name, str) for name in value):
        raise BadInput('give a list of names, as ["u", "p"]')
    twice = next((name for name in value if value.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"name {text(twice)} once")
    return tuple(value)


def _relative(value: object) -> float:
    error = positive(value)
    if not LEAST_ERROR <= error < 1:
        raise BadInput(f"give a number from {LEAST_ERROR:g} to below 1, or leave it out for all digits")
    return error


class Output(Table):
    """Which `fields` are written, and when besides time 0 and the end; how precisely, and how packed.

    Numbers are rounded to a `relative_error`, where there is one: then fewer digits are left to store.
    """

    fields: Annotated[tuple[str, ...] | None, reads(names)] = None
    every: Interval | None = None
    precision: Precision = "single"
    compression: Annotated[Literal["lz4", "zstd", "none"], reads(one_of("lz4", "zstd", "none"))] = "lz4"
    relative_error: Annotated[float | None, reads(_relative)] = None


class Monitor(Table):
    """When a line goes to the log and NaN is looked for."""

    every: Interval = Every(steps=10)


class Checkpoint(Table):
    """When, besides the end and a signal, the state is saved with which the run can go on, and how many are kept."""

    every: Annotated[Every | None, reads(partial(Every.parse, minutes=True))] = None
    keep: Annotated[int, reads(natural)] = 2

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        if given.get("keep") == 0 and present(given, "every"):
            yield wrong("keep", 0, "then none is written; give 1 or more, or leave checkpoint.every out")


def _either(given: Mapping[str, Any], first: str, second: str) -> Iterator[Problem]:
    if len(present(given, first, second)) == 2:
        yield wrong(second, given[second], f"{first} is given as well; give one of them")
