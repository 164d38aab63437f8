"""Pictures and exports of runs on charts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from taskflow.cli.exit_codes import refuse_options
from taskflow.cli.format import tell

if TYPE_CHECKING:
    from taskflow.plots.look import Look

Window = tuple[float, float, float, float]


def draw(
    directory: Path,
    field: str | None,
    plane: str | None,
    time: float | None,
    out: Path | None,
    side: str | None,
    window: Window | None,
    look: Look,
) -> None:
    """Draw a snapshot of a run on charts, or what acts on a side of the grid; print the path."""
    from taskflow.plots.contours import plot_charts, plot_side

    if side is None:
        tell(plot_charts(directory, field, plane, time, out, window, look))
        return
    options = {"--field": field, "--plane": plane, "--window": window, "--range": look.range, "--log": look.log}
    refuse_options(options | {"--cmap": look.cmap, "--size": look.size}, "not with --side: it draws p and shear stress")
    tell(plot_side(directory, side, time, out))


def film(
    directory: Path,
    field: str | None,
    plane: str | None,
    out: Path | None,
    window: Window | None,
    look: Look,
    fps: int,
) -> None:
    """Make a film of the snapshots of a run on charts; print the path."""
    from taskflow.plots.chart_films import animate_charts

    tell(animate_charts(directory, field, plane, out, window=window, look=look, fps=fps))


def export(directory: Path, group: str, time: float | None, out: Path | None, *, vtk: bool, netcdf: bool) -> None:
    """Write the records of a run on charts as VTK or NetCDF files, and print what to open."""
    from taskflow.analysis.charts.export import export_charts
    from taskflow.output import STORE, export_netcdf, tree
    from taskflow.output.charts.reading import tree_at

    records = tree(directory / STORE, group)
    records = records if time is None else tree_at(records, time)
    name = group or "fields"
    if vtk:
        tell(export_charts(records, out or directory / "vtk", name))
    if netcdf:
        tell(export_netcdf(records, (out or directory) / f"{name}.nc"))
