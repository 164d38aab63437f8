"""The solver of the pressure equation: [pressure]."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Self

from taskflow.cases.language.problems import Problem, exclusive, present, wrong
from taskflow.cases.language.table import Positive, Precision, Table, Whole, entry, optional
from taskflow.cases.tables.boundaries import Boundaries
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.machine import Machine

SWEEPS = 30  # of Jacobi, in a step
MOST_ITERATIONS = 1000
TOLERANCE = {"single": 1e-4, "double": 1e-6}
LOOSEST = 0.1  # a default that no grid makes larger
ROUNDING = {"single": 6e-8, "double": 1.1e-16}
LEAST_TOLERANCE = {"single": 1e-5, "double": 1e-13}  # some hundred roundings
FEWEST = 4  # cells in a row that multigrid can make fewer of
OF_MULTIGRID = {"outer": "cg", "cycle": "v", "smoother": "red-black"}  # options, each with its default
MORE_OF_MULTIGRID = ("precision", "amalgamate", "levels")  # whose defaults are not in this table


class PressureTable(Table):
    """The solver of the pressure equation. The last solution is always the first guess."""

    solver: Literal["auto", "jacobi", "multigrid", "fft", "cg"] = entry(
        "see below, and [the method](../explanation/method.md#pressure)", "auto"
    )
    iterations: Whole | None = optional(
        "of every solve. Alternatively `tolerance`", otherwise="30 with `jacobi` without `tolerance`"
    )
    tolerance: Positive | None = optional(
        "relative residual",
        otherwise="1e-6, in single precision 1e-4, or more where 1e-4 is out of reach (see below)",
    )
    max_iterations: Whole | None = optional("with `tolerance`: maximum number of iterations", otherwise="1000")
    outer: Literal["cg", "none"] | None = optional(
        "of `multigrid`: `cg`, conjugate gradients preconditioned by a cycle, or `none`, cycles alone",
        otherwise="`cg`",
    )
    cycle: Literal["v", "w", "f"] | None = optional("of `multigrid`", otherwise="`v`")
    smoother: Literal["red-black", "jacobi"] | None = optional(
        "of `multigrid`: `red-black`, one slightly overrelaxed Gauss-Seidel sweep before and one after each"
        " correction, or `jacobi`, two and two weighted sweeps",
        otherwise="`red-black`",
    )
    precision: Literal["auto", "single", "double"] | None = optional(
        "of `multigrid`: of the fields on its levels. `auto`: `single` with a tolerance, else as `machine`. A"
        " resumed run keeps its own",
        otherwise="`auto`",
    )
    amalgamate: Whole | None = optional(
        "of `multigrid`: levels of at most this number of cells are replicated on every block. 1: every level is"
        " decomposed while all blocks have cells of it",
        otherwise="32^3 on CPUs, 64^3 on GPUs",
    )
    levels: Whole | None = optional(
        "of `multigrid`: number of levels after which the cycle ends, with 20 sweeps on the last (truncated)",
        otherwise="down to the first level of at most 256 cells and at most `amalgamate`, solved by its inverse, with"
        " bodies down to one cell",
    )
    forcing: Whole | None = optional(
        "of `fft` around obstacles: the number of forced solves in a projection. A divergence remains next to"
        " them ([method](../explanation/method.md#bodies))",
        otherwise="4",
    )

    _resumed: Precision | None = None  # of the levels of the run that is resumed

    def level_precision(self, machine: Machine) -> Precision:
        """The precision of the levels of multigrid."""
        auto = self._resumed or ("double" if self.tolerance is None else "single")
        return "single" if "single" in (machine.precision, self.precision or auto) else "double"

    def resumed(self, levels: Precision) -> Self:
        """The table of a resumed run, whose levels have had this precision. The table has the same text."""
        table = self.model_copy()
        table._resumed = levels
        return table

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        solver = values.get("solver", "auto")
        if solver != "fft" and values.get("forcing") is not None:
            yield wrong("forcing", values["forcing"], 'only solver = "fft" needs it around bodies; omit it')
        if solver != "multigrid":
            for key in present(values, *OF_MULTIGRID, *MORE_OF_MULTIGRID):
                yield wrong(key, values[key], 'an option of multigrid; give solver = "multigrid", or omit it')
        if solver == "fft":
            for key in present(values, "iterations", "tolerance", "max_iterations"):
                yield wrong(key, values[key], 'solver = "fft" is direct, and exact to rounding; omit it')
            return
        yield from exclusive(values, "iterations", "tolerance")
        if present(values, "iterations", "max_iterations") == ["iterations", "max_iterations"]:
            remedy = "it bounds the iterations to a tolerance; give one of iterations and max_iterations"
            yield wrong("max_iterations", values["max_iterations"], remedy)
        if solver == "jacobi" and values.get("max_iterations") == 1:
            yield wrong("max_iterations", 1, "Jacobi's sweeps to a tolerance come in pairs; give 2 or more")

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        if values.get("solver") == "fft":
            return values
        filled = {**OF_MULTIGRID, **values} if values.get("solver") == "multigrid" else dict(values)
        if filled.get("precision") == "auto":
            del filled["precision"]  # the same case as without it
        if values.get("solver") == "jacobi" and not present(values, "iterations", "tolerance", "max_iterations"):
            return {**filled, "iterations": SWEEPS}
        if not present(values, "iterations", "max_iterations"):
            filled["max_iterations"] = MOST_ITERATIONS
        return filled

    def completed(self, tables: Mapping[str, Any]) -> Self:
        """Fill in the tolerance that the precision of the run allows, if iterations end at a tolerance."""
        if self.max_iterations is None or self.tolerance is not None:
            return self
        precision = tables["machine"].precision
        tolerance = max(TOLERANCE[precision], min(_left(tables["grid"], precision), LOOSEST))
        return self.model_copy(update={"tolerance": tolerance})


def _left(grid: GridTable, precision: str) -> float:
    """The relative residual, about, that the digits of p leave of the smoothest right-hand side, whatever the solver.

    Rounding of p is multiplied by 1 / spacing^2, p itself by 1 / length^2. In single precision 6e-5 was left at 128^3
    and 1.1e-3 at 512^3 of a Taylor-Green vortex.
    """
    narrowest = grid.staggered((False, False, False)).narrowest
    rows = [(length, narrowest(a)) for a, length in enumerate(grid.lengths) if grid.cells[a] > 1]
    longest, finest = max((length for length, _ in rows), default=1.0), min((step for _, step in rows), default=1.0)
    return ROUNDING[precision] * (longest / finest) ** 2 / 10


def _precision_suffices(pressure: PressureTable, machine: Machine) -> Iterator[Problem]:
    least = LEAST_TOLERANCE[machine.precision]
    if pressure.tolerance is not None and not least <= pressure.tolerance < 1:
        rounded = f"residuals are relative, and rounded in {machine.precision} precision"
        remedy = f"{rounded}; give {least:g} or more, below 1"
        yield wrong(("pressure", "tolerance"), pressure.tolerance, remedy)
    if pressure.precision == "double" and machine.precision == "single":
        remedy = 'machine.precision is "single", and corrections cannot be finer; omit it'
        yield wrong(("pressure", "precision"), pressure.precision, remedy)


def _multigrid_has_cells(grid: GridTable, pressure: PressureTable) -> Iterator[Problem]:
    if pressure.solver == "multigrid" and max(grid.cells) < FEWEST:
        remedy = f'{" x ".join(map(str, grid.cells))} cells are too few to coarsen; give "fft" or "jacobi"'
        yield wrong(("pressure", "solver"), pressure.solver, remedy)


def untransformed(grid: GridTable, boundaries: Boundaries) -> str | None:
    """Why an FFT cannot solve for the pressure; None where it can."""
    stretched = [axis for axis in AXES if grid.stretching and getattr(grid.stretching, axis) is not None]
    if sideways := [axis for axis in stretched if axis != "z"]:
        verb = "is" if len(sideways) == 1 else "are"
        return f"FFT transforms along x and y, and {' and '.join(sideways)} {verb} stretched"
    return "z is stretched and periodic" if stretched and boundaries.z is not None else None


def _pressure_can_be_solved(grid: GridTable, boundaries: Boundaries, pressure: PressureTable) -> Iterator[Problem]:
    reason = untransformed(grid, boundaries)
    if reason and pressure.solver == "fft":
        yield wrong(("pressure", "solver"), pressure.solver, f'{reason}; stretch z alone, or give "multigrid"')


PressureTable.rules = (_precision_suffices, _multigrid_has_cells, _pressure_can_be_solved)
