"""`taskflow grid`: body-fitted grids of several charts. The commands are implemented in `grid_files`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taskflow.cli.options import into, named_once

grid = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make, inspect and convert body-fitted grids.")

GridFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A file of PLOT3D, or of CGNS: .cgns.", show_default=False)
]
Map = Annotated[
    Path | None,
    typer.Option(
        "--map",
        metavar="FILE.nmf",
        help="Neutral map of a PLOT3D file; default: the file of the same name, else seams are found.",
    ),
]
Text = Annotated[bool, typer.Option("--text", help="Write text rather than binary numbers.")]


@grid.command()
def new(
    shape: Annotated[str, typer.Argument(metavar="SHAPE", help="As grid.shape of a case.", show_default=False)],
    settings: Annotated[
        list[str],
        typer.Option("--set", metavar="grid.key=VALUE", help="A key of the shape, as in a case; repeatable."),
    ] = [],  # noqa: B006
    output: Annotated[Path | None, into("FILE", "By default SHAPE.xyz in this folder; .cgns is CGNS.")] = None,
    text: Text = False,
) -> None:
    """Write a grid of a shape: PLOT3D and a neutral map, or CGNS. An existing file is never replaced."""
    from taskflow.cli.grid_files import write_shape

    write_shape(shape, settings, output or Path(f"{shape}.xyz"), text=text)


@grid.command()
def info(file: GridFile, neutral_map: Map = None) -> None:
    """Describe a grid: charts, seams, sides, its worst cells."""
    from taskflow.cli.grid_files import tell_grid

    tell_grid(file, neutral_map, f"{file}")


@grid.command()
def check(file: GridFile, neutral_map: Map = None) -> None:
    """Validate a grid. All problems are listed together."""
    from taskflow.cli.grid_files import tell_grid

    tell_grid(file, neutral_map, f"{file}: the grid is valid")


@grid.command()
def plot(
    file: GridFile,
    neutral_map: Map = None,
    output: Annotated[Path | None, into("FILE", "The picture; by default FILE.png.")] = None,
) -> None:
    """Draw the outlines of charts, with seams in colour."""
    from taskflow.cli.grid_files import draw_grid

    draw_grid(file, neutral_map, output or file.with_suffix(".png"))


@grid.command()
def convert(
    file: GridFile,
    target: Annotated[
        Path | None, typer.Argument(metavar="[TARGET]", help="The file to write, as -o.", show_default=False)
    ] = None,
    neutral_map: Map = None,
    output: Annotated[Path | None, into("FILE", "By default FILE.cgns, of a file of CGNS FILE.xyz.")] = None,
    text: Text = False,
) -> None:
    """Write a grid in another format: PLOT3D and a neutral map, or CGNS. An existing file is never replaced."""
    from taskflow.cli.grid_files import convert_grid

    convert_grid(file, neutral_map, named_once(target, output), text=text)
