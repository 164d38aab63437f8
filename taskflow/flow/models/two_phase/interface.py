"""Protocol of the methods that carry the interface of two phases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from taskflow.flow.boundaries.condition import Velocity
from taskflow.flow.models.two_phase.convection import Convection
from taskflow.flow.operators.phases import Phases
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, Roles


class InterfaceMethod(Protocol):
    """An interface that moves with the flow. It provides the shares of phase 1 before and after a step in the
    cell-centred fields f and f_new, without ghost values, the mass fluxes and the convection of momentum with them by
    its `convection`, the curvature in the field kappa, with surface tension, and g.(x - place), if the phases differ in
    weight.
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

    @property
    def weighed(self) -> str:
        """The role of the field that `fall` writes. It may be one that `advance` alone uses otherwise."""

    def start(self, f: Roles) -> Iterator[Launch]:
        """Yield the launches that make the first state, f and the scalar `kept`, the sum of f, from initial values."""

    def shares(self, f: Roles) -> Iterator[Launch]:
        """Compute f and the scalar `kept` from its own fields."""

    def restore_sums(self, f: Roles) -> Iterator[Launch]:
        """Compute its own fields, and f, such that the sum of f equals the sum of the present f."""

    def extend(self, f: Roles) -> Iterator[Launch]:
        """Extend its own field into bodies."""

    def advance(self, f: Roles) -> Iterator[Launch]:
        """Move the interface over a step, from f to f_new."""

    def ghosts(self, share: str, velocity: Velocity) -> Iterator[Launch]:
        """Fill ghost values of shares, with the velocity that decides where fluid enters."""

    def curvature(self, f: Roles, share: str) -> Iterator[Launch]:
        """Compute kappa = div n of the present interface, which has the shares in a field, n being the normal out of
        phase 1.
        """

    def fall(self, f: Roles, share: str, phases: Phases) -> Iterator[Launch]:
        """Compute the field `weighed`: g.(x - place) in the centres of cells, with the place of the present interface,
        which has the shares in a field, and infinity in cells without one. Where f changes between two such cells, the
        interface is on the face.
        """

    def failures(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalars that count its failures, with surface tension: cells without a curvature."""

    def counts(self, scalars: Mapping[str, float]) -> dict[str, int]:
        """Return the counts of `failures`, for a log line."""

    def numbers(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return further numbers for a log line, from the scalars of a step."""
