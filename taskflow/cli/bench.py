"""The commands under `taskflow bench` and their options."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

bench = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Measure this machine, and taskflow on it.")

OVERLAPS: tuple[Literal["none", "comm", "full", "auto"], ...] = ("none", "comm", "full", "auto")
SHAPES = ("1d", "2d", "3d", "strong")
CHANNELS = ("local", "peer", "ucx", "actor")

Device = Annotated[Literal["auto", "cpu", "gpu"], typer.Option(help="What to measure.")]
Precision = Annotated[
    Literal["single", "double"] | None, typer.Option(help="Default: double on a CPU, single on a GPU.")
]
Shape = Annotated[
    Literal["1d", "2d", "3d", "strong"],
    typer.Option(help="Slabs as in the papers: domains that grow in z, in x and z, in x, y and z, or not at all."),
]
Scale = Annotated[
    int | None, typer.Option(min=1, help="Divide a shape by this in every direction. Default: 1 on GPUs, 4 on CPUs.")
]
Overlap = Annotated[str, typer.Option(metavar="NAMES", help=f"Of {', '.join(OVERLAPS)}, with commas; or all.")]
Channel = Annotated[
    Literal["auto", "local", "peer", "ucx", "actor"], typer.Option(help="What carries messages between blocks.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes that hold the blocks, each on a thread: fewer than blocks.")
]
Graphs = Annotated[bool, typer.Option("--graphs/--no-graphs", help="On GPUs: replay as CUDA graphs.")]
Seconds = Annotated[float, typer.Option(min=0.01, help="How long each measurement takes at least.")]
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

    benching.bench(partial(measure_kernels, cells, precision, device), benching.show_kernels, output)


@bench.command()
def runtime(
    graphs: Graphs = True,
    device: Device = "auto",
    seconds: Seconds = 1.0,
    output: Output = None,
) -> None:
    """Time what the runtime itself costs: replays, analysis and recording, and control by Dask."""
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
    """Time halo steps and all-reduces between blocks, in host memory, over each channel that this machine has.

    In a halo step every block exchanges a message with both its neighbours, both ways. `local` is measured between
    threads of a process, the others between a process for each block.
    """
    from taskflow.cli import benching, given
    from taskflow.simulation.bench import measure_channels

    wanted, counts = given.names("--channels", names, CHANNELS), given.counts(sizes, "--sizes", "bytes")
    benching.bench(partial(measure_channels, wanted, blocks, counts, seconds), benching.show_channels, output)


@bench.command()
def sweep(
    blocks: Annotated[
        str, typer.Option(metavar="N|XxYxZ", help="Slabs along z, or blocks along x, y and z; one GPU each.")
    ] = "1",
    shape: Shape = "1d",
    cells: Annotated[str | None, typer.Option(metavar="XxYxZ", help="Cells of each block, instead of a shape.")] = None,
    scale: Scale = None,
    overlap: Overlap = "all",
    channel: Channel = "auto",
    workers: Workers = None,
    graphs: Graphs = True,
    precision: Precision = None,
    device: Device = "auto",
    seconds: Seconds = 1.0,
    output: Output = None,
) -> None:
    """Time Jacobi's sweep on one block, on many without exchange, and on many with each way to overlap it."""
    from taskflow.cli import benching, given
    from taskflow.simulation.bench import Conditions, Size, measure_sweep

    size = Size(shape, None if cells is None else given.triple("--cells", cells), scale)
    conditions = Conditions(given.names("--overlap", overlap, OVERLAPS), channel, precision, seconds, graphs)
    cut = given.blocks(blocks)
    benching.bench(partial(measure_sweep, device, size, cut, conditions, workers), benching.show_sweep, output)


@bench.command()
def scaling(
    shapes: Annotated[str, typer.Option(metavar="NAMES", help=f"Of {', '.join(SHAPES)}, with commas.")] = "all",
    counts: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="Numbers of blocks. Default: 1,2,4,8, as far as there are GPUs or cores."),
    ] = None,
    scale: Scale = None,
    overlap: Overlap = "none,full,auto",
    channel: Channel = "auto",
    workers: Workers = None,
    graphs: Graphs = True,
    precision: Precision = None,
    device: Device = "auto",
    seconds: Seconds = 1.0,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw efficiency and speedup (.png, .svg, .pdf).")
    ] = None,
    output: Output = None,
) -> None:
    """Time the sweep on more and more blocks: on domains that grow with them (weak), and that do not (strong)."""
    from taskflow.cli import benching, given
    from taskflow.simulation.bench import Conditions, Growth, measure_scaling

    growth = Growth(given.names("--shapes", shapes, SHAPES), given.counts(counts) if counts else None, scale)
    conditions = Conditions(given.names("--overlap", overlap, OVERLAPS), channel, precision, seconds, graphs)
    measure = partial(measure_scaling, device, growth, conditions, workers)
    benching.bench(measure, benching.show_scaling, output, benching.draw_scaling, picture)
