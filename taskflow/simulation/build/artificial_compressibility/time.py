"""The table [time] of a case on charts: how far to march to the steady state, or steps of real time; and the table
[method.inner]: what is marched within each of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from taskflow.errors import BadInput
from taskflow.simulation.case.problems import Problem, exclusive, missing, present, wrong
from taskflow.simulation.case.table import Positive, Table, Whole, entry, reads
from taskflow.simulation.formulas.values import share

LEFT = "the residual over that at the beginning of the step"
STEADY = "time.steady marches to the steady state, without real time; leave one of them out"


class Inner(Table):
    """Steps of pseudo-time within a step of real time."""

    tolerance: Annotated[float, Field(gt=0, lt=1), reads(share(LEFT))] = entry(
        "a step ends when the residuals of momentum, heat and scalars have fallen to this share of those at its"
        " beginning, and max abs(div u) is at most 1e-4 of the reference speed over the length of the smallest side",
        1e-3,
    )
    iterations: Whole | None = entry(
        "steps of pseudo-time, of which 10 are made between looks, or 2 implicit ones: when so many were not enough a"
        " warning is given, and after five such steps in a row the run fails",
        None,
        otherwise="1000, of `implicit` marching 50",
    )


def _steady(value: object) -> float:
    if isinstance(value, Mapping):
        raise BadInput("a table says when a flow of the projection is steady; give a number, the relative residual")
    return share("the residual over its largest value so far")(value)


class ChartTime(Table):
    """How far to march: to the steady state, or in real time."""

    refused: ClassVar[Mapping[str, str]] = {
        "diffusion": "method.cfl bounds pseudo-time, and real time has no such bound; leave it out",
        "capillary": "one fluid has no capillary waves; leave it out",
        "scheme": "method.march says how steps of pseudo-time are made, and real time is BDF2; leave it out",
    }  # fmt: skip

    steady: Annotated[float, Field(gt=0, lt=1), reads(_steady)] | None = entry(
        "march to the steady state: the residual at which the run ends as `steady`, of each equation the root mean"
        " square, over its largest value so far",
        None,
        otherwise="the run is in real time",
    )
    end: Positive | None = entry("in real time: the time at which to stop", None, otherwise="`steps` say it")
    steps: Whole | None = entry(
        "the most steps: of pseudo-time to the steady state, where it is required, or of real time, in place of `end`",
        None,
    )
    step: Positive | None = entry("in real time: the length of a step", None, otherwise="`cfl` says it")
    cfl: Positive | None = entry(
        "in real time, in place of `step`: the largest dt max(sum over directions of abs(u.S)) / V, of the velocity"
        " alone; `method.cfl` is that of pseudo-time",
        None,
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if present(values, "steady"):
            for key in present(values, "end", "step", "cfl"):
                yield wrong(key, values[key], STEADY)
            if not present(values, "steps"):
                yield missing("steps", "give the largest number of steps")
            return
        needed = "give the time at which to stop, or time.steps; or time.steady, as 1e-8, for a steady state"
        yield from exclusive(values, "end", "steps", needed=missing("end", needed))
        yield from exclusive(values, "step", "cfl", needed=missing("step", "give the length of a step, or time.cfl"))
