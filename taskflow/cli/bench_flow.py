"""`taskflow bench step` and `taskflow bench cavity`: whole steps of flows, and the papers' campaign made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from taskflow.cli.bench_options import ITERATIONS, Blocks, Growing, Overlap, Picture, Settings, Timing
from taskflow.cli.spread import spread

if TYPE_CHECKING:
    from taskflow.simulation.bench.cavity import Pressure

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


@dataclass(frozen=True)
class Solving:
    """Of commands that solve for the pressure."""

    solver: Solver = "jacobi"
    iterations: Iterations = None
    tolerance: Tolerance = None

    @property
    def pressure(self) -> Pressure:
        """The solver that is asked for."""
        from taskflow.simulation.bench.cavity import Pressure

        papers = ITERATIONS if self.solver == "jacobi" and self.tolerance is None else None
        return Pressure(self.solver, self.iterations or papers, self.tolerance)


@spread
def step(
    *,
    case: Annotated[Literal["cavity", "taylor-green"], typer.Option(help="The flow.")] = "cavity",
    cells: Annotated[str, typer.Option(metavar="N|XxYxZ", help="Cells in all; N along x, y and z.")] = "128",
    blocks: Blocks = "1",
    solving: Solving,
    settings: Settings = [],  # noqa: B006
    overlap: Overlap = "auto",
    warm: Warm = 50,
    price: Price = None,
    timing: Timing,
) -> None:
    """Time the whole step of a developed flow.

    It also tells what a step moves, computes and leaves of divergence.
    """
    from taskflow.cli import benching, benching_flow, given
    from taskflow.simulation.bench.cavity import Flow, measure_step

    conditions = timing.conditions(overlap)
    flow = Flow(case, solving.pressure, warm, price, tuple(settings))
    whole, cut = given.cells(cells), given.blocks(blocks)
    measure = partial(measure_step, timing.device, whole, cut, conditions, flow, timing.workers)
    benching.bench(measure, benching_flow.show_steps, timing.output)


@spread
def cavity(
    *,
    study: Annotated[
        Literal["scaling", "memory", "pressure"],
        typer.Option(
            help="Scaling, weak and strong; what a step takes of memory, and the largest case that fits; or the time of"
            " pressure solvers against the residual that they leave."
        ),
    ] = "scaling",
    growing: Growing,
    overlap: Overlap = "all",
    solving: Solving,
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
    timing: Timing,
) -> None:
    """Rerun the papers' campaign: the cavity on more and more GPUs.

    Jacobsen & Senocak (2010, 2013) timed steps of the lid-driven cavity on domains that grow with the GPUs in one, two
    or three directions (weak scaling), or not at all (strong): cells per second, efficiency, share of the copy
    bandwidth, arithmetic, energy, and with --price what a dollar buys.
    """
    from taskflow.cli import benching, benching_flow, given
    from taskflow.simulation.bench.cavity import Comparison, Flow, measure_cavity, measure_convergence, measure_memory

    device, output, growth, conditions = timing.device, timing.output, growing.growth, timing.conditions(overlap)
    flow = Flow("cavity", solving.pressure, warm, price, tuple(settings))
    if study == "pressure":
        along = given.counts(sizes, "--sizes", "cells") if sizes else None
        comparison = Comparison(along, given.names("--methods", methods, METHODS), decades)
        solve = partial(measure_convergence, device, comparison, growth, conditions)
        benching.bench(solve, benching_flow.show_convergence, output, benching_flow.draw_convergence, picture)
    elif study == "memory":
        measure = partial(measure_memory, device, growth, conditions, flow, largest=largest)
        benching.bench(measure, benching_flow.show_memory, output)
    else:
        measure = partial(measure_cavity, device, growth, conditions, flow, timing.workers)
        benching.bench(measure, benching_flow.show_cavity, output, benching_flow.draw_cavity, picture)
