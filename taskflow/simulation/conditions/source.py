"""The state of elsewhere that a case names: of another run, of a file, or of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from taskflow.errors import BadInput
from taskflow.simulation.case.initial import GivenState, Initial

if TYPE_CHECKING:
    from taskflow.output import SavedState


def named_state(table: Initial) -> SavedState | None:
    """The state that a table names, if it does. Raises BadInput where it cannot be read."""
    if table.source is None:
        return None
    from taskflow.output import saved_state  # which loads xarray

    source = table.source.dataset if isinstance(table.source, GivenState) else table.source
    with naming(table):
        return saved_state(source, table.time)


@contextmanager
def naming(table: Initial) -> Iterator[None]:
    """Have errors with the state that a table names begin with its key."""
    key = "initial.source" if table.time is None else f"initial.source = {table.source}, initial.time"
    try:
        yield
    except BadInput as error:
        text = f"{error}"
        raise BadInput(f"initial.{text}" if text.startswith("time = ") else f"{key}: {text}") from None
