"""The runs of a sweep, with its parameters as dimensions."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.common.errors import BadInput
from taskflow.runs.parameters import Parameter
from taskflow.runs.results import Run

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

SHOWN = ("ended", "steps", "time")  # of the report of each run


@dataclass(frozen=True)
class Study:
    """Runs of a sweep, in the order of the product of `parameters`. The last parameter changes fastest.

    Attributes
    ----------
    directory : pathlib.Path
    parameters : mapping of str to sequence
        Values by name.
    runs : sequence of Run
    """

    directory: Path
    parameters: Mapping[str, Sequence[Any]]
    runs: Sequence[Run] = field(repr=False)
    axes: Sequence[Parameter] = field(repr=False, default=())
    values: Sequence[Mapping[str, Any]] = field(repr=False, default=())

    def dataset(
        self, group: str = "", measure: Callable[[Run], Any] | None = None
    ) -> xr.Dataset | xr.DataArray | xr.DataTree:
        """Return results of all runs as one dataset with the parameters as dimensions: `.sel({"fluid.viscosity":
        0.1})`.

        Components of vectors, zipped names and keys that follow from a name are further coordinates.

        Parameters
        ----------
        group : str
            Group of the stores. Default: snapshots.
        measure : callable, optional
            Called with each Run; returns a number, array or dataset to use instead.

        Returns
        -------
        xarray.Dataset, xarray.DataArray, or on body-fitted grids xarray.DataTree

        Raises
        ------
        BadInput
            If results differ in their coordinates. Use `measure` for runs on different grids.
        """
        if measure is not None and not callable(measure):
            raise BadInput(f"measure = {measure!r}; give a function of a run, which returns a number or an array")
        from taskflow.analysis.sweeps import combined

        results = [measure(run) if measure else run.dataset(group) for run in self.runs]
        whole = combined({axis.dimension: axis.index for axis in self.axes}, results)
        more = {name: (axis.dimension, column) for axis in self.axes for name, column in axis.coordinates.items()}
        return whole.assign_coords(more)

    def measured(self, name: str) -> xr.DataArray:
        """Return a column of the logs for all runs: the last value of a steady run, else the mean after the transient.

        Parameters
        ----------
        name : str
            As in `Run.series`, or the part before a side: "nusselt" is the mean magnitude over its sides, of which heat
            enters through some and leaves through others.

        Returns
        -------
        xarray.DataArray

        Raises
        ------
        BadInput
            If a log has no such column.
        """
        array: Any = self.dataset(measure=lambda run: _last(run, name))
        renamed: xr.DataArray = array.rename(name)
        return renamed

    def plot(self, name: str | Callable[[Run], float], x: str | None = None, *, log: bool = False) -> Figure:
        """Draw a quantity of all runs over a parameter, with a line for each combination of the others.

        Parameters
        ----------
        name : str or callable
            As for `measured`, or a function of a run that returns a number.
        x : str, optional
            A parameter, or a coordinate that follows from one. Default: the first parameter.
        log : bool
            Logarithmic axes.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from taskflow.plots.charts import plot_over

        values: Any = self.dataset(measure=name) if callable(name) else self.measured(name)
        if values.ndim != len(self.axes):
            raise BadInput(f"plot({name!r}): it is not a number; give a function of a run that returns one")
        words = getattr(name, "__name__", "") if callable(name) else name.replace("_", " ")
        return plot_over(values, x or self.axes[0].dimension, words, log=log)

    def to_pandas(self) -> pd.DataFrame:
        """Return a table with the values, the end and the directory of each run."""
        import pandas as pd

        return pd.DataFrame([
            {**values, **{key: run.report.get(key) for key in SHOWN}, "directory": str(run.directory)}
            for values, run in zip(self.values, self.runs, strict=True)
        ])  # fmt: skip

    def _repr_html_(self) -> str:
        table: str = self.to_pandas().to_html(index=False, border=0)
        return f"<p><code>{html.escape(repr(self))}</code></p>{table}"


def _last(run: Run, name: str) -> float:
    from taskflow.analysis.series import LEAST, settled

    ds = run.series()
    numbers = [str(key) for key in ds.data_vars if ds[key].dims == ("time",) and ds[key].dtype.kind == "f"]
    names = [key for key in numbers if (key == name if name in ds else key.startswith(f"{name}_"))]
    if not names:
        raise BadInput(f"{run.directory}: {name} is not in its log; choose one of {', '.join(numbers)}")
    over = run.report.get("ended") in ("steady", "stalled") or ds.sizes["time"] < LEAST
    values = [float(ds[key][-1]) if over else float(settled(ds[key])["mean"]) for key in names]
    return values[0] if names == [name] else sum(map(abs, values)) / len(values)
