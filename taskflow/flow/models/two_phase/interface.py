"""What two phases need of the method that carries their interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from taskflow.flow.models.two_phase.convection import Convection
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, Roles


class Interface(Protocol):
    """An interface that moves with the flow. It provides the shares of phase 1 before and after a step in the
    cell-centred fields f and f_new, without ghost values, and with surface tension the curvature in the field kappa.
    Its `convection` has the mass fluxes, and moves momentum with them.
    """

    @property
    def fields(self) -> Mapping[str, Location]:
        """Its own fields by role."""

    @property
    def ghost(self) -> int:
        """Layers of ghost cells that it reads."""

    @property
    def convection(self) -> Convection:
        """How momentum is moved."""

    @property
    def width(self) -> float:
        """Half the width over which the density changes."""

    def start(self, f: Roles) -> Iterator[Launch]:
        """Yield the launches that make the first state, f and the scalar `kept`, the sum of f, from initial values."""

    def shares(self, f: Roles) -> Iterator[Launch]:
        """Compute f and the scalar `kept` from its own fields."""

    def restore_sums(self, f: Roles) -> Iterator[Launch]:
        """Compute its own fields, and f, such that f keeps its present sum."""

    def advance(self, f: Roles) -> Iterator[Launch]:
        """Move the interface over a step, from f to f_new."""

    def curvature(self, f: Roles, share: str) -> Iterator[Launch]:
        """Compute kappa = div n of the present interface, which has the shares in a field, n being the normal out of
        phase 1.
        """

    def failures(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalars that count its failures, with surface tension: cells without a curvature."""

    def counts(self, scalars: Mapping[str, float]) -> dict[str, int]:
        """Return the counts of `failures`, for a log line."""

    def numbers(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return further numbers for a log line, from the scalars of a step."""
