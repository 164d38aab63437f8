"""The solver of the pressure equation: [pressure]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import model_validator

from taskflow.simulation.case.problems import Problem, present, wrong
from taskflow.simulation.case.table import Positive, Precision, Table, Whole, reads
from taskflow.simulation.values import one_of

SWEEPS = 30  # of Jacobi, in a step
MOST_ITERATIONS = 1000
OF_MULTIGRID = {"outer": "cg", "cycle": "v", "smoother": "red-black"}  # options, each with its default

MORE_OF_MULTIGRID = ("precision", "amalgamate", "levels")  # whose defaults are not in this table

Name = Literal["auto", "jacobi", "multigrid", "fft"]


class Pressure(Table):
    """Which solver, and how far it goes: `iterations`, or a `tolerance` to reach in at most `max_iterations`.

    The last solution is always the starting guess. `auto` is Jacobi where `iterations` are given, and otherwise FFT
    where that is possible, or else multigrid. Multigrid has options: what its cycles are in, `outer`, their shape,
    `cycle`, and on their levels what is done, `smoother`, and with which `precision`, by default that of the machine.
    Levels of at most `amalgamate` cells are on every block as a whole; the cycle ends after so many `levels`.
    `forcing`: how often FFT solves in a step for the pressure around obstacles.
    """

    solver: Annotated[Name, reads(one_of("auto", "jacobi", "multigrid", "fft"))] = "auto"
    iterations: Whole | None = None
    tolerance: Positive | None = None
    max_iterations: Whole | None = None
    outer: Annotated[Literal["cg", "none"] | None, reads(one_of("cg", "none"))] = None
    cycle: Annotated[Literal["v", "w", "f"] | None, reads(one_of("v", "w", "f"))] = None
    smoother: Annotated[Literal["red-black", "jacobi"] | None, reads(one_of("red-black", "jacobi"))] = None
    precision: Precision | None = None
    amalgamate: Whole | None = None
    levels: Whole | None = None
    forcing: Whole | None = None

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        solver = given.get("solver", "auto")
        if solver != "fft" and given.get("forcing") is not None:
            yield wrong("forcing", given["forcing"], 'of solver = "fft": others know where bodies are; leave it out')
        if solver != "multigrid":
            for key in present(given, *OF_MULTIGRID, *MORE_OF_MULTIGRID):
                yield wrong(key, given[key], 'an option of multigrid; give solver = "multigrid", or leave it out')
        if solver == "fft":
            for key in present(given, "iterations", "tolerance", "max_iterations"):
                yield wrong(key, given[key], 'solver = "fft" is direct, and exact to rounding; leave it out')
            return
        if len(present(given, "iterations", "tolerance")) == 2:
            yield wrong("tolerance", given["tolerance"], "iterations is given as well; give one of them")
        if present(given, "iterations", "max_iterations") == ["iterations", "max_iterations"]:
            remedy = "it bounds the iterations to a tolerance; give one of iterations and max_iterations"
            yield wrong("max_iterations", given["max_iterations"], remedy)
        if solver == "jacobi" and given.get("max_iterations") == 1:
            yield wrong("max_iterations", 1, "Jacobi's sweeps to a tolerance come in pairs; give 2 or more")

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or given.get("solver") == "fft":
            return given
        found = {**OF_MULTIGRID, **given} if given.get("solver") == "multigrid" else dict(given)
        if given.get("solver") == "jacobi" and not present(given, "iterations", "tolerance", "max_iterations"):
            return {**found, "iterations": SWEEPS}
        if not present(given, "iterations", "max_iterations"):
            found["max_iterations"] = MOST_ITERATIONS
        return found
