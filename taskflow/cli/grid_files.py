"""Implementation of the commands of `taskflow grid`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from taskflow.common.errors import BadArgument
from taskflow.common.units import plural, times
from taskflow.geometry.grids import (
    CGNS,
    BadGrid,
    MultiBlockGrid,
    gaps,
    map_beside,
    quality,
    read_grid,
    shape,
    write_grid,
)
from taskflow.geometry.grids.multiblock.plane import normal
from taskflow.geometry.grids.outline import outlines
from taskflow.terminal.exit_codes import refuse, writing
from taskflow.terminal.format import say, tell

CHARTS = 8  # listed at most


def write_shape(name: str, settings: Sequence[str], path: Path, *, text: bool) -> None:
    """Write the grid of a shape. Raises BadInput with all problems of its keys."""
    from taskflow.cases.source import override  # slow to load

    tables: dict[str, dict[str, object]] = {"grid": {}}
    override(tables, settings)
    others = [key for key in tables if key != "grid"]
    if others:
        refuse(f"--set {others[0]}: give keys of the grid alone, as --set grid.cells=[8,8,8]")
    try:
        made = shape(name, tables["grid"])
    except BadGrid as error:
        refuse("\n".join(_called(problem) for problem in error.problems))
    _write(path, made.grid(), text=text)


def _called(problem: Exception) -> str:
    if not isinstance(problem, BadArgument):
        return str(problem)
    return problem.called("SHAPE" if problem.parameter == "shape" else f"grid.{problem.parameter}")


def _write(path: Path, grid: MultiBlockGrid, *, text: bool) -> None:
    itself = path.suffix.lower() == CGNS  # the file includes seams and sides
    for file in (path,) if itself else (path, path.with_suffix(".nmf")):
        if file.exists():
            refuse(f"{file} exists; choose another name")
    if path.suffix == ".nmf":
        refuse(f"{path}: its map would overwrite it; choose another name, such as {path.with_suffix('.xyz')}")
    if itself and text:
        refuse(f"--text: {path} is binary; omit it, or choose another name, as {path.with_suffix('.xyz')}")
    with writing(path, "choose another file"):
        beside = write_grid(path, grid, text=text)
    written = f"{path} and {beside} are" if beside else f"{path} is"
    tell(f"{written} written: {plural(len(grid.charts), 'chart')}, {plural(grid.cells, 'cell')}")


def load(path: Path, neutral_map: Path | None) -> MultiBlockGrid:
    """Return the grid of a file, with its map if it exists. Raises BadInput with all problems."""
    return read_grid(path, neutral_map or map_beside(path))


def tell_grid(path: Path, neutral_map: Path | None, heading: str) -> None:
    """Print the properties of a grid, under a heading. Raises BadInput with all problems."""
    grid = load(path, neutral_map)
    say(heading, _described(grid, neutral_map or map_beside(path)))


def _described(grid: MultiBlockGrid, neutral_map: Path | None) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line. If a map is given, narrow gaps are intended and not reported."""
    for number, chart in enumerate(grid.charts[:CHARTS], start=1):
        yield "charts" if number == 1 else "", f"{number}: {times(chart.cells)} cells"
    if len(grid.charts) > CHARTS:
        yield "", f"and {len(grid.charts) - CHARTS} more"
    yield "cells", f"{grid.cells:,}{' in two dimensions' if normal(grid) is not None else ''}"
    if grid.unit:
        yield "units", grid.units or f"lengths in {grid.unit}"
    periodic = sum(any(seam.translation) for seam in grid.seams)
    yield "seams", f"{len(grid.seams)}{f', {periodic} of them periodic' if periodic else ''}"
    for number, (name, patches) in enumerate(grid.sides.items()):
        faces = sum(patch.cells.volume for patch in patches)
        where = f"{plural(len(patches), 'patch')}, {plural(faces, 'face')}"
        yield "" if number else "sides", f"{name}: {where}"
    measured = quality(grid)
    yield "volume", f"at least {measured.volume}"
    yield "closure", f"at most {measured.closure}"
    yield "aspect", f"at most {measured.aspect}"
    yield "skewness", f"at most {measured.skewness}"
    yield "growth", f"at most {measured.growth}"
    lines = (f"{plural(count, 'edge')} with {cells} cells around" for cells, count in measured.singular.items())
    yield "singular", ", ".join(lines) or "no edges: four cells lie around each inside the grid"
    yield from (("warning", str(gap)) for gap in (() if neutral_map else gaps(grid)))


def draw_grid(path: Path, neutral_map: Path | None, out: Path) -> None:
    """Draw the outlines of a grid, and print the path."""
    from taskflow.plots.grids import plot_outlines

    grid = load(path, neutral_map)
    with writing(out):
        tell(plot_outlines(list(outlines(grid)), out, path.name, normal=normal(grid)))


def convert_grid(path: Path, neutral_map: Path | None, target: Path | None, *, text: bool) -> None:
    """Write a grid as another file, by default next to it in the other format."""
    other = ".xyz" if path.suffix.lower() == CGNS else CGNS
    _write(target or path.with_suffix(other), load(path, neutral_map), text=text)
