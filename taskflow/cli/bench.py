"""The commands under `taskflow bench` and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Measure this machine, and taskflow on it.")

Device = Annotated[Literal["auto", "cpu", "gpu"], typer.Option(help="What to measure.")]
Precision = Annotated[
    Literal["single", "double"] | None, typer.Option(help="Default: double on a CPU, single on a GPU.")
]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the numbers as JSON, too.")]


@bench.command()
def kernels(
    cells: Annotated[
        int | None, typer.Option(min=4, help="Cells along x, y and z. Default: 256 on a CPU, 512 on a GPU.")
    ] = None,
    precision: Precision = None,
    device: Device = "auto",
    output: Output = None,
) -> None:
    """Time the kernels and the whole step of the flow solver, beside the copy bandwidth measured with them."""
    from taskflow.cli import benching
    from taskflow.simulation.bench import measure_kernels

    benching.bench(lambda: measure_kernels(cells, precision, device), benching.show_kernels, output)
