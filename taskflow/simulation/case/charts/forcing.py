"""Forces on all fluid on charts: [body]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np

from taskflow.errors import BadInput
from taskflow.simulation.case.charts.sides import LATER, change, components, vary
from taskflow.simulation.case.initial import VectorExpression, vector_expression
from taskflow.simulation.case.table import Table, Vector, entry, reads


class ChartForcing(Table):
    """Accelerations of the whole fluid."""

    refused: ClassVar[Mapping[str, str]] = dict.fromkeys(("rotation", "geostrophic_wind", "bulk_velocity"), LATER)

    gravity: Vector = entry("acts through `heat`", (0.0, 0.0, 0.0))
    force: Annotated[VectorExpression, reads(vector_expression)] = entry(
        "acceleration of all fluid: three numbers, or expressions in x, y and z, in real time in t, too",
        (0.0, 0.0, 0.0),
    )

    @property
    def varies(self) -> bool:
        """Whether the force is not the same everywhere."""
        return vary(self.force)

    @property
    def changes(self) -> bool:
        """Whether it changes in time."""
        return change(self.force)

    @property
    def numbers(self) -> Vector:
        """The force where it is the same everywhere, else 0: it is a field then."""
        x, y, z = (item if isinstance(item, float) and not self.varies else 0.0 for item in self.force)
        return x, y, z

    def at(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float = 0.0) -> list[np.ndarray]:
        """Its components at points and a time. Raises BadInput where one is not finite."""
        try:
            return components(self.force, x, y, z, t)
        except BadInput as error:
            raise BadInput(f"body.force: {error}") from None
