"""How well the equations are solved: the largest residuals, and sums of squares with the same bits for any blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from taskflow.flow.models.artificial_compressibility import measures
from taskflow.flow.models.artificial_compressibility.equations import Numbers
from taskflow.flow.models.artificial_compressibility.flow_on_charts import FlowOnCharts
from taskflow.flow.models.artificial_compressibility.stage import residual
from taskflow.runtime.tasks import Launch, Roles, reduced


def residuals(model: FlowOnCharts, f: Roles, prefix: str = "") -> Iterator[Launch]:
    """The scalars most_q = max |R / V| and squares_q, the sum of (R / V)^2, of each equation, behind a prefix; of
    passive scalars that are `judged`, too. Ghost values have to be those of the present state. The roles of the next
    state hold R / V afterwards.
    """
    if model.method.local:
        yield from model.compressibility(f)
    for scalar in model.judged:
        yield _residual(model, f, scalar.name, replace(model.numbers, diffusivity=scalar.diffusivity))
        yield from _sizes(model, f, scalar.name, prefix)
    yield _residual(model, f, "T" if model.heat else None, model.numbers)
    for name in model.flow:
        yield from _sizes(model, f, name, prefix)


def norm(model: FlowOnCharts, scalars: Mapping[str, float], *names: str, prefix: str = "") -> float:
    """The root mean square of R / V over all cells, of some equations together."""
    total = sum(reduced(scalars, f"{prefix}squares_{name}")[0] for name in names)
    return (total / sum(chart.volume for chart in model.cells)) ** 0.5


def _residual(model: FlowOnCharts, f: Roles, carried: str | None, numbers: Numbers) -> Launch:
    """That of the flow, with what it carries."""
    heat = (f[carried], f[f"{carried}_new"]) if carried else None
    return residual(
        tuple(f[name] for name in "puvw"), tuple(f[f"{name}_new"] for name in "puvw"), heat,
        model.past(f, carried), *model.place(f), over=model.cells, rate=model.change(f), numbers=numbers,
    )  # fmt: skip


def _sizes(model: FlowOnCharts, f: Roles, name: str, prefix: str) -> Iterator[Launch]:
    most, squares = f.scalar(f"{prefix}most_{name}"), f.scalar(f"{prefix}squares_{name}")
    yield measures.largest(f[f"{name}_new"], over=model.cells, most=most)
    yield measures.sum_of_squares(f[f"{name}_new"], over=model.cells, squares=squares, most=most)
