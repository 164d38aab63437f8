"""The benchmarks of artificial compressibility: `taskflow bench residual` and `ssspnt`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from taskflow.benchmarks.options import Device, Output, Overlap, TimingOptions, cells_of, spread

app = typer.Typer()


@app.command()
def residual(
    cells: Annotated[
        int | None, typer.Option(min=8, help="Cells along x, y and z. Default: 128 on a CPU, 256 on a GPU.")
    ] = None,
    device: Device = "auto",
    output: Output = None,
) -> None:
    """Time stages of artificial compressibility.

    Explicit Euler with heat, and stages of Runge-Kutta on uniform and on skewed cells, on one chart and on 64, each in
    single and in double precision, beside the copy bandwidth.
    """
    from taskflow.benchmarks.artificial_compressibility.residual import measure_residual
    from taskflow.benchmarks.artificial_compressibility.tables import show_residual
    from taskflow.benchmarks.tables import present

    present("residual", partial(measure_residual, cells, device), show_residual, output)


@app.command()
@spread
def ssspnt(
    *,
    cells: Annotated[
        str | None, typer.Option(metavar="N|XxYxZ", help="Cells in all. Default: 256 along each; on CPUs 96.")
    ] = None,
    overlap: Overlap = "none,full",
    timing: TimingOptions,
) -> None:
    """Time Xue & Roy's heated box on one device and on two.

    Cut along z, y and x, of one size (strong) and grown (weak), each overlap; with the paper's metric, a scaled size of
    the problem times steps, per device and second.
    """
    from taskflow.benchmarks.artificial_compressibility.ssspnt import measure_ssspnt
    from taskflow.benchmarks.artificial_compressibility.tables import show_ssspnt
    from taskflow.benchmarks.tables import present

    whole, conditions = cells_of(cells) if cells else None, timing.conditions(overlap)
    present("ssspnt", partial(measure_ssspnt, timing.device, whole, conditions), show_ssspnt, timing.output)
