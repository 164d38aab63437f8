"""Ghost values of a model beyond its sides, and beyond two of them, of the flow and of passive scalars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from taskflow.flow.models.artificial_compressibility.equations import Passive
from taskflow.flow.models.artificial_compressibility.sides import (
    Condition,
    Side,
    edge_ghosts,
    scalar_edge_ghosts,
    scalar_ghosts,
    side_ghosts,
)
from taskflow.runtime.tasks import Launch, Roles

if TYPE_CHECKING:
    from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility


def ghosts_of_flow(
    model: ArtificialCompressibility, f: Roles, sides: Iterable[Side], flow: tuple[str, ...], T: str | None
) -> Iterator[Launch]:
    """Those of fields of p, u, v, w and T, by what these sides say."""
    metrics = None if model.spacing else f.metrics
    numbers = _spreading(model, model.numbers.diffusivity)
    for side in sides:
        yield from side_ghosts(side, flow, T, metrics, numbers)
    for edge in model.edges:
        yield edge_ghosts(edge, flow[1:], T)


def ghosts_of_scalar(
    model: ArtificialCompressibility, f: Roles, sides: Iterable[Side], scalar: Passive, field: str
) -> Iterator[Launch]:
    """Those of a field of a passive scalar, by what these sides say of it."""
    metrics, numbers = None if model.spacing else f.metrics, _spreading(model, scalar.diffusivity)
    for side in sides:
        yield from scalar_ghosts(side, scalar.name, field, metrics, numbers)
    for edge in model.edges:
        yield scalar_edge_ghosts(edge, field)


def _spreading(model: ArtificialCompressibility, diffusivity: float) -> Condition:
    return Condition(diffusivity=diffusivity, volume=model.numbers.volume, areas=model.numbers.areas)
