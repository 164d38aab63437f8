"""Control of a run and its records: [time], [output], [monitor], [checkpoint], and labels of units: [units]."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from taskflow.cases.formulas.values import checked, positive, saying, text
from taskflow.cases.language.problems import Problem, missing, present, unknown_fields, wrong
from taskflow.cases.language.table import Natural, Positive, Precision, Table, Whole, entry, optional, reads
from taskflow.cases.timing.intervals import Every
from taskflow.common.errors import BadInput
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, RUNGE_KUTTA, USUAL_CFL

LEAST_ERROR = 1e-15
MOST_SNAPSHOTS = 1_000_000
SCHEMES = {"ab2": ADAMS_BASHFORTH, "rk3": RUNGE_KUTTA}
Interval = Annotated[Every, reads(Every.parse)]
EVERYTHING = "all fields of the case"
_NAME = re.compile(r"[A-Za-zµ°%]+")
Unit = Annotated[str, reads(checked(text, lambda name: bool(_NAME.fullmatch(name)), 'give the name of a unit, as "m"'))]


class Steady(Table):
    """The criterion of a steady state, at which the run stops."""

    brief: ClassVar[str | None] = "rate"

    rate: Positive = entry(
        "the largest rate of change of the velocity, `T` and each scalar in a steady state: the change over a"
        " window, divided by its duration and by the range of the field",
        remedy="give the largest relative change per unit time of a steady state, a number > 0",
    )
    over: Positive | None = optional(
        "the simulation time for which rates must stay below `rate`",
        otherwise="the time the largest speed takes to cross the longest side, or its diffusion time if shorter",
    )
    every: Interval = entry("interval of the checks", Every(steps=10))

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        every, over = values.get("every"), values.get("over")
        if isinstance(every, int | float) and isinstance(over, int | float) and every > over:
            yield wrong("over", over, "checks are farther apart; give more, or a smaller time.steady.every")


def _steady(value: Any) -> Any:
    """A number alone is a rate."""
    if value is None or isinstance(value, Mapping | Steady):
        return value
    return {"rate": saying(positive, "give a number > 0, a rate, or a table with rate, over and every")(value)}


def _direction(value: object) -> tuple[str, ...] | None:
    """A list of one direction; None for none."""
    if value is None or value in ([], ()):
        return None
    if not isinstance(value, list | tuple) or not all(name in ("x", "y", "z") for name in value):
        raise BadInput('give a list with a direction: ["x"], ["y"] or ["z"]')
    if len(value) > 1:
        raise BadInput('diffusion is implicit along one direction; give one, as ["z"]')
    return tuple(value)


class Time(Table):
    """End of the run and length of its steps."""

    alternatives = (
        (("end", "steps"), missing("end", "give the time at which to stop, or time.steps")),
        (("cfl", "step"), None),
    )

    end: Positive | None = optional("final time", otherwise="this or `steps` is required")
    steps: Whole | None = optional("maximum number of steps", otherwise="this or `end` is required")
    steady: Annotated[Steady | None, reads(_steady)] = optional(
        "stop at a steady state: a table, see below, or its `rate` alone", otherwise="off"
    )
    cfl: Positive | None = optional(
        "the largest dt (abs(u)/dx + abs(v)/dy + abs(w)/dz) before a step. [Steps that end above 1.2 times"
        " the limit](../explanation/method.md#flows-that-accelerate) are repeated. With rotation or"
        " stratification the frequency 2 abs(`rotation`) + N is added in the brackets",
        otherwise="0.5, without `step`",
    )
    step: Positive | None = optional(
        "instead of `cfl`: a fixed step. If the flow becomes too fast for it, a warning is printed"
    )
    diffusion: Positive = entry(
        "the largest dt nu (1/dx^2 + 1/dy^2 + 1/dz^2), nu being the viscosity, including eddy viscosity, or the"
        " diffusivity of heat or a scalar",
        0.2,
    )
    capillary: Positive | None = optional(
        "with two phases: the largest dt sqrt(2 pi surface_tension / ((density_1 + density_2) d^3)), d being the"
        " smallest spacing (period of the shortest capillary waves)",
        otherwise="0.7, with surface tension",
    )
    scheme: Literal["ab2", "rk3"] = entry(
        "`ab2`: Adams-Bashforth, second order, [stable](../explanation/method.md#which-steps-are-stable) up to"
        " `diffusion` 0.25 and `cfl` about 0.5. `rk3`: Runge-Kutta, third order, three pressure solves per step, stable"
        " up to `diffusion` 0.4 with `cfl` 1.7",
        "ab2",
    )
    implicit: Annotated[tuple[str, ...] | None, reads(_direction)] = optional(
        'the direction, as `["z"]`, between walls or slip boundaries, of [implicit'
        ' diffusion](../explanation/method.md#implicit-diffusion), which `diffusion` then does not limit',
        otherwise="none",
    )

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        return values if present(values, "cfl", "step") else {**values, "cfl": USUAL_CFL}


def names(value: object) -> tuple[str, ...]:
    """A list of names, each once."""
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(name, str) for name in value):
        raise BadInput('give a list of names, as ["u", "p"]')
    twice = next((name for name in value if value.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"name {text(twice)} once")
    return tuple(value)


FieldNames = Annotated[tuple[str, ...] | None, reads(names)]


DIGITS = f"give a number from {LEAST_ERROR:g} to below 1, or omit it for all digits"
_relative = checked(positive, lambda error: LEAST_ERROR <= error < 1, DIGITS)


class Output(Table):
    """Snapshots, written at time 0, at the end and at an interval."""

    fields: FieldNames = optional(
        '`u`, `v`, `w`, `p`, `T` with heat, names of scalars, with turbulence `nu_t`, the eddy viscosity,'
        ' with two phases `f`, the fraction of phase 1, and `phi`, and with surface tension `kappa`, the'
        ' curvature. Also [derived fields](#derived-fields), [expressions](#expressions) by name, and `"name ='
        ' expression"`',
        otherwise=EVERYTHING,
    )
    every: Interval | None = optional(
        "interval of snapshots, in addition to time 0 and the end. Steps are shortened to hit times exactly",
        otherwise="only those two",
    )
    precision: Precision = entry("of the numbers in the store", "single")
    compression: Literal["lz4", "zstd", "none"] = entry(
        "compression of the store: see [output](../howto/output.md#precision-and-size)", "lz4"
    )
    relative_error: Annotated[Annotated[float, Field(ge=LEAST_ERROR, lt=1)] | None, reads(_relative)] = optional(
        "numbers in snapshots and planes are rounded, with at most this relative error", otherwise="all digits"
    )

    def completed(self, tables: Mapping[str, Any]) -> Self:
        return self if self.fields is not None else self.model_copy(update={"fields": tables["fields"]})


class MonitorTable(Table):
    """Interval of the log, and additional quantities in it."""

    every: Interval = entry("interval of log lines", Every(steps=10))
    fields: FieldNames = optional(
        "names of [expressions](#expressions) and [derived fields](#derived-fields), whose means over the"
        " domain the log has as `mean_NAME`",
        otherwise="none",
    )


class CheckpointTable(Table):
    """Interval of checkpoints, which are also saved at the end and on a signal, and the number kept."""

    every: Annotated[Every | None, reads(partial(Every.parse, minutes=True))] = optional(
        "interval of states for a [restart](../howto/resume.md), also `{ minutes = m }` of wall-clock time",
        otherwise="off: only at the end, after Ctrl-C and after SIGTERM",
    )
    keep: Natural = entry("number of newest checkpoints to keep. 0: no checkpoints", 2)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if values.get("keep") == 0 and present(values, "every"):
            yield wrong("keep", 0, "then none is written; give 1 or more, or omit checkpoint.every")


def _fields_exist(recordable: tuple[str, ...], output: Output) -> Iterator[Problem]:
    return unknown_fields(("output", "fields"), output.fields, recordable)


def _snapshots_can_be_counted(time: Time, output: Output) -> Iterator[Problem]:
    every = output.every
    if every is None:
        return
    pairs = (time.end, every.time), (time.steps, every.steps)
    count = next((a / b for a, b in pairs if a is not None and b is not None), 0.0)
    if count > MOST_SNAPSHOTS:
        remedy = f"this is {count:.3g} snapshots; give a longer interval, for at most {MOST_SNAPSHOTS}"
        yield wrong(("output", "every"), every.written(), remedy)


Output.rules = (_fields_exist, _snapshots_can_be_counted)


def _capillary_waves_are_there(tables: Mapping[str, Any], time: Time) -> Iterator[Problem]:
    if time.capillary is not None and "two_phase" not in tables:
        yield wrong(("time", "capillary"), time.capillary, "one fluid has no capillary waves; omit it")


Time.rules = (_capillary_waves_are_there,)


class UnitsTable(Table):
    """Units in which the numbers of the case are. They label results and pictures, and change no number."""

    length: Unit | None = optional('name, such as "m"', otherwise="none")
    time: Unit | None = optional('name, such as "s"', otherwise="none")
    temperature: Unit | None = optional('name, such as "K"', otherwise="none")
