"""A quantity of the runs of a sweep over one of its parameters."""

from __future__ import annotations

from itertools import product

import numpy as np
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from taskflow.common.errors import BadInput


def plot_over(values: xr.DataArray, x: str, words: str, *, log: bool) -> Figure:
    """Return a figure of values over a coordinate, with a line for each combination of the other dimensions.

    Raises BadInput if the coordinate does not exist, or logarithmic axes have a value that is not positive.
    """
    known = [str(name) for name, coordinate in values.coords.items() if coordinate.ndim == 1]
    if x not in known:
        raise BadInput(f"plot(x={x!r}): unknown parameter; choose one of {', '.join(known)}")
    along = str(values[x].dims[0])
    places = values[x].values
    if (log and places.dtype.kind in "iuf" and not (places > 0).all()) or (log and not (values.values > 0).all()):
        raise BadInput(f"plot(x={x!r}, log=True): {x} or {words} is not above 0 everywhere; omit log")
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    others = [str(dim) for dim in values.dims if dim != along]
    for chosen in product(*(range(values.sizes[dim]) for dim in others)):
        line = values.isel(dict(zip(others, chosen, strict=True)))
        order = np.argsort(places) if places.dtype.kind in "iuf" else np.arange(len(places))
        label = ", ".join(f"{dim} = {line[dim].item()}" for dim in others)
        axes.plot(places[order], line.values[order], "o-", linewidth=1.2, markersize=4, label=label)
    if log:
        axes.set_yscale("log")
        if places.dtype.kind in "iuf":
            axes.set_xscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(words)
    axes.grid(alpha=0.3, which="both")
    if others:
        axes.legend(fontsize="small", frameon=False)
    return figure
