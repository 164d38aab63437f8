"""The benchmark of the projection solver: `taskflow bench step`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from taskflow.bench.options import (
    Blocks,
    Overlap,
    Price,
    Settings,
    Solver,
    TimingOptions,
    Tolerance,
    blocks_of,
    cells_of,
    spread,
)

if TYPE_CHECKING:
    from taskflow.bench.steps import Pressure

ITERATIONS = 30  # of Jacobi in a step, as in the papers
Iterations = Annotated[
    int | None, typer.Option(min=1, help=f"Of the solver in a step. Default of Jacobi: {ITERATIONS}, as in the papers.")
]
Warm = Annotated[int, typer.Option(min=0, help="Steps before anything is timed.")]
InUse = Annotated[
    bool, typer.Option("--in-use", help="Also time steps in the loop of a run, with a line of the log every 100 steps.")
]

app = typer.Typer()


@dataclass(frozen=True)
class PressureOptions:
    """The options of a command that solves for the pressure."""

    solver: Solver = "jacobi"
    iterations: Iterations = None
    tolerance: Tolerance = None

    @property
    def pressure(self) -> Pressure:
        """The solver that is asked for."""
        from taskflow.bench.steps import Pressure

        papers = ITERATIONS if self.solver == "jacobi" and self.tolerance is None else None
        return Pressure(self.solver, self.iterations or papers, self.tolerance)


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
    in_use: InUse = False,
    price: Price = None,
    timing: TimingOptions,
) -> None:
    """Time the whole step of a developed flow.

    Also report the bytes and operations of a step, and the divergence after it.
    """
    from taskflow.bench.projection.flows import Flow
    from taskflow.bench.projection.step import measure_step, show_steps
    from taskflow.bench.tables import present

    conditions = timing.conditions(overlap)
    flow = Flow(case, solving.pressure, warm, price, tuple(settings))
    whole, cut = cells_of(cells), blocks_of(blocks)
    measure = partial(measure_step, timing.device, whole, cut, conditions, flow, timing.workers, in_use=in_use)
    present("step", measure, show_steps, timing.output)
