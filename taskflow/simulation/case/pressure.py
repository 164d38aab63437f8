"""The solver of the pressure equation: [pressure]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import model_validator

from taskflow.simulation.case.problems import Problem, present, wrong
from taskflow.simulation.case.table import Positive, Precision, Table, Whole, entry, reads
from taskflow.simulation.values import one_of

SWEEPS = 30  # of Jacobi, in a step
MOST_ITERATIONS = 1000
OF_MULTIGRID = {"outer": "cg", "cycle": "v", "smoother": "red-black"}  # options, each with its default

MORE_OF_MULTIGRID = ("precision", "amalgamate", "levels")  # whose defaults are not in this table

Name = Literal["auto", "jacobi", "multigrid", "fft"]


class Pressure(Table):
    """How the pressure equation is solved. The last solution is always the starting guess."""

    solver: Annotated[Name, reads(one_of("auto", "jacobi", "multigrid", "fft"))] = entry(
        "see below, and [the method](../explanation/method.md#pressure)", "auto"
    )
    iterations: Whole | None = entry(
        "of every solve; or else `tolerance`", None, otherwise="with `jacobi` 30, where no `tolerance` is given"
    )
    tolerance: Positive | None = entry(
        "the relative residual to reach",
        None,
        otherwise="1e-6, in single precision 1e-4, or more where that cannot be reached (see below)",
    )
    max_iterations: Whole | None = entry("with `tolerance`: at most so many", None, otherwise="1000")
    outer: Annotated[Literal["cg", "none"] | None, reads(one_of("cg", "none"))] = entry(
        "of `multigrid`: `cg`, conjugate gradients of which a cycle is the preconditioner, or `none`, cycles alone",
        None,
        otherwise="`cg`",
    )
    cycle: Annotated[Literal["v", "w", "f"] | None, reads(one_of("v", "w", "f"))] = entry(
        "of `multigrid`", None, otherwise="`v`"
    )
    smoother: Annotated[Literal["red-black", "jacobi"] | None, reads(one_of("red-black", "jacobi"))] = entry(
        "of `multigrid`: `red-black`, one Gauss-Seidel sweep before and one after each correction, slightly"
        " overrelaxed, or `jacobi`, two and two weighted ones",
        None,
        otherwise="`red-black`",
    )
    precision: Precision | None = entry(
        "of `multigrid`: of the fields of its levels. With `single` in a run of double precision less is moved for"
        " the same tolerance",
        None,
        otherwise="that of `machine`",
    )
    amalgamate: Whole | None = entry(
        "of `multigrid`: levels of at most so many cells are on every block as a whole; 1: every level is cut as"
        " long as all blocks have cells of it",
        None,
        otherwise="32^3 on CPUs, 64^3 on GPUs",
    )
    levels: Whole | None = entry(
        "of `multigrid`: the cycle ends after so many levels, with 20 sweeps on the last (truncated)",
        None,
        otherwise="down to the first of at most 256 cells, and of at most `amalgamate`, which is solved by its inverse;"
        " beside bodies down to one cell",
    )
    forcing: Whole | None = entry(
        "of `fft` around obstacles: how often a projection forces the velocity in them and solves again. What is"
        " left is a divergence beside them: see [the method](../explanation/method.md#bodies)",
        None,
        otherwise="4",
    )

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
