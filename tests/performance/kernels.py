"""Time the kernels and the whole step of the flow solver: `python -m tests.performance.kernels`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from taskflow.bench.app import start, study
from taskflow.bench.options import Device, Output, Precision, Settings
from taskflow.bench.tables import Result, columned, copies, number, present, where
from taskflow.terminal.format import say
from tests.performance.kernel_timings import measure_kernels


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

    Kernels of conjugate gradients with multigrid are those of the finest level. The copy bandwidth is measured with
    them, to compare.
    """
    present("kernels", partial(measure_kernels, cells, precision, device, tuple(settings)), show_kernels, output)


def show_kernels(result: Result) -> None:
    """Print the result of `measure_kernels`."""
    heading = f"{result['cells'][0]}^3 cells in {result['precision']} precision on {where(result)}"
    say(heading, [("copy", f"{copies(result)} median of what was measured before and after")])
    columns = [
        {
            "ms": number(row["seconds"] * 1e3),
            "Gcell/s": number(row["cells_per_second"] / 1e9),
            "GB/s": number(row["bytes_per_second"] / 1e9),
            "of copy": f"{row['share_of_copy']:.0%}",
            "of driver": f"{row['share_of_driver']:.0%}",
        }
        for row in result["results"]
    ]
    columned((row["name"] for row in result["results"]), columns)


app = study(kernels)

if __name__ == "__main__":
    start(app, "tests.performance.kernels")
