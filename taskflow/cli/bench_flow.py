"""`taskflow bench step` and `taskflow bench cavity`: whole steps of flows, and the papers' campaign made of them."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from taskflow.cli.bench_options import (
    ITERATIONS,
    OVERLAPS,
    SHAPES,
    Blocks,
    Channel,
    Counts,
    Device,
    Graphs,
    Output,
    Overlap,
    Picture,
    Precision,
    Scale,
    Seconds,
    Settings,
    Shapes,
    Workers,
)

METHODS = ("truncated", "amalgamated", "cg", "mixed", "fft", "jacobi")  # of the study of pressure solvers

Solver = Annotated[str, typer.Option(metavar="NAME", help="Of the pressure, as pressure.solver in a case file.")]
Iterations = Annotated[
    int | None, typer.Option(min=1, help=f"Of the solver in a step. Default of Jacobi: {ITERATIONS}, as in the papers.")
]
Tolerance = Annotated[float | None, typer.Option(help="Relative tolerance of the solver, instead of iterations.")]
Price = Annotated[
    float | None,
    typer.Option(min=0.0, help="Dollars for an hour of a GPU, or of a block's cores: tells what they buy."),
]
Warm = Annotated[int, typer.Option(min=0, help="Steps before anything is timed.")]


def step(
    case: Annotated[Literal["cavity", "taylor-green"], typer.Option(help="The flow.")] = "cavity",
    cells: Annotated[str, typer.Option(metavar="N|XxYxZ", help="Cells in all; N along x, y and z.")] = "128",
    blocks: Blocks = "1",
    solver: Solver = "jacobi",
    iterations: Iterations = None,
    tolerance: Tolerance = None,
    settings: Settings = [],  # noqa: B006
    overlap: Overlap = "auto",
    warm: Warm = 50,
    price: Price = None,
    channel: Channel = "auto",
    workers: Workers = None,
    graphs: Graphs = True,
    precision: Precision = None,
    device: Device = "auto",
    seconds: Seconds = 1.0,
    output: Output = None,
) -> None:
    """Time the whole step of a developed flow, and tell what it moves, computes and leaves of divergence."""
    from taskflow.cli import benching, benching_flow, given
    from taskflow.simulation.bench import Conditions
    from taskflow.simulation.bench.cavity import Flow, measure_step

    conditions = Conditions(given.names("--overlap", overlap, OVERLAPS), channel, precision, seconds, graphs)
    flow = Flow(case, benching_flow.pressure(solver, iterations, tolerance), warm, price, tuple(settings))
    whole, cut = given.cells(cells), given.blocks(blocks)
    measure = partial(measure_step, device, whole, cut, conditions, flow, workers)
    benching.bench(measure, benching_flow.show_steps, output)


def cavity(
    study: Annotated[
        Literal["scaling", "memory", "pressure"],
        typer.Option(
            help="Scaling, weak and strong; what a step takes of memory, and the largest case that fits; or the time of"
            " pressure solvers against the residual that they leave."
        ),
    ] = "scaling",
    shapes: Shapes = "all",
    counts: Counts = None,
    scale: Scale = None,
    overlap: Overlap = "all",
    solver: Solver = "jacobi",
    iterations: Iterations = None,
    tolerance: Tolerance = None,
    settings: Settings = [],  # noqa: B006
    largest: Annotated[
        bool, typer.Option("--largest", help="With --study memory: run the largest, at most 16384 x 64 x 16384.")
    ] = False,
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="With --study pressure: cells along x, y and z. Default: 257,385,513 on GPUs, 65,129 on CPUs.",
        ),
    ] = None,
    methods: Annotated[
        str, typer.Option(metavar="NAMES", help=f"With --study pressure: of {', '.join(METHODS)}, with commas.")
    ] = "truncated,amalgamated,cg",
    decades: Annotated[
        int, typer.Option(min=1, max=12, help="With --study pressure: residuals down to 10 to minus this.")
    ] = 8,
    price: Price = None,
    warm: Warm = 10,
    channel: Channel = "auto",
    workers: Workers = None,
    graphs: Graphs = True,
    precision: Precision = None,
    device: Device = "auto",
    seconds: Seconds = 1.0,
    picture: Picture = None,
    output: Output = None,
) -> None:
    """Rerun the papers' campaign (Jacobsen & Senocak 2010, 2013): steps of the lid-driven cavity on more and more GPUs.

    On domains that grow with the GPUs in one, two or three directions (weak scaling), or not at all (strong): cells per
    second, efficiency, share of the copy bandwidth, arithmetic, energy, and with --price what a dollar buys.
    """
    from taskflow.cli import benching, benching_flow, given
    from taskflow.simulation.bench import Conditions, Growth
    from taskflow.simulation.bench.cavity import Comparison, Flow, measure_cavity, measure_convergence, measure_memory

    growth = Growth(given.names("--shapes", shapes, SHAPES), given.counts(counts) if counts else None, scale)
    conditions = Conditions(given.names("--overlap", overlap, OVERLAPS), channel, precision, seconds, graphs)
    flow = Flow("cavity", benching_flow.pressure(solver, iterations, tolerance), warm, price, tuple(settings))
    if study == "pressure":
        along = given.counts(sizes, "--sizes", "cells") if sizes else None
        comparison = Comparison(along, given.names("--methods", methods, METHODS), decades)
        solve = partial(measure_convergence, device, comparison, growth, conditions)
        benching.bench(solve, benching_flow.show_convergence, output, benching_flow.draw_convergence, picture)
    elif study == "memory":
        measure = partial(measure_memory, device, growth, conditions, flow, largest=largest)
        benching.bench(measure, benching_flow.show_memory, output)
    else:
        measure = partial(measure_cavity, device, growth, conditions, flow, workers)
        benching.bench(measure, benching_flow.show_cavity, output, benching_flow.draw_cavity, picture)
