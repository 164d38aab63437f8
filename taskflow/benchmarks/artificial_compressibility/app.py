"""The benchmark of artificial compressibility: `taskflow bench residual`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from taskflow.benchmarks.options import Device, Output

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
