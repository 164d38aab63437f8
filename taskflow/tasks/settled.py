"""A program in the long run: what one pass after many others has to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from taskflow.regions import Partition
from taskflow.tasks.exchange import Geometries, Valid, exchange
from taskflow.tasks.program import Program, Roles, record
from taskflow.tasks.task import Launch


class Settled(NamedTuple):
    """The launches of a pass, those of the next one (roles change), and the ghost cells that are valid before them."""

    launches: tuple[Launch, ...]
    following: tuple[Launch, ...]
    valid: Valid


def settled(
    program: Program, partition: Partition, blocks: Iterable[int] | None = None, known: Geometries | None = None
) -> Settled:
    """The second pass of a program: all later ones are like it, but for the roles of the fields. `blocks` and `known`
    are as in `exchange`.

    Raises BadInput where the program is impossible on this partition.
    """
    first, roles = record(program, Roles.of(tuple(partition.fields)))
    second, roles = record(program, roles)
    third, _ = record(program, roles)
    return Settled(second, third, exchange(first, partition, following=second, blocks=blocks, known=known).valid)
