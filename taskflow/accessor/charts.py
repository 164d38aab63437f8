"""`tree.flow`: the functions of `taskflow.analysis.charts` as methods of a tree of a run on body-fitted grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from taskflow.accessor.flow import last
from taskflow.analysis.charts import derived as on_charts
from taskflow.analysis.charts.metrics import with_volumes
from taskflow.analysis.charts.sides import side
from taskflow.common.derived_names import SPEED, WORDS
from taskflow.common.errors import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ChartsAccessor:
    """Derived quantities of a flow on a body-fitted grid, computed lazily.

    All methods raise BadInput if fields or coordinates are missing.
    """

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree = tree

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
        return side(self._tree, name)

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
        return on_charts.at(self._tree, point)

    def speed(self) -> xr.DataTree:
        """Return the velocity magnitude `speed`, L/T.

        Returns
        -------
        xarray.DataTree
        """
        return on_charts.derived(self._tree, SPEED)

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
        return on_charts.derived(self._tree, name)

    def volumes(self) -> xr.DataTree:
        """Return the `volume` of each cell, L^3.

        Returns
        -------
        xarray.DataTree
        """
        return with_volumes(self._tree)

    def streamlines(self, plane: str | None = None) -> Figure:
        """Draw the velocity magnitude of the last snapshot with streamlines, as `taskflow plot` does.

        Parameters
        ----------
        plane : str, optional

        Returns
        -------
        matplotlib.figure.Figure
        """
        from taskflow.plots.look import Look
        from taskflow.plots.snapshots import draw, plane_through

        return draw(plane_through(last(self._tree), plane), SPEED, Look())
