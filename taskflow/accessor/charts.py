"""`tree.flow`: the functions of `taskflow.analysis.charts` as methods of a tree of a run on body-fitted grids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from taskflow.accessor.derived import DerivedFields
from taskflow.analysis.charts import derived as on_charts
from taskflow.analysis.charts.metrics import with_volumes
from taskflow.analysis.charts.sides import side
from taskflow.common.derived_names import COMPONENTS, WORDS
from taskflow.common.errors import BadInput


class ChartsAccessor(DerivedFields[xr.DataTree]):
    """Derived quantities of a flow on a body-fitted grid, computed lazily.

    All methods raise BadInput if fields or coordinates are missing.
    """

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree = tree

    @property
    def _records(self) -> xr.DataTree:
        return self._tree

    def side(self, name: str) -> xr.Dataset:
        """Return values on the faces of a side.

        Parameters
        ----------
        name : str
            Name of the side in [boundaries].

        Returns
        -------
        xarray.Dataset
            Fields of the adjacent cells, pressure and, on a wall, shear stress; centres, normals and areas of the
            faces.
        """
        return side(self._records, name)

    def at(self, point: Sequence[float] | np.ndarray) -> xr.Dataset:
        """Return all fields of the cells that contain points.

        Parameters
        ----------
        point : array [xyz] or [n, xyz]

        Returns
        -------
        xarray.Dataset
            With a dimension `point` for several points.
        """
        return on_charts.at(self._records, point)

    def vorticity(self) -> xr.DataTree:
        """Return the vorticity, the curl of the velocity, in each cell.

        Returns
        -------
        xarray.DataTree
            vorticity_x, vorticity_y, vorticity_z, 1/T.
        """
        return on_charts.derived(self._records, *COMPONENTS)

    def field(self, name: str) -> xr.DataTree:
        """Return a derived field: "speed", "vorticity", "vorticity_x", ..., "Q", "lambda2".

        Parameters
        ----------
        name : str

        Returns
        -------
        xarray.DataTree
        """
        if name not in WORDS:
            raise BadInput(f"field({name!r}): unknown field; choose one of {', '.join(WORDS)}")
        return on_charts.derived(self._records, name)

    def volumes(self) -> xr.DataTree:
        """Return the `volume` of each cell, L^3.

        Returns
        -------
        xarray.DataTree
        """
        return with_volumes(self._records)
