"""The methods of `ds.flow` that boxes and body-fitted grids share: fields that follow from the velocity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import xarray as xr

from taskflow.common.derived_names import LAMBDA2, SPEED, Q

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Field = TypeVar("Field", xr.DataArray, xr.DataTree)
Records = TypeVar("Records", xr.Dataset, xr.DataTree)


class DerivedFields(ABC, Generic[Field]):
    """Fields that follow from the velocity, computed lazily: on a box an array, on charts a tree."""

    @property
    @abstractmethod
    def _records(self) -> Any:
        """The dataset or tree of the records, with their cells."""

    @abstractmethod
    def field(self, name: str) -> Field:
        """Return a derived field: "speed", "vorticity", "vorticity_x", ..., "Q", "lambda2"."""

    def speed(self) -> Field:
        """Return the velocity magnitude in cell centres.

        Returns
        -------
        xarray.DataArray or xarray.DataTree
            `speed`, L/T.
        """
        return self.field(SPEED)

    def q_criterion(self) -> Field:
        """Return Q, the second invariant of the velocity gradient, in cell centres; positive in vortices, NaN in
        bodies.

        Returns
        -------
        xarray.DataArray or xarray.DataTree
            `Q`, 1/T^2.
        """
        return self.field(Q)

    def lambda2(self) -> Field:
        """Return the second eigenvalue of S^2 + W^2 in cell centres, negative in vortices and NaN in bodies.

        S and W are the symmetric and antisymmetric parts of the velocity gradient.

        Returns
        -------
        xarray.DataArray or xarray.DataTree
            `lambda2`, 1/T^2.
        """
        return self.field(LAMBDA2)

    def streamlines(self, plane: str | None = None) -> Figure:
        """Draw the velocity magnitude of the last snapshot on a plane, with streamlines, as `taskflow plot` does.

        Parameters
        ----------
        plane : str, optional
            "y" (the middle) or "y=0.3".

        Returns
        -------
        matplotlib.figure.Figure
        """
        from taskflow.plots.look import Look
        from taskflow.plots.snapshots import draw, plane_through

        return draw(plane_through(last(self._records), plane), SPEED, Look())


def last(records: Records) -> Records:
    """Return the last snapshot, or the only one."""
    return records.isel(time=-1) if "time" in records.dims else records
