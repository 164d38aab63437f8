"""`taskflow plot` and `taskflow graph`: pictures."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import typer

from taskflow.cli.ending import refuse
from taskflow.cli.words import several


def draw(
    directory: Path,
    field: str | None,
    plane: str | None,
    time: float | None,
    out: Path | None,
    references: Sequence[Path],
) -> None:
    """Draw a snapshot and, where there are tables, the centreline profiles over them; print the paths.

    The profiles go to FILE_profiles beside the picture where a file was named.
    """
    from taskflow.output import compare_profiles, plot_profiles, plot_run

    try:
        differences = compare_profiles(directory, references, plane, time) if references else {}
        for path in plot_run(directory, field, plane, time, out):
            typer.echo(path)
        if references:
            beside = out and out.suffix and not out.is_dir()
            target = out.with_stem(f"{out.stem}_profiles") if out and beside else out
            for path in plot_profiles(directory, references, plane, time, target):
                typer.echo(path)
        for table, difference in differences.items():
            found = "no point lies between cell centres" if math.isnan(difference) else f"{difference:.2g}"
            typer.echo(f"{table}: largest difference {found}")
    except OSError as error:
        refuse(f"{error.filename or out or directory}: {error.strerror or error}; choose another place with -o")


def draw_graph(path: Path, settings: Sequence[str], out: Path | None) -> None:
    """Write the graph of a step as DOT to standard output or a file, or as a picture where Graphviz is installed."""
    from taskflow.simulation.case import Case
    from taskflow.simulation.estimate import step_graph

    graph = step_graph(Case.load(path, settings))
    if out is None:
        typer.echo(graph.to_dot(), nl=False)
        return
    try:
        if out.suffix in ("", ".dot", ".gv"):
            out.write_text(graph.to_dot(), encoding="utf-8")
        else:
            _picture(graph.to_dot(), out)
    except OSError as error:
        refuse(f"{out}: cannot be written ({error.strerror or error}); choose another file with -o")
    typer.echo(f"{out}: {several(len(graph.nodes), 'node')}")


def _picture(dot: str, out: Path) -> None:
    program = shutil.which("dot")
    if program is None:
        refuse(f"{out}: a picture needs Graphviz (the program dot), which is not installed; give -o {out.stem}.dot")
    done = subprocess.run(
        [program, f"-T{out.suffix[1:]}", "-o", str(out)], input=dot, text=True, capture_output=True, check=False
    )
    if done.returncode:
        refuse(f"{out}: {done.stderr.strip() or 'dot failed'}; give -o {out.stem}.dot, .svg or .pdf")
