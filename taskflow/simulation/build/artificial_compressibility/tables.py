"""The table [method] of a case that is solved by artificial compressibility."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from taskflow.errors import BadInput
from taskflow.simulation.build.artificial_compressibility.time import Inner
from taskflow.simulation.case.method import Method
from taskflow.simulation.case.problems import Problem, present, wrong
from taskflow.simulation.case.table import NonNegative, Positive, Table, Text, Truth, Vector, entry, reads
from taskflow.simulation.values import one_of, positive

NAME = "artificial-compressibility"
LATER = "not available in this version; leave it out"
EXPLICIT = ("euler", "rk3", "rk4", "rk5")


class LocalCompressibility(Table):
    """b = max(|u|^2, factor times the square of the reference speed), once per step."""

    local: Truth = entry("`true`", True)
    factor: Positive = entry("of the square of the reference speed: the least b over that", 1.0)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if values.get("local") is False:
            yield wrong("local", False, 'give true, or compressibility = "auto", which is the same everywhere')


class Damping(Table):
    """Fourth differences, which central fluxes need."""

    type: Literal["jst", "pressure"] = entry(
        "`jst`: of all variables; `pressure`: of the pressure in continuity alone (Xue & Roy)", "jst"
    )
    fourth: NonNegative = entry("their coefficient", 1 / 64)


def _number_or_auto(value: object) -> Any:
    if value == "auto":
        return value
    try:
        return positive(value)
    except BadInput:
        raise BadInput('give a number > 0, or "auto"') from None


def _compressibility(value: object) -> Any:
    if isinstance(value, Mapping | LocalCompressibility):
        return value
    try:
        return _number_or_auto(value)
    except BadInput:
        raise BadInput('give a number > 0, a velocity squared, "auto", or { local = true }') from None


def _march(value: object) -> str:
    if value == "implicit":
        raise BadInput(f"implicit marching is not available in this version; give one of {', '.join(EXPLICIT)}")
    return one_of(*EXPLICIT)(value)


def _cfl(value: object) -> float:
    if isinstance(value, Mapping):
        raise BadInput("a table belongs to implicit marching, which is not available in this version; give a number")
    return positive(value)


class CompressibilityMethod(Method):
    """How the steady state, or the end of a step of real time, is approached: explicit steps in a pseudo-time, with an
    artificial compressibility b.
    """

    refused: ClassVar[Mapping[str, str]] = {
        "linear": f"it belongs to implicit marching, {LATER}",
    }

    type: Text = entry("`artificial-compressibility`", NAME)
    compressibility: Annotated[float | Literal["auto"] | LocalCompressibility, reads(_compressibility)] = entry(
        "b, a velocity squared; `auto`: 2.5 times the square of the reference speed; `{ local = true, factor = 1.0 }`:"
        " max(abs(u)^2, `factor` times that square)",
        "auto",
    )
    reference_speed: Annotated[float | Literal["auto"], reads(_number_or_auto)] = entry(
        "`auto`: the largest speed given on a side or in the initial state, or that of free convection", "auto"
    )
    flux: Literal["upwind", "central"] = entry(
        "through faces: `upwind`, by flux difference splitting, or `central` with a `damping`", "upwind"
    )
    reconstruction: Literal["third", "second", "first"] | None = entry(
        "of upwind fluxes: values on both sides of a face by parabolas, lines, or those of the cells",
        None,
        otherwise="`third` of upwind fluxes",
    )
    limiter: Literal["none", "van-albada"] = entry("of `third` upwind fluxes", "none")
    damping: Damping | None = entry(
        "of central fluxes: see below", None, otherwise='`{ type = "jst", fourth = 0.015625 }` of central fluxes'
    )
    march: Annotated[Literal["euler", "rk3", "rk4", "rk5"], reads(_march)] = entry("the stages of a step", "rk4")
    cfl: Annotated[float, reads(_cfl)] | None = entry(
        "of pseudo-time", None,
        otherwise="of `euler` 0.4, `rk3` 1.2, `rk4` 1.5, `rk5` 2.5; with `second` of `rk3` 1, `rk4` 0.6, `rk5` 1.2,"
        " with `first` of `rk4` 1.2",
    )
    steps: Literal["local", "global"] = entry("whether each cell takes its own step, or all the least", "local")
    inner: Inner | None = entry("in real time: see below", None, otherwise="as below")
    stall: Literal["fail", "accept"] = entry(
        "of a steady run: what it means when residuals have fallen by less than 10 % in 5000 steps: an error, or the"
        " end of the run",
        "fail",
    )
    pressure_at: Vector | None = entry(
        "where the pressure is 0, if no side says how high it is", None, otherwise="its mean over the volume is"
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        central, march = values.get("flux") == "central", values.get("march")
        reconstruction = values.get("reconstruction") or "third"
        if central:
            for key in present(values, "reconstruction", "limiter"):
                if values[key] != "none":
                    yield wrong(key, values[key], 'central fluxes have none; leave it out, or give flux = "upwind"')
        else:
            for key in present(values, "damping"):
                yield wrong(key, values[key], 'upwind fluxes need none; leave it out, or give flux = "central"')
            if values.get("limiter") == "van-albada" and reconstruction != "third":
                yield wrong("limiter", "van-albada", 'it is of reconstruction = "third"; leave one of them out')
            if march == "euler" and reconstruction != "first":
                unstable = f'unstable with reconstruction = "{reconstruction}"'
                yield wrong("march", march, f'{unstable}; give "first", flux = "central", or another march')
