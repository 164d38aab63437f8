"""Records of a run, finished or driven: log, series, forces, pictures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from taskflow.common.errors import BadInput
from taskflow.output import LOG, read_log

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from taskflow.accessor.records import FlowRecords


class RunRecords:
    """The records of a run directory."""

    if TYPE_CHECKING:

        @property
        def directory(self) -> Path: ...

        def dataset(self) -> FlowRecords | Any: ...

    def log(self) -> list[dict[str, Any]]:
        """Return the lines of the log as dictionaries."""
        return read_log(self.directory / LOG)

    @property
    def dt(self) -> float:
        """Length of the last step in the log, T."""
        lines = self.log()
        if not lines:
            raise BadInput(f"{self.directory}: the log has no line yet; wait for the first one")
        return float(lines[-1]["dt"])

    def series(self) -> FlowRecords:
        """Return the log as a dataset over time.

        Vectors have a dimension `axis`. Values of a body have its name before theirs, such as `cylinder_force`.

        Returns
        -------
        xarray.Dataset
        """
        from taskflow.analysis.series import series

        return cast("FlowRecords", series(self.log()))

    def to_pandas(self) -> pd.DataFrame:
        """Return the numbers and words of the log as a table over time, without vectors.

        Returns
        -------
        pandas.DataFrame
        """
        ds = self.series()
        table: pd.DataFrame = (ds.drop_dims("axis") if "axis" in ds.dims else ds).to_dataframe()
        return table

    def forces(self, name: str, reference: Mapping[str, Any] | None = None) -> FlowRecords:
        """Return force and moment on a body over time.

        Parameters
        ----------
        name : str
            Of the obstacle, or of the wall of a body-fitted grid.
        reference : dict, optional
            `velocity`, with `length` (of flows in two dimensions, and for moments) or `area`, and the `direction` of
            drag, by default x. `lift` is its direction, by default across drag.

        Returns
        -------
        xarray.Dataset
            force, its parts pressure and friction, and moment [time, axis], over density. With a reference drag, lift,
            their parts pressure_drag, ..., and moment_coefficient.

        Raises
        ------
        BadInput
            If the log has no such body, or the reference is incomplete.
        """
        from taskflow.analysis.series import forces

        found = forces(self.log(), name, reference, {} if reference is None else self._span())
        return cast("FlowRecords", found)

    def _span(self) -> dict[str, float]:
        """Return the axis across a flow in two dimensions, and the extent over which forces are summed."""
        from taskflow.analysis.charts.plane_meshes import flat_mesh
        from taskflow.output.store.reading import extent

        records: Any = self.dataset()
        if hasattr(records, "children"):
            mesh = flat_mesh(records.isel(time=-1) if "time" in records.dims else records)
            return {} if mesh is None else {next(axis for axis in "xyz" if axis not in mesh.plane): 1.0}
        thin = [axis for axis in "xyz" if records.sizes[f"{axis}_c"] == 1]
        return {axis: extent(records, axis)[1] - extent(records, axis)[0] for axis in thin[:1]}

    def plot(
        self,
        field: str | None = None,
        plane: str | None = None,
        *,
        window: tuple[float, float, float, float] | None = None,
        **look: Any,
    ) -> Figure:
        """Draw the last state as `taskflow plot` does.

        Parameters
        ----------
        field : str, optional
            Recorded or derived. Default: what shows the kind of flow.
        plane : str, optional
            "y" (the middle) or "y=0.3".
        window : four numbers, optional
            On body-fitted grids: the part between x_low, x_high, y_low and y_high.
        **look
            `range`, `log`, `cmap` and `size` of the picture.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        BadInput
            If the field, the plane or an option of the picture is unknown or invalid.
        """
        from taskflow.plots.look import Look, window_of
        from taskflow.plots.snapshots import draw, plane_through
        from taskflow.systems.bodies.given import given_bodies

        records = self.dataset()
        record = records.isel(time=-1) if "time" in records.dims else records
        part = plane_through(record, plane, window_of(window), inside=given_bodies(records.attrs))
        return draw(part, part.chosen(field), Look.of(look))

