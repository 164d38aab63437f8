"""The problems of a grid: all of them at once."""

from __future__ import annotations

from collections.abc import Iterable

from taskflow.errors import BadArgument, BadInput


class BadGrid(BadInput):
    """A grid that cannot be used. `problems` are all that is wrong with it: a `BadArgument` where that is one key of a
    generator, else a `BadInput` that names the file and line, or the chart; one line of the message each.
    """

    def __init__(self, problems: Iterable[BadInput]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def all_right(problems: Iterable[BadInput]) -> None:
    """Raise BadGrid where there are problems."""
    if bad := tuple(problems):
        raise BadGrid(bad)


def unavailable(parameter: str, value: str | None, what: str, remedy: str) -> BadArgument:
    """The problem with something that grids may have, but not here."""
    return BadArgument(parameter, value, f": {what} not available in this version", remedy)
