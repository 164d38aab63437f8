"""The benchmarks of a machine: `taskflow bench channels`, `sweep` and `scaling`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from taskflow.bench.options import (
    Blocked,
    Blocks,
    GrowthOptions,
    Output,
    Overlap,
    Picture,
    Scale,
    Seconds,
    Shape,
    TimingOptions,
    ascending,
    blocks_of,
    chosen,
    refuse_unused,
    spread,
    triple,
)

CHANNELS = ("local", "peer", "ucx", "actor")

app = typer.Typer()


@app.command()
def channels(
    names: Annotated[
        str, typer.Option("--channels", metavar="NAMES", help=f"Of {', '.join(CHANNELS)}, with commas; or all.")
    ] = "all",
    blocks: Annotated[int, typer.Option(min=2, help="Blocks in a ring, each with two neighbours.")] = 2,
    sizes: Annotated[str, typer.Option(metavar="N,N,...", help="Bytes of a message.")] = "8,4096,65536,1048576",
    seconds: Seconds = 0.5,
    output: Output = None,
) -> None:
    """Time halo steps and all-reduces between blocks.

    In host memory, over each channel that this machine has. In a halo step every block exchanges a message with both
    its neighbours, both ways. `local` is measured between threads of a process, the others between a process for each
    block.
    """
    from taskflow.bench.machine.channels import measure_channels, show_channels
    from taskflow.bench.tables import present

    known, lengths = chosen("--channels", names, CHANNELS), ascending(sizes, "--sizes", "bytes")
    present("channels", partial(measure_channels, known, blocks, lengths, seconds), show_channels, output)


@app.command()
@spread
def sweep(
    *,
    context: typer.Context,
    blocks: Blocks = "1",
    shape: Shape = "1d",
    cells: Annotated[str | None, typer.Option(metavar="XxYxZ", help="Cells of each block, instead of a shape.")] = None,
    scale: Scale = None,
    blocked: Blocked = False,
    overlap: Overlap = "all",
    timing: TimingOptions,
) -> None:
    """Time Jacobi's sweep with each way to overlap the exchange.

    On one block, on many without exchange, and on many with it.
    """
    from taskflow.bench.machine.sweep import measure_sweep, show_sweep
    from taskflow.bench.scaling import Size
    from taskflow.bench.tables import present

    if cells is not None:
        refuse_unused(context, "with --cells", "shape", "scale")
    size = Size(shape, None if cells is None else triple("--cells", cells), scale)
    conditions, cut = timing.conditions(overlap), blocks_of(blocks)
    measure = partial(measure_sweep, timing.device, size, cut, conditions, timing.workers, blocked=blocked)
    present("sweep", measure, show_sweep, timing.output)


@app.command()
@spread
def scaling(
    *,
    growing: GrowthOptions,
    blocked: Blocked = False,
    overlap: Overlap = "none,full,auto",
    picture: Picture = None,
    timing: TimingOptions,
) -> None:
    """Time the sweep on more and more blocks.

    On domains that grow with them (weak scaling), and that do not (strong).
    """
    from taskflow.bench.machine.sweep import draw_scaling, measure_scaling, show_scaling
    from taskflow.bench.tables import present

    growth, conditions = growing.growth, timing.conditions(overlap)
    measure = partial(measure_scaling, timing.device, growth, conditions, timing.workers, blocked=blocked)
    present("scaling", measure, show_scaling, timing.output, draw_scaling, picture)
