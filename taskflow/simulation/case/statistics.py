"""What is averaged over time: [statistics]."""

from typing import Annotated, Literal

from taskflow.errors import BadInput
from taskflow.simulation.case.control import Interval, names
from taskflow.simulation.case.table import NonNegative, Table, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import whole


def _order(value: object) -> int:
    try:
        order = whole(value)
    except BadInput:
        order = 0
    if order not in (1, 2):
        raise BadInput("give 1 for means alone, or 2 for variances and covariances as well")
    return order


class Statistics(Table):
    """Means and, of `order` 2, covariances of `fields` from the time `start` on, of samples taken `every` so often; in
    the store at the end of the run, and whenever `write` says.
    """

    start: NonNegative = 0.0
    every: Interval = Every(steps=10)
    fields: Annotated[tuple[str, ...] | None, reads(names)] = None
    order: Annotated[Literal[1, 2], reads(_order)] = 2
    write: Interval | None = None
