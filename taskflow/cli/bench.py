"""The commands under `taskflow bench` and their options."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from taskflow.cli.bench_flow import cavity, step
from taskflow.cli.bench_options import (
    CHANNELS,
    Blocked,
    Blocks,
    Device,
    Graphs,
    Growing,
    Output,
    Overlap,
    Picture,
    Precision,
    Scale,
    Seconds,
    Settings,
    Shape,
    Timing,
)
from taskflow.cli.spread import spread

bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Measure this machine, and taskflow on it.")


@bench.command()
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

    The copy bandwidth is measured with them, to compare.
    """
    from taskflow.cli import benching
    from taskflow.simulation.bench import measure_kernels

    benching.bench(partial(measure_kernels, cells, precision, device, tuple(settings)), benching.show_kernels, output)


@bench.command()
def runtime(
    graphs: Graphs = True,
    device: Device = "auto",
    seconds: Seconds = 1.0,
    output: Output = None,
) -> None:
    """Time what the runtime itself costs.

    Replays, analysis and recording, and control by Dask.
    """
    from taskflow.cli import benching
    from taskflow.simulation.bench import Conditions, measure_runtime

    conditions = Conditions(seconds=seconds, graphs=graphs)
    benching.bench(partial(measure_runtime, device, conditions), benching.show_runtime, output)


@bench.command()
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
    its neighbours, both ways. `local` is measured between
    threads of a process, the others between a process for each block.
    """
    from taskflow.cli import benching, given
    from taskflow.simulation.bench import measure_channels

    wanted, counts = given.names("--channels", names, CHANNELS), given.counts(sizes, "--sizes", "bytes")
    benching.bench(partial(measure_channels, wanted, blocks, counts, seconds), benching.show_channels, output)


@bench.command()
@spread
def sweep(
    *,
    blocks: Blocks = "1",
    shape: Shape = "1d",
    cells: Annotated[str | None, typer.Option(metavar="XxYxZ", help="Cells of each block, instead of a shape.")] = None,
    scale: Scale = None,
    blocked: Blocked = False,
    overlap: Overlap = "all",
    timing: Timing,
) -> None:
    """Time Jacobi's sweep with each way to overlap the exchange.

    On one block, on many without exchange, and on many with it.
    """
    from taskflow.cli import benching, given
    from taskflow.simulation.bench import Size, measure_sweep

    size = Size(shape, None if cells is None else given.triple("--cells", cells), scale)
    conditions, cut = timing.conditions(overlap), given.blocks(blocks)
    measure = partial(measure_sweep, timing.device, size, cut, conditions, timing.workers, blocked=blocked)
    benching.bench(measure, benching.show_sweep, timing.output)


@bench.command()
@spread
def scaling(
    *,
    growing: Growing,
    blocked: Blocked = False,
    overlap: Overlap = "none,full,auto",
    picture: Picture = None,
    timing: Timing,
) -> None:
    """Time the sweep on more and more blocks.

    On domains that grow with them (weak scaling), and that do not (strong).
    """
    from taskflow.cli import benching
    from taskflow.simulation.bench import measure_scaling

    growth, conditions = growing.growth, timing.conditions(overlap)
    measure = partial(measure_scaling, timing.device, growth, conditions, timing.workers, blocked=blocked)
    benching.bench(measure, benching.show_scaling, timing.output, benching.draw_scaling, picture)


bench.command()(step)
bench.command()(cavity)
