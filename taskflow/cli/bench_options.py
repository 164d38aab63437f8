"""The options that several commands under `taskflow bench` have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from taskflow.simulation.bench import Conditions, Growth

OVERLAPS: tuple[Literal["none", "comm", "full", "auto"], ...] = ("none", "comm", "full", "auto")
ITERATIONS = 30  # of Jacobi in a step, as in the papers
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
Blocks = Annotated[
    str, typer.Option(metavar="N|XxYxZ", help="Slabs along z, or blocks along x, y and z; one GPU each.")
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
Blocked = Annotated[
    bool, typer.Option("--blocked", help="Two sweeps in a pass over memory, as in the steps of a flow on GPUs.")
]
Seconds = Annotated[float, typer.Option(min=0.01, help="How long each measurement takes at least.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the numbers as JSON, too.")]
Counts = Annotated[
    str | None,
    typer.Option(metavar="N,N,...", help="Numbers of blocks. Default: 1,2,4,8, as far as there are GPUs or cores."),
]
Shapes = Annotated[str, typer.Option(metavar="NAMES", help=f"Of {', '.join(SHAPES)}, with commas.")]
Picture = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it, too (.png, .svg, .pdf).")]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="table.key=VALUE", help="Replace another value of the case, as often as wanted."),
]


@dataclass(frozen=True)
class Growing:
    """Of commands that measure more and more blocks."""

    shapes: Shapes = "all"
    counts: Counts = None
    scale: Scale = None

    @property
    def growth(self) -> Growth:
        """Raises BadInput where an option is something else."""
        from taskflow.cli import given
        from taskflow.simulation.bench import Growth

        counts = given.counts(self.counts) if self.counts else None
        return Growth(given.names("--shapes", self.shapes, SHAPES), counts, self.scale)


@dataclass(frozen=True)
class Timing:
    """Of commands that time passes on blocks."""

    channel: Channel = "auto"
    workers: Workers = None
    graphs: Graphs = True
    precision: Precision = None
    device: Device = "auto"
    seconds: Seconds = 1.0
    output: Output = None

    def conditions(self, overlap: str) -> Conditions:
        """Raises BadInput where the ways to overlap are not known."""
        from taskflow.cli import given
        from taskflow.simulation.bench import Conditions

        overlaps = given.names("--overlap", overlap, OVERLAPS)
        return Conditions(overlaps, self.channel, self.precision, self.seconds, self.graphs)
