"""The method that follows the interface between two phases, as their equations ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Launch, Repeat, Roles


class InterfaceMethod(Protocol):
    """A method that follows the interface. It hands over the shares of phase 1 before and after a step, in the fields f
    and f_new in the centres of cells, and the curvature.

    The mass that a step carries through faces follows from f, and not from f_new: what momentum is divided by is the
    mass after transport (`taskflow.flow.models.two_phase.momentum`).
    """

    @property
    def fields(self) -> dict[str, Location]:
        """Its own fields by role."""

    @property
    def ghost(self) -> int:
        """The layers of ghost cells that it reads."""

    @property
    def surface(self) -> tuple[str, float]:
        """A role, and the value of its field on the interface, beside which the field is as linear as can be."""

    def start(self, f: Roles) -> Iterator[Launch | Repeat]:
        """From the initial values of its fields to f, without ghost values beyond the domain."""

    def shares(self, f: Roles) -> Iterator[Launch]:
        """f of its own fields as they are, without ghost values beyond the domain."""

    def summed(self, f: Roles) -> Iterator[Launch]:
        """f of its own fields, moved such that its sum is that of the f that is there, without ghost values likewise.
        """

    def advance(self, f: Roles) -> Iterator[Launch]:
        """Carries the interface over a step by u + 0.1 ratio (u - u_old), and leaves f_new, likewise."""

    def curvature(self, f: Roles) -> Iterator[Launch]:
        """kappa = div n of the new interface, n being its normal out of phase 1, where it has one; 0 elsewhere."""

    def failures(self, f: Roles) -> Iterator[Launch]:
        """The scalar `curvature_failed`: the number of cells with a part of the interface for which `curvature` found
        none.
        """

    def numbers(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return what it adds to a line of the log, from the scalars of the last step."""
