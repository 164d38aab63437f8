"""Benchmarks of the projection solver: `taskflow bench kernels`, `step` and `cavity`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from taskflow.bench.options import (
    OVERLAPS,
    Blocks,
    Device,
    GrowthOptions,
    Output,
    Overlap,
    Picture,
    Precision,
    Price,
    Settings,
    Solver,
    TimingOptions,
    Tolerance,
    ascending,
    blocks_of,
    cells_of,
    chosen,
    one_overlap,
    refuse_unused,
    spread,
)

if TYPE_CHECKING:
    from taskflow.bench.steps import Pressure

ITERATIONS = 30  # of Jacobi in a step, as in the papers
UNUSED = {  # unused options of each study
    "scaling": ("largest", "sizes", "methods", "decades"),
    "memory": ("sizes", "methods", "decades", "shapes", "scale", "workers", "picture"),
    "pressure": (
        "largest", "shapes", "scale", "workers", "solver", "iterations", "tolerance", "settings", "price", "warm",
    ),
}  # fmt: skip
RUNS = "warm", "price", "overlap", "seconds", "graphs"  # of the study of memory, if it runs something
METHODS = ("truncated", "amalgamated", "cg", "mixed", "fft", "jacobi")  # of the study of pressure solvers

Iterations = Annotated[
    int | None, typer.Option(min=1, help=f"Of the solver in a step. Default of Jacobi: {ITERATIONS}, as in the papers.")
]
Warm = Annotated[int, typer.Option(min=0, help="Steps before anything is timed.")]


app = typer.Typer()


@dataclass(frozen=True)
class PressureOptions:
    """Options of commands that solve for the pressure."""

    solver: Solver = "jacobi"
    iterations: Iterations = None
    tolerance: Tolerance = None

    @property
    def pressure(self) -> Pressure:
        """The requested solver."""
        from taskflow.bench.steps import Pressure

        papers = ITERATIONS if self.solver == "jacobi" and self.tolerance is None else None
        return Pressure(self.solver, self.iterations or papers, self.tolerance)


@app.command()
def kernels(
    cells: Annotated[
        int | None, typer.Option(min=4, help="Cells along x, y and z. Default: 256 on a CPU, 512 on a GPU.")
    ] = None,
    precision: Precision = None,
    settings: Settings = [],  # noqa: B006
    device: Device = "auto",
    output: Output = None,
) -> None:
    """Time the kernels and the whole step of the flow solver.

    The copy bandwidth is measured with them, for comparison.
    """
    from taskflow.bench.projection.tables import show_kernels
    from taskflow.bench.tables import present
    from tests.performance.kernels import measure_kernels

    present("kernels", partial(measure_kernels, cells, precision, device, tuple(settings)), show_kernels, output)


@app.command()
@spread
def step(
    *,
    case: Annotated[Literal["cavity", "taylor-green"], typer.Option(help="The flow.")] = "cavity",
    cells: Annotated[str, typer.Option(metavar="N|XxYxZ", help="Cells in all; N along x, y and z.")] = "128",
    blocks: Blocks = "1",
    solving: PressureOptions,
    settings: Settings = [],  # noqa: B006
    overlap: Overlap = "auto",
    warm: Warm = 50,
    price: Price = None,
    timing: TimingOptions,
) -> None:
    """Time the whole step of a developed flow.

    Also prints the data moved, the operations, and the remaining divergence of a step.
    """
    from taskflow.bench.projection.flows import Flow
    from taskflow.bench.projection.step import measure_step
    from taskflow.bench.projection.tables import show_steps
    from taskflow.bench.tables import present

    conditions = timing.conditions(overlap)
    flow = Flow(case, solving.pressure, warm, price, tuple(settings))
    whole, cut = cells_of(cells), blocks_of(blocks)
    measure = partial(measure_step, timing.device, whole, cut, conditions, flow, timing.workers)
    present("step", measure, show_steps, timing.output)


@app.command()
@spread
def cavity(
    *,
    context: typer.Context,
    study: Annotated[
        Literal["scaling", "memory", "pressure"],
        typer.Option(
            help="Scaling, weak and strong; what a step takes of memory, and the largest case that fits; or the time of"
            " pressure solvers against the residual that they leave."
        ),
    ] = "scaling",
    growing: GrowthOptions,
    overlap: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Of {', '.join(OVERLAPS)}, with commas; or all. Default: all, and none with --study pressure.",
        ),
    ] = None,
    solving: PressureOptions,
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
    picture: Picture = None,
    timing: TimingOptions,
) -> None:
    """Rerun the papers' scaling campaign of the cavity.

    Jacobsen & Senocak (2010, 2013) timed steps of the lid-driven cavity on domains that grow with the GPUs in one, two
    or three directions (weak scaling), or not at all (strong): cells per second, efficiency, share of the copy
    bandwidth, arithmetic, energy, and with --price work per dollar.
    """
    from examples.papers.jacobsen_senocak_2013.convergence import Comparison, measure_convergence
    from examples.papers.jacobsen_senocak_2013.memory import measure_memory
    from taskflow.bench.projection import tables
    from taskflow.bench.projection.flows import Flow
    from taskflow.bench.projection.step import measure_cavity
    from taskflow.bench.tables import present

    refuse_unused(context, f"by the study {study}", *UNUSED[study])
    if study == "memory" and not largest:
        refuse_unused(context, "by the study memory without --largest", *RUNS)
    device, output, growth = timing.device, timing.output, growing.growth
    conditions = timing.conditions(overlap or ("none" if study == "pressure" else "all"))
    if study == "pressure":
        one_overlap(conditions, "the study pressure")
    flow = Flow("cavity", solving.pressure, warm, price, tuple(settings))
    if study == "pressure":
        along = ascending(sizes, "--sizes", "cells") if sizes else None
        comparison = Comparison(along, chosen("--methods", methods, METHODS), decades)
        solve = partial(measure_convergence, device, comparison, growth, conditions)
        present("pressure", solve, tables.show_convergence, output, tables.draw_convergence, picture)
    elif study == "memory":
        measure = partial(measure_memory, device, growth, conditions, flow, largest=largest)
        present("memory", measure, tables.show_memory, output)
    else:
        measure = partial(measure_cavity, device, growth, conditions, flow, timing.workers)
        present("cavity", measure, tables.show_cavity, output, tables.draw_cavity, picture)
