"""The tables of implicit marching: step sizes, and the solution of linear equations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from taskflow.cases.formulas.values import checked, share, whole
from taskflow.cases.language.problems import Problem, present, shown, wrong
from taskflow.cases.language.table import Positive, Precision, Table, Whole, entry, optional, reads
from taskflow.cases.tables.control import FieldNames
from taskflow.common.errors import BadInput
from taskflow.flow.models.artificial_compressibility.implicit.correction import Correction
from taskflow.flow.models.artificial_compressibility.implicit.gmres import DEEP, FIRST, SHALLOW, Gmres
from taskflow.flow.models.artificial_compressibility.implicit.krylov import MOST
from taskflow.flow.models.artificial_compressibility.implicit.march import Ramp

LEFT = "of the residual that the linear equations begin with"
OF_GMRES, OF_CORRECTION = ("vectors", "products", "tolerance"), ("sweeps",)


_vectors = checked(whole, lambda count: count <= MOST, f"give at most {MOST}")


def _ordering(value: object) -> object:
    if value == "colours":
        raise BadInput('cells in two colours take 2 to 3 times the products of "tiles"; give that')
    return value


class CflRamp(Table):
    """The CFL number of pseudo-time, for implicit marching."""

    start: Positive = entry("of the first outer iteration", 5.0)
    most: Positive = entry("upper bound", 1e6)
    power: Positive = entry(
        "p in `start` (R_0 / R)^p, R being the residual. Each outer iteration at most triples `cfl`", 0.9
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        start, most = values.get("start", 5.0), values.get("most", 1e6)
        if isinstance(start, int | float) and isinstance(most, int | float) and most < start:
            yield wrong("most", most, f"less than start = {shown(start)}; give that, or more")

    def ramp(self) -> Ramp:
        return Ramp(self.start, self.most, self.power)


class Linear(Table):
    """How the linear equations of an outer iteration are solved."""

    solver: Literal["gmres", "correction"] = entry(
        "`gmres`: with the exact derivative of the residual. `correction`: with the first-order matrix alone",
        "gmres",
    )
    vectors: Annotated[int, Field(ge=1, le=MOST), reads(_vectors)] = entry(
        f"of `gmres`: number of vectors before a restart, at most {MOST}", MOST
    )
    products: Whole = entry(
        f"of `gmres`: the most per outer iteration. After the first {FIRST} vectors each takes {SHALLOW} or {DEEP}",
        Gmres.products,
    )
    tolerance: Annotated[float, Field(gt=0, lt=1), reads(share(LEFT))] | None = optional(
        "of `gmres`: relative reduction of the linear residual",
        otherwise="0.02 to 0.2, smaller the faster residuals fall, and 0.01 in real time",
    )
    sweeps: Whole = entry("of `correction`: number of sweeps in an outer iteration", 4)
    ordering: Annotated[Literal["tiles", "hyperplanes", "blocks", "jacobi"], reads(_ordering)] = entry(
        "coupling of neighbours in the factors: `tiles` of 8 x 8 x 8 cells, `hyperplanes` of charts that are"
        " not cut, `blocks`, hyperplanes of the part of a chart in a block, or `jacobi`, no coupling",
        "tiles",
    )
    coupled: FieldNames = optional(
        '`["T"]`: T is an unknown of the blocks of the factors. Otherwise it has separate factors',
        otherwise="nothing",
    )
    lag: Whole | None = optional(
        "in real time: outer iterations of a step that share factors, 1 for new factors in each",
        otherwise="as many as pay",
    )
    precision: Precision = entry("of the stored factors, and of the vectors of `gmres`", "single")

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        solver = values.get("solver", "gmres")
        others = {"gmres": OF_CORRECTION, "correction": OF_GMRES}.get(solver, ()) if isinstance(solver, str) else ()
        for key in present(values, *others):
            yield wrong(key, values[key], f'with solver = "{solver}" it has no effect; omit it')

    def made(self, *, real: bool) -> Gmres | Correction:
        """Return the solver; `real`: for physical time steps."""
        if self.solver == "correction":
            return Correction(self.sweeps)
        return Gmres(self.vectors, self.products, self.tolerance or (0.01 if real else None))
