"""The residuals of a flow on charts: their largest values and sums of squares over all cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from taskflow.flow.models.artificial_compressibility import measures
from taskflow.flow.models.artificial_compressibility.equations import Numbers
from taskflow.flow.models.artificial_compressibility.flow_on_charts import CollocatedFlow
from taskflow.flow.models.artificial_compressibility.stage import residual
from taskflow.runtime.tasks import Launch, Roles, reduced


def residuals(model: CollocatedFlow, f: Roles, prefix: str = "") -> Iterator[Launch]:
    """Compute the scalars most_q = max |R / V| and squares_q, the sum of (R / V)^2, of each equation, with a prefix, in
    the `unit` of the model.

    Needs ghost values of the present state. Overwrites the next state with R / V.
    """
    if model.method.local:
        yield from model.compressibility(f)
    for scalar in model.passive:
        yield _residual(model, f, scalar.name, model.carrying(scalar))
        yield from _sizes(model, f, scalar.name, prefix)
    yield _residual(model, f, "T" if model.heat else None, model.numbers)
    for name in model.flow:
        yield from _sizes(model, f, name, prefix)


def norm(model: CollocatedFlow, scalars: Mapping[str, float], *names: str, prefix: str = "") -> float:
    """Return the root mean square of R / V over all cells, of some equations together, in the `unit` of the model."""
    total = sum(reduced(scalars, f"{prefix}squares_{name}")[0] for name in names)
    return (total / sum(chart.volume for chart in model.cells)) ** 0.5


def _residual(model: CollocatedFlow, f: Roles, carried: str | None, numbers: Numbers) -> Launch:
    heat = (f[carried], f[f"{carried}_new"]) if carried else None
    return residual(
        (f.p, f.u, f.v, f.w, f.sides), tuple(f[f"{name}_new"] for name in "puvw"), heat,
        model.past(f, carried), *model.place(f)[1:], model.surface_fields(f), over=model.cells, rate=model.change(f),
        numbers=numbers,
    )  # fmt: skip


def _sizes(model: CollocatedFlow, f: Roles, name: str, prefix: str) -> Iterator[Launch]:
    most, squares = f.scalar(f"{prefix}most_{name}"), f.scalar(f"{prefix}squares_{name}")
    yield measures.largest(f[f"{name}_new"], over=model.cells, most=most)
    yield measures.sum_of_squares(f[f"{name}_new"], over=model.cells, squares=squares, most=most)
