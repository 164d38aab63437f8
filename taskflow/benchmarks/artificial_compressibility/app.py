"""The benchmarks of artificial compressibility: `taskflow bench residual` and `ssspnt`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from taskflow.benchmarks.options import Overlap, TimingOptions, cells_of, spread

app = typer.Typer()
Cells = Annotated[
    str | None, typer.Option(metavar="N|XxYxZ", help="Cells in all. Default: 256 along each; on CPUs 96.")
]


@app.command()
@spread
def residual(*, cells: Cells = None, timing: TimingOptions) -> None:
    """Time steps of pseudo-time on one device.

    Xue & Roy's heated box by Euler steps, a box with a lid by rk4 and upwind fluxes; uniform and skewed cells, one
    chart and 64, in double precision where nothing else is asked for.
    """
    from taskflow.benchmarks.artificial_compressibility.march import measure_residual
    from taskflow.benchmarks.artificial_compressibility.tables import show_residual
    from taskflow.benchmarks.tables import present

    whole, conditions = cells_of(cells) if cells else None, timing.conditions("none")
    present("residual", partial(measure_residual, timing.device, whole, conditions), show_residual, timing.output)


@app.command()
@spread
def ssspnt(*, cells: Cells = None, overlap: Overlap = "none,full", timing: TimingOptions) -> None:
    """Time Xue & Roy's heated box on one device and on two.

    Cut along z, y and x, of one size (strong) and grown (weak), each overlap; with the paper's metric, a scaled size of
    the problem times steps, per device and second.
    """
    from taskflow.benchmarks.artificial_compressibility.march import measure_ssspnt
    from taskflow.benchmarks.artificial_compressibility.tables import show_ssspnt
    from taskflow.benchmarks.tables import present

    whole, conditions = cells_of(cells) if cells else None, timing.conditions(overlap)
    present("ssspnt", partial(measure_ssspnt, timing.device, whole, conditions), show_ssspnt, timing.output)
