"""The benchmark of two phases: `taskflow bench two-phase`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from taskflow.benchmarks.options import (
    Blocks,
    Overlap,
    Picture,
    Price,
    Settings,
    Solver,
    TimingOptions,
    Tolerance,
    ascending,
    blocks_of,
    cells_of,
    spread,
)

SHAPES = ("weak-128", "weak-256", "weak-512", "strong-256", "strong-512")
METHODS = ("cg", "multigrid", "mixed")  # of the study of pressure solvers
TOLERANCE = 1e-6

app = typer.Typer()


@app.command("two-phase")
@spread
def two_phase(
    *,
    study: Annotated[
        Literal["step", "sizes"],
        typer.Option(help="The whole step; its speed against the number of cells."),
    ] = "step",
    cells: Annotated[
        str | None,
        typer.Option(metavar="N|XxYxZ", help="Cells in all. Default: the seed's 256x256x128 on GPUs, 128x128x64."),
    ] = None,
    blocks: Blocks = "1",
    method: Annotated[str, typer.Option(metavar="NAME", help="How the interface is followed.")] = "levelset",
    solver: Solver = "multigrid",
    tolerance: Tolerance = TOLERANCE,
    steps: Annotated[int, typer.Option(min=1, help="Steps that are timed, from rest.")] = 20,
    settings: Settings = [],  # noqa: B006
    sizes: Annotated[
        str | None, typer.Option(metavar="N,N,...", help="With --study sizes: cells along x, y and z. Default: all.")
    ] = None,
    overlap: Overlap = "auto",
    price: Price = None,
    watts: Annotated[
        float | None,
        typer.Option(min=0.0, help="What all blocks take together, where nobody counts their energy: cores."),
    ] = None,
    picture: Picture = None,
    timing: TimingOptions,
) -> None:
    """Time an air bubble that rises in water, as Zaspel & Griebel (2011) did.

    The first steps, from rest, of a bubble of 6 cm in a tank whose longest side is 20 cm.
    """
    from taskflow.benchmarks.steps import Pressure
    from taskflow.benchmarks.tables import present
    from taskflow.benchmarks.two_phase import step, tables
    from taskflow.benchmarks.two_phase.bubble import Bubble

    conditions, device, output = timing.conditions(overlap), timing.device, timing.output
    bubble = Bubble(Pressure(solver, None, tolerance), steps, price, watts, method, tuple(settings))
    cut = blocks_of(blocks)
    if study == "sizes":
        along = ascending(sizes, "--sizes", "cells") if sizes else None
        measure = partial(step.measure_sizes, device, along, cut, conditions, bubble)
        present("two-phase sizes", measure, tables.show_sizes, output, tables.draw_sizes, picture)
        return
    whole = cells_of(cells) if cells else None
    measure = partial(step.measure_step, device, whole, cut, conditions, bubble, timing.workers)
    present("two-phase step", measure, tables.show_step, output)
