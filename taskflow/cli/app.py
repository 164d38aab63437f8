"""Commands and their options. Each command is implemented in its own module."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskflow.bench.app import bench
from taskflow.cli.files import Window, names
from taskflow.cli.grid import grid
from taskflow.cli.options import CaseFile, Jobs, Json, Quiet, RunDirectory, Scheduler, Settings, into, named_once, where
from taskflow.cli.sweep import sweep
from taskflow.terminal.exit_codes import Commands, refuse, refuse_options
from taskflow.terminal.process import loading

app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A first flow:  taskflow new cavity.toml,  taskflow run cavity.toml,  taskflow plot cavity",
)
app.add_typer(grid, name="grid")
app.add_typer(bench, name="bench")


def _version(asked: bool) -> None:
    if asked:
        from taskflow.runs.directory.provenance import build

        typer.echo(f"taskflow {build()}")
        raise typer.Exit


@app.callback()
def taskflow(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Incompressible flow on structured grids, on one machine or many, on CPUs or GPUs."""


@app.command()
def run(
    case: CaseFile,
    output: Annotated[Path | None, into("DIR", "The run directory; by default CASE in the current folder.")] = None,
    settings: Settings = [],  # noqa: B006
    resume: Annotated[bool, typer.Option("--resume", help="Resume a run from its newest checkpoint.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing run directory.")] = False,
    scheduler_file: Scheduler = None,
    slurm: Jobs = None,
    quiet: Quiet = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Time some steps: a timeline in the run directory, and a summary.")
    ] = False,
    nvtx: Annotated[
        bool, typer.Option("--nvtx", help="Name the operations of those steps for Nsight Systems.")
    ] = False,
    profile_after: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Steps before the profile; default 10.")
    ] = None,
    profile_steps: Annotated[int | None, typer.Option(min=1, metavar="N", help="Profiled steps; default 20.")] = None,
) -> None:
    """Run a case and write a run directory.

    Ctrl-C ends the run after the current step, with its state written. A second Ctrl-C ends it immediately. SIGTERM and
    SIGHUP do the same, with exit code 75. --resume continues from there, or starts a run if none exists.
    """
    if resume and force:
        refuse("--resume --force: use one of them; --force starts over and deletes existing data")
    place = where(slurm, scheduler_file)
    if profile and nvtx:
        refuse("--profile --nvtx: use one of them; --nvtx is for a run under nsys, which has its own timelines")
    with loading():
        from taskflow.cli.run import Onto, run_case

    window = None
    if profile or nvtx:
        from taskflow.runs.block.profiling import Window

        after, steps = 10 if profile_after is None else profile_after, profile_steps or 20
        window = Window(after, steps, "nvtx" if nvtx else "timeline")
    else:
        numbers = {"--profile-after": profile_after is not None, "--profile-steps": profile_steps}
        refuse_options(numbers, "of --profile and --nvtx: add one of these")
    onto: Onto = "resume" if resume else "replace" if force else "new"
    run_case(case, output or Path(case.stem), settings, onto=onto, where=place, quiet=quiet, profile=window)


app.command()(sweep)


@app.command()
def check(
    case: CaseFile,
    settings: Settings = [],  # noqa: B006
    prove: Annotated[
        bool, typer.Option("--prove", help="Also prove that the recorded operations are equivalent to the program.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also print blocks, messages, tasks and parts of the memory.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Validate a case and estimate its cost.

    Nothing is run or written. Memory, time and the choices of `auto` are for this machine.
    """
    from taskflow.cli.reports import tell_case

    tell_case(case, settings, proves=prove, details=verbose, as_json=as_json)


@app.command()
def new(
    case: Annotated[
        Path | None, typer.Argument(metavar="[CASE.toml]", help="The file to write, as -o.", show_default=False)
    ] = None,
    example: Annotated[
        str,
        typer.Option("--example", "-e", metavar="NAME", help=f"One of {', '.join(names())}.", autocompletion=names),
    ] = "lid_driven_cavity",
    output: Annotated[Path | None, into("FILE", "By default NAME.toml in the current folder.")] = None,
) -> None:
    """Write a commented case to start from, with its data files. An existing file is never replaced."""
    from taskflow.cli.files import write

    write(named_once(case, output) or Path(f"{example}.toml"), example)


@app.command()
def schema(output: Annotated[Path | None, into("FILE", "A file instead of standard output.")] = None) -> None:
    """Write the JSON schema of case files, for editors.

    Editors use it to complete and explain keys, and to mark errors.
    """
    from taskflow.cli.files import write_schema

    write_schema(output)


@app.command()
def info(
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="A run directory.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Describe this machine or a run.

    Machine: versions, cores, compiler, GPUs. Run, finished or active: case, machine, progress, speed.
    """
    from taskflow.cli.reports import tell_machine, tell_run

    return tell_machine(as_json=as_json) if directory is None else tell_run(directory, as_json=as_json)


@app.command()
def unlock(directory: RunDirectory) -> None:
    """Remove the lock of a run that has ended.

    Prints the owner. An active run keeps its lock. A run that is not visible from this host is watched for a minute
    first. This is only needed if the lock is damaged.
    """
    from taskflow.cli.reports import unlock_run

    unlock_run(directory)


@app.command()
def watch(
    directory: RunDirectory,
    web: Annotated[
        bool, typer.Option("--web", help="As a page with curves and a slice, on this machine; DIR may hold many runs.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port; 0 chooses a free one.", show_default=True)
    ] = 8765,
) -> None:
    """Watch a run until it has ended.

    Only its directory is read, so the run may be on another machine. Ctrl-C ends the watching, not the run.
    """
    if web:
        from taskflow.cli.web import serve

        return serve(directory, port)
    from taskflow.cli.follow import follow

    return follow(directory)


@app.command()
def plot(
    directory: RunDirectory,
    field: Annotated[
        str | None, typer.Option(
            metavar="NAME",
            help="A field, speed, vorticity, vorticity_x, Q, lambda2, ...; by default what shows the kind of flow."
            " With --series a column of the log, with --forces a body.",
        ),
    ] = None,
    plane: Annotated[
        str | None, typer.Option(metavar="PLANE", help="x, y or z (the middle), or a position such as y=0.3.")
    ] = None,
    time: Annotated[float | None, typer.Option(metavar="TIME", help="The snapshot; by default the last.")] = None,
    output: Annotated[Path | None, into("FILE", "The picture (.png, .pdf, .svg) or a folder; default DIR.")] = None,
    reference: Annotated[
        list[Path], typer.Option(metavar="CSV", help="Draw centreline profiles too, over this table; may be repeated.")
    ] = [],  # noqa: B006
    series: Annotated[
        bool, typer.Option("--series", help="Draw energy, residual, divergence and time step over time instead.")
    ] = False,
    forces: Annotated[bool, typer.Option("--forces", help="Draw the forces on bodies over time instead.")] = False,
    animation: Annotated[
        bool, typer.Option("--animation", "--film", help="Make a film of all snapshots: .gif, or .mp4 with ffmpeg.")
    ] = False,
    interface: Annotated[bool, typer.Option("--interface", help="Two phases: also draw the line f = 1/2.")] = False,
    side: Annotated[str | None, typer.Option(metavar="NAME", help="On charts: draw p and stress along a side.")] = None,
    window: Annotated[Window | None, typer.Option(metavar="X0 X1 Y0 Y1", help="On charts: draw this part.")] = None,
    colour_range: Annotated[
        str | None, typer.Option("--range", metavar="LO,HI", help="Range of the colours; default: all values.")
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Colours on a logarithmic scale.")] = False,
    cmap: Annotated[str | None, typer.Option(metavar="NAME", help="Colour map of matplotlib.")] = None,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="Size in pixels, as 1280x720.")] = None,
    fps: Annotated[int | None, typer.Option(metavar="N", help="Frames per second of a film; default 12.")] = None,
) -> None:
    """Draw a snapshot of a run and print the paths of the pictures."""
    from taskflow.cli.files import draw, draw_series, film
    from taskflow.plots.look import Look

    asked = [name for name, on in (("--series", series), ("--forces", forces), ("--animation", animation)) if on]
    if len(asked) > 1:
        refuse(f"{' '.join(asked)}: one at a time")
    if asked:
        snapshot = {"--time": time is not None, "--reference": reference, "--side": side}
        refuse_options(snapshot, "not with --series, --forces or --animation, which are over time")
    if series or forces:
        drawing = {"--plane": plane, "--interface": interface, "--range": colour_range, "--log": log}
        drawing |= {"--cmap": cmap, "--size": size, "--window": window is not None}
        refuse_options(drawing, "not with --series and --forces, which draw the log")
    if not animation:
        refuse_options({"--fps": fps is not None}, "of a film alone: add --animation")
    look = Look.parsed(colour_range, log, cmap, size)
    if series or forces:
        draw_series(directory, output, field, forces=forces)
    elif animation:
        film(directory, field, plane, output, interface=interface, window=window, look=look, fps=fps)
    else:
        chosen = (directory, field, plane, time, output, reference)
        draw(*chosen, interface=interface, side=side, window=window, look=look)


@app.command()
def export(
    directory: RunDirectory,
    vtk: Annotated[bool, typer.Option("--vtk", help="VTK files with a .pvd, for ParaView; the default.")] = False,
    netcdf: Annotated[bool, typer.Option("--netcdf", help="One NetCDF file.")] = False,
    group: Annotated[
        str, typer.Option(metavar="NAME", help="statistics, or a probe or plane by its name; by default snapshots.")
    ] = "",
    time: Annotated[float | None, typer.Option(metavar="TIME", help="One record; by default all.")] = None,
    interface: Annotated[
        bool, typer.Option("--interface", help="The surface on which a field has a value, as VTK files of triangles.")
    ] = False,
    field: Annotated[str | None, typer.Option(metavar="NAME", help="With --interface: the field; default f.")] = None,
    value: Annotated[float | None, typer.Option(metavar="V", help="With --interface: its value; default 0.5.")] = None,
    output: Annotated[Path | None, into("FOLDER", "Where to; default DIR/vtk, or DIR.")] = None,
) -> None:
    """Export snapshots to other formats and print the file to open."""
    from taskflow.cli.files import export_interface, export_run

    if interface:
        if group:
            refuse(f"--group {group}: --interface is of snapshots; omit it")
        export_interface(directory, field or "f", 0.5 if value is None else value, time, output)
    else:
        refuse_options({"--field": field is not None, "--value": value is not None}, "of --interface alone: add it")
    if vtk or netcdf or not interface:
        export_run(directory, group, time, output, vtk=vtk or not netcdf, netcdf=netcdf)


@app.command()
def droplets(
    directory: RunDirectory,
    phase: Annotated[int, typer.Option(min=1, max=2, metavar="N", help="The phase, 1 or 2.")] = 1,
    time: Annotated[float | None, typer.Option(metavar="TIME", help="The snapshot; by default the last one.")] = None,
    output: Annotated[Path | None, into("FILE", "A table of comma-separated values; by default it is printed.")] = None,
) -> None:
    """List connected parts of a phase.

    Volume, centre, velocity and extent of each droplet or bubble in a snapshot, the largest first.
    """
    from taskflow.cli.files import list_droplets

    list_droplets(directory, phase, time, output)


@app.command()
def graph(
    case: CaseFile,
    settings: Settings = [],  # noqa: B006
    output: Annotated[Path | None, into("FILE", "A picture (.png, .svg, .pdf) or a .dot file.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also draw repetitions, and every node.")] = False,
) -> None:
    """Draw the analysed task graph of one step.

    Dependences between tasks: edges, centres and transfers by colour. Without -o it is printed in the DOT language.
    """
    from taskflow.cli.files import draw_graph

    draw_graph(case, settings, output, everything=everything)
