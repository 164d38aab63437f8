"""Files that commands write: example cases and their schema, pictures, films and exports of a run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import taskflow
from taskflow.common.units import plural
from taskflow.terminal.exit_codes import refuse, refuse_options, writing
from taskflow.terminal.format import tell

if TYPE_CHECKING:
    from taskflow.plots.look import Look

Window = tuple[float, float, float, float]


def folder() -> Path:
    """Return the folder of the examples: inside the package, or next to it in a checkout."""
    package = Path(taskflow.__file__).parent
    inside = package / "examples"
    return inside if inside.is_dir() else package.parent / "examples"


def names() -> list[str]:
    """Return the names of the examples."""
    return sorted(path.stem for path in folder().glob("*.toml"))


def data(example: str) -> list[Path]:
    """Return the data files of an example: files next to it that have its name, or that it names."""
    text = (folder() / f"{example}.toml").read_text(encoding="utf-8")
    others = (path for path in folder().iterdir() if path.is_file() and path.suffix != ".toml")
    return sorted(path for path in others if path.name.startswith(f"{example}.") or f'"{path.name}"' in text)


def write(path: Path, example: str) -> None:
    """Write an example to a new file, with its data files next to it, and print the next commands.

    Raises BadInput if a file cannot be written.
    """
    if example not in names():
        refuse(f"--example {example}: unknown example; choose one of {', '.join(names())}")
    for file in data(example):
        copy = path.parent / file.name
        if not (copy.is_file() and copy.read_bytes() == file.read_bytes()):
            _write(copy, file.read_bytes(), "move it away: the example reads another file of this name")
            typer.echo(f"{copy} is written: {path.name} reads it")
    _write(path, (folder() / f"{example}.toml").read_bytes(), "choose another name")
    typer.echo(f"{path} is written. Next: taskflow check {path}, taskflow run {path}")


def _write(path: Path, content: bytes, remedy: str) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        refuse(f"{path} exists; {remedy}")
    except (OSError, ValueError) as error:
        refuse(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error}); choose another name")


def write_schema(path: Path | None) -> None:
    """Write the JSON schema of case files to a file or standard output. Raises BadInput if it cannot be written."""
    from taskflow.cases.schema import schema

    text = json.dumps(schema(), indent=2)
    if path is None:
        typer.echo(text)
        return
    with writing(path):
        path.write_text(f"{text}\n", encoding="utf-8")
    typer.echo(f"{path} is written")


def draw(
    directory: Path,
    field: str | None,
    plane: str | None,
    time: float | None,
    out: Path | None,
    references: Sequence[Path],
    *,
    interface: bool = False,
    side: str | None = None,
    window: Window | None = None,
    look: Look,
) -> None:
    """Draw a snapshot and, if tables are given, the centreline profiles with them, and print the paths.

    On charts, draw the part in a `window`, or the loads on a `side` of the grid. If a file is named, the profiles go to
    FILE_profiles next to it.
    """
    from taskflow.output import STORE, has_charts
    from taskflow.plots.charts import plot_profiles, plot_side
    from taskflow.plots.snapshots import plot_run
    from taskflow.systems.bodies.given import given_bodies

    with writable(directory, out):
        if has_charts(directory / STORE):
            refuse_options({"--reference": references}, "not of runs on charts in this version")
        else:
            refuse_options({"--side": side}, "of runs on charts alone")
        if side is not None:
            options = {"--field": field, "--plane": plane, "--window": window, "--range": look.range, "--log": look.log}
            options |= {"--cmap": look.cmap, "--size": look.size}
            refuse_options(options, "not with --side: it draws p and shear stress")
            return tell(plot_side(directory, side, time, out))
        from taskflow.analysis.profiles import compare_profiles

        differences = compare_profiles(directory, references, plane, time) if references else {}
        how: dict[str, Any] = {"interface": interface, "window": window, "look": look, "bodies": given_bodies}
        tell(plot_run(directory, field, plane, time, out, **how))
        if references:
            beside = out and out.suffix and not out.is_dir()
            target = out.with_stem(f"{out.stem}_profiles") if out and beside else out
            for path in plot_profiles(directory, references, plane, time, target):
                tell(path)
        for table, difference in differences.items():
            text = "no point lies between cell centres" if math.isnan(difference) else f"{difference:.2g}"
            tell(f"{table}: largest difference {text}")
    return None


def draw_series(directory: Path, out: Path | None, name: str | None, *, forces: bool) -> None:
    """Draw the log over time, one column of it, or the forces on all bodies or on one, and print the path."""
    from taskflow.plots.charts import plot_series
    from taskflow.plots.measured import plot_forces, plot_named

    with writable(directory, out):
        if forces:
            return tell(plot_forces(directory, name, out))
        tell(plot_series(directory, out) if name is None else plot_named(directory, name, out))
    return None


def film(
    directory: Path,
    field: str | None,
    plane: str | None,
    out: Path | None,
    *,
    interface: bool = False,
    window: Window | None = None,
    look: Look,
    fps: int | None,
) -> None:
    """Make a film of the snapshots, on charts of the part in a `window`, and print the path."""
    from taskflow.plots.films import PER_SECOND, animate_run
    from taskflow.systems.bodies.given import given_bodies

    with writable(directory, out):
        fps = PER_SECOND if fps is None else fps
        how: dict[str, Any] = {"interface": interface, "window": window, "look": look, "bodies": given_bodies}
        tell(animate_run(directory, field, plane, out, fps=fps, **how))


@contextmanager
def writable(directory: Path, out: Path | None) -> Iterator[None]:
    """Raise BadInput if a place cannot be written."""
    try:
        yield
    except OSError as error:
        refuse(f"{error.filename or out or directory}: {error.strerror or error}; choose another place with -o")


def draw_graph(path: Path, settings: Sequence[str], out: Path | None, *, everything: bool) -> None:
    """Draw the graph of a step: as DOT to standard output or a file, or as a picture."""
    from taskflow.cases import Case
    from taskflow.runs.estimate.estimate import step_graph
    from taskflow.runtime.profile.drawing import draw as drawn
    from taskflow.runtime.profile.drawing import to_dot

    case = Case.load(path, settings)
    graph = step_graph(case)
    drawing = drawn(graph, everything=everything)
    if out is None:
        typer.echo(to_dot(drawing), nl=False)
        return
    with writing(out):
        if out.suffix in ("", ".dot", ".gv"):
            out.write_text(to_dot(drawing), encoding="utf-8")
        else:
            from taskflow.runtime.profile.graph import plot_graph

            plot_graph(drawing, out, f"{case.title}: one step")
    hidden = "" if everything else f" in {len(drawing.boxes)} boxes; --all draws every one"
    tell(f"{out}: {plural(len(graph.nodes), 'node')}{hidden}")


def export_run(directory: Path, group: str, time: float | None, out: Path | None, *, vtk: bool, netcdf: bool) -> None:
    """Write the snapshots, or another group of the store, as VTK or NetCDF files, and print the file to open.

    Raises BadInput if the group or record does not exist.
    """
    from taskflow.analysis.charts.export import export_charts
    from taskflow.output import STORE, at_time, dataset, export_netcdf, export_vtk, has_charts, tree

    store, name = directory / STORE, group or "fields"
    ways: Any = (tree, export_charts) if has_charts(store, group) else (dataset, export_vtk)
    read, write_vtk = ways
    records = read(store, group) if time is None else at_time(read(store, group), time)
    with writable(directory, out):
        if vtk:
            tell(write_vtk(records, out or directory / "vtk", name))
        if netcdf:
            tell(export_netcdf(records, (out or directory) / f"{name}.nc"))


def list_droplets(directory: Path, phase: int, time: float | None, out: Path | None) -> None:
    """Print the connected parts of a phase, or write them to a file of comma-separated values.

    Raises BadInput if the run has no shares of phases, or no such record.
    """
    from taskflow.analysis.droplets import droplets
    from taskflow.output import STORE, at_time, dataset
    from taskflow.terminal.format import table

    ds = dataset(directory / STORE)
    found = droplets(ds.isel(time=[-1]) if time is None else at_time(ds, time), phase)
    names = [str(name) for name in found.data_vars]
    if out is None:
        count = found.sizes["droplet"]
        tell(f"{count} parts of phase {phase} at time {float(found.time):g}")
        shown = [name for name in names if not name.startswith("extent")]
        table(shown, ((str(n), [f"{found[name].values[n]:.5g}" for name in shown]) for n in range(count)))
        return
    with writable(directory, out):
        found.to_dataframe()[names].to_csv(out)
        tell(out)


def export_interface(directory: Path, field: str, value: float, time: float | None, out: Path | None) -> None:
    """Write the surface on which a field has a value as VTK PolyData, and print the file to open.

    Raises BadInput if the field or record does not exist.
    """
    from taskflow.analysis.interface import export_interfaces
    from taskflow.output import STORE, at_time, dataset

    ds = dataset(directory / STORE)
    ds = ds if time is None else at_time(ds, time)
    with writable(directory, out):
        tell(export_interfaces(ds, out or directory / "vtk", field, value))
