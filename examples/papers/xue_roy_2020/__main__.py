"""The studies after W. Xue and C. J. Roy (2020): `python -m examples.papers.xue_roy_2020 residual` and `ssspnt`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from examples.papers.measuring import HALOS
from examples.papers.xue_roy_2020.residual import measure_residual
from examples.papers.xue_roy_2020.ssspnt import Sharing, measure_ssspnt
from examples.papers.xue_roy_2020.tables import show_residual, show_ssspnt
from taskflow.bench.app import start, studies
from taskflow.bench.options import (
    Device,
    Output,
    Overlap,
    Price,
    TimingOptions,
    ascending,
    cells_of,
    chosen,
    refuse_unused,
    spread,
)
from taskflow.bench.tables import present
from taskflow.bench.team import Request

KINDS: tuple[Literal["strong", "weak", "charts"], ...] = ("strong", "weak", "charts")
CUTS = "z", "y", "x", "yz", "xyz"

app = studies("Studies after W. Xue and C. J. Roy (2020), computed by taskflow.")


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
    present("residual", partial(measure_residual, cells, device), show_residual, output)


@app.command()
@spread
def ssspnt(
    *,
    context: typer.Context,
    cells: Annotated[
        str | None,
        typer.Option(
            metavar="N|XxYxZ,...",
            help="Cells in all on one device, several sizes with commas. Default: 256 along each; on CPUs 96.",
        ),
    ] = None,
    kinds: Annotated[str, typer.Option(metavar="NAMES", help=f"Of {', '.join(KINDS)}, with commas; or all.")] = "all",
    cuts: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Directions in which a box is cut: of {', '.join(CUTS)}; or all.")
    ] = "all",
    counts: Annotated[str, typer.Option(metavar="N,N,...", help="Numbers of devices; one is always measured.")] = "2",
    growth: Annotated[
        int,
        typer.Option(
            min=1, max=2, help="Of weak scaling, a table of the paper: 1, the same for all cuts; 2, along the cut."
        ),
    ] = 2,
    halos: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Of {', '.join(HALOS)}, with commas; or all. Not direct on CPUs.")
    ] = "direct,packed",
    overlap: Overlap = "none,full,auto",
    price: Price = None,
    timing: TimingOptions,
) -> None:
    """Time Xue & Roy's heated box on one device and on several.

    Cut along z, y and x, in two directions and in three, of one size (strong) and grown (weak), and in 16 charts that
    are turned (charts). Halos go straight into ghost cells, are packed, packed and copied through host memory, or
    copied through it row by row. With the paper's metric, a scaled size of the problem times steps, per device and
    second, and the paper's numbers.
    """
    if kinds == "charts":
        refuse_unused(context, "with --kinds charts", "cuts", "growth")
    blocks = ascending(counts)
    sharing = Sharing(
        chosen("--kinds", kinds, KINDS), chosen("--cuts", cuts, CUTS), chosen("--halos", halos, tuple(HALOS)), blocks,
        1 if growth == 1 else 2,
    )  # fmt: skip
    sizes, conditions = (
        [cells_of(size.strip()) for size in (cells or "").split(",") if size],
        timing.conditions(overlap),
    )
    request = Request(timing.device, (1, 1, max(blocks)), timing.workers or "auto")
    present("ssspnt", partial(measure_ssspnt, request, sizes, sharing, conditions, price), show_ssspnt, timing.output)


if __name__ == "__main__":
    start(app, "examples.papers.xue_roy_2020")
