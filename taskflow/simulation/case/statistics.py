"""What is averaged over time: [statistics]."""

from typing import Annotated, Literal

from taskflow.errors import BadInput
from taskflow.simulation.case.control import EVERYTHING, Interval, names
from taskflow.simulation.case.table import NonNegative, Table, entry, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import truth, whole


def _order(value: object) -> int:
    try:
        order = whole(value)
    except BadInput:
        order = 0
    if order not in (1, 2):
        raise BadInput("give 1 for means alone, or 2 for variances and covariances as well")
    return order


class Statistics(Table):
    """Means and covariances in time."""

    start: NonNegative = entry("the time from which on samples count", 0.0)
    every: Interval = entry("as `output.every`: when a sample is taken. Cuts no step", Every(steps=10))
    fields: Annotated[tuple[str, ...] | None, reads(names)] = entry(
        "some of the fields that `output.fields` may have; `u`, `v` and `w` together", None, otherwise=EVERYTHING
    )
    order: Annotated[Literal[1, 2], reads(_order)] = entry("1: means; 2: variances and covariances as well", 2)
    budget: Annotated[bool, reads(truth)] = entry(
        "also what the [budget of turbulent kinetic energy](../howto/statistics.md#budget) needs; with `order = 2`, and"
        " u, v, w and p",
        False,
    )
    write: Interval | None = entry(
        "as `output.every`: when they are written, besides the end", None, otherwise="only at the end"
    )
