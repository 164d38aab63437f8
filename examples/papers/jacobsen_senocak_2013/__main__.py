"""The studies of Jacobsen & Senocak (2010, 2013): `python -m examples.papers.jacobsen_senocak_2013 cavity`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from examples.papers.jacobsen_senocak_2013 import tables
from examples.papers.jacobsen_senocak_2013.convergence import (
    GATHERING,
    METHODS,
    Comparison,
    measure_convergence,
)
from examples.papers.jacobsen_senocak_2013.heated import RAYLEIGH, draw_heated, measure_heated, show_heated
from examples.papers.jacobsen_senocak_2013.memory import measure_memory
from examples.papers.jacobsen_senocak_2013.scaling import measure_cavity
from examples.papers.jacobsen_senocak_2013.shares import measure_shares
from examples.papers.measuring import one_overlap
from taskflow.bench.app import start, studies
from taskflow.bench.options import (
    OVERLAPS,
    Device,
    GrowthOptions,
    Output,
    Picture,
    Price,
    Settings,
    TimingOptions,
    ascending,
    cells_of,
    chosen,
    refuse_unused,
    spread,
)
from taskflow.bench.projection.app import PressureOptions, Warm
from taskflow.bench.projection.flows import Flow
from taskflow.bench.tables import present
from taskflow.flow.poisson.multigrid.cycle import GATHERED

COMPARING = "sizes", "methods", "decades", "amalgamate"
UNUSED = {  # the options that a study does not use
    "scaling": ("largest", *COMPARING, "halos"),
    "shares": ("largest", *COMPARING, "price", "picture"),
    "memory": (*COMPARING, "halos", "shapes", "scale", "workers", "picture"),
    "pressure": (
        "largest", "halos", "shapes", "scale", "workers", "solver", "iterations", "tolerance", "settings", "warm",
    ),
}  # fmt: skip
SINGLE = "pressure", "shares"  # studies of one overlap
RUNS = "warm", "price", "overlap", "seconds", "graphs"  # of the study of memory, if it runs something


@dataclass(frozen=True)
class FlowOptions(PressureOptions):
    """Options of the flow and of its measurement."""

    price: Price = None
    warm: Warm = 10

    def flow(self, settings: list[str]) -> Flow:
        """Return the cavity with these and other settings."""
        return Flow("cavity", self.pressure, self.warm, self.price, tuple(settings))


@dataclass(frozen=True)
class ComparisonOptions:
    """Options of the study of pressure solvers."""

    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="With --study pressure: cells along x, y and z. Default: 257,385,513 on GPUs, 65,129 on CPUs.",
        ),
    ] = None
    methods: Annotated[
        str, typer.Option(metavar="NAMES", help=f"With --study pressure: of {', '.join(METHODS)}, with commas.")
    ] = "truncated,amalgamated,cg"
    decades: Annotated[
        int, typer.Option(min=1, max=12, help="With --study pressure: residuals down to 10 to minus this.")
    ] = 8
    amalgamate: Annotated[
        str,
        typer.Option(
            metavar="N,N,...", help=f"With --study pressure: levels of at most N cells, of {', '.join(GATHERING)}."
        ),
    ] = str(GATHERED)

    @property
    def comparison(self) -> Comparison:
        """Return the comparison. Raises BadInput if an option is invalid."""
        along = ascending(self.sizes, "--sizes", "cells") if self.sizes else None
        methods = chosen("--methods", self.methods, tuple(METHODS))
        return Comparison(along, methods, self.decades, ascending(self.amalgamate, "--amalgamate", "cells"))


app = studies("Studies of Jacobsen & Senocak (2010, 2013), computed by taskflow.")


@app.command()
@spread
def cavity(
    *,
    context: typer.Context,
    study: Annotated[
        Literal["scaling", "shares", "memory", "pressure"],
        typer.Option(
            help="Scaling, weak and strong; the shares of computation, copies and messages in the solution for the"
            " pressure; what a step takes of memory, and the largest case that fits; or the time of pressure solvers"
            " against the residual that they leave."
        ),
    ] = "scaling",
    growing: GrowthOptions,
    overlap: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Of {', '.join(OVERLAPS)}, with commas; or all. Default: all, and none with --study pressure and"
            " shares.",
        ),
    ] = None,
    flowing: FlowOptions,
    settings: Settings = [],  # noqa: B006
    largest: Annotated[
        bool, typer.Option("--largest", help="With --study memory: run the largest, at most 16384 x 64 x 16384.")
    ] = False,
    comparing: ComparisonOptions,
    halos: Annotated[
        Literal["direct", "packed", "host", "rows"],
        typer.Option(
            help="With --study shares: straight into the other's ghost cells, packed, packed and copied through host"
            " memory, or copied through it row by row."
        ),
    ] = "direct",
    picture: Picture = None,
    timing: TimingOptions,
) -> None:
    """Rerun the papers' campaign: the cavity on more and more GPUs.

    Jacobsen & Senocak (2010, 2013) timed steps of the lid-driven cavity on domains that grow with the GPUs in one, two
    or three directions (weak scaling), or not at all (strong): cells per second, efficiency, share of the copy
    bandwidth, arithmetic, energy, and with --price what a dollar buys.
    """
    refuse_unused(context, f"by the study {study}", *UNUSED[study])
    if study == "memory" and not largest:
        refuse_unused(context, "by the study memory without --largest", *RUNS)
    device, output, growth = timing.device, timing.output, growing.growth
    conditions = timing.conditions(overlap or ("none" if study in SINGLE else "all"))
    if study in SINGLE:
        one_overlap(conditions, f"the study {study}")
    flow = flowing.flow(settings)
    if study == "pressure":
        solve = partial(measure_convergence, device, comparing.comparison, growth, conditions, flow.price)
        present("pressure", solve, tables.show_convergence, output, tables.draw_convergence, picture)
    elif study == "shares":
        divide = partial(measure_shares, device, growth, conditions, flow, timing.workers, halos)
        present("shares", divide, tables.show_shares, output)
    elif study == "memory":
        measure = partial(measure_memory, device, growth, conditions, flow, largest=largest)
        present("memory", measure, tables.show_memory, output)
    else:
        measure = partial(measure_cavity, device, growth, conditions, flow, timing.workers)
        present("cavity", measure, tables.show_cavity, output, tables.draw_cavity, picture)


@app.command()
def heated(
    *,
    rayleigh: Annotated[str, typer.Option(metavar="NAMES", help=f"Of {', '.join(RAYLEIGH)}, with commas.")] = ",".join(
        RAYLEIGH
    ),
    cells: Annotated[
        str | None, typer.Option(metavar="N|XxYxZ", help="Default: those of the papers, 128x16x128 and 256x16x256.")
    ] = None,
    settings: Settings = [],  # noqa: B006
    device: Device = "auto",
    runs: Annotated[Path, typer.Option(metavar="DIR", help="Where the runs are written.")] = Path("runs"),
    picture: Picture = None,
    output: Output = None,
) -> None:
    """Compute cavities between a hot and a cold wall at Pr = 7 to their steady states.

    Nusselt numbers of both walls and the temperature on the centreline stand next to those of a spectral solution.
    """
    names = chosen("--rayleigh", rayleigh, RAYLEIGH)
    size = cells_of(cells) if cells else None
    measure = partial(measure_heated, names, size, settings, device, runs)
    present("heated", measure, show_heated, output, draw_heated, picture)


if __name__ == "__main__":
    start(app, "examples.papers.jacobsen_senocak_2013")
