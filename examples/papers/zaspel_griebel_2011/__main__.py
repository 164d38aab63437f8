"""The benchmark of Zaspel & Griebel (2011): `python -m examples.papers.zaspel_griebel_2011 two-phase`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import typer

from examples.papers.measuring import one_overlap
from examples.papers.zaspel_griebel_2011 import shares, step, tables
from examples.papers.zaspel_griebel_2011.bubble import Bubble
from taskflow.bench.app import start, studies
from taskflow.bench.options import (
    OVERLAPS,
    Blocks,
    Counts,
    Picture,
    Price,
    Settings,
    Solver,
    TimingOptions,
    Tolerance,
    ascending,
    blocks_of,
    cells_of,
    chosen,
    refuse_unused,
    spread,
)
from taskflow.bench.scaling import Growth
from taskflow.bench.steps import Pressure
from taskflow.bench.tables import present

SHAPES = ("weak-128", "weak-256", "weak-512", "strong-256", "strong-512")
METHODS = ("cg", "multigrid", "mixed")  # of the study of pressure solvers
SCHEMES = ("koren", "weno5")  # that carry momentum
UNUSED = {  # the options that a study does not use
    "step": ("sizes", "methods", "shapes", "counts", "scale", "picture"),
    "sizes": ("cells", "schemes", "methods", "shapes", "counts", "scale", "workers"),
    "pressure": ("solver", "schemes", "sizes", "shapes", "counts", "scale", "workers"),
    "shares": ("schemes", "sizes", "methods", "shapes", "counts", "scale"),
    "scaling": ("cells", "blocks", "schemes", "sizes", "methods"),
}

app = studies("The benchmark of Zaspel & Griebel (2011), computed by taskflow.")


@dataclass(frozen=True)
class BubbleOptions:
    """The options that say what is measured."""

    method: Annotated[str, typer.Option(metavar="NAME", help="How the interface is followed.")] = "levelset"
    solver: Solver = "multigrid"
    tolerance: Tolerance = 1e-6
    steps: Annotated[int, typer.Option(min=1, help="Steps that are timed, from rest.")] = 20
    price: Price = None

    def bubble(self, settings: list[str]) -> Bubble:
        """The case with these and other settings."""
        pressure = Pressure(self.solver, None, None if self.solver == "fft" else self.tolerance)  # that one is direct
        return Bubble(pressure, self.steps, self.price, self.method, tuple(settings))


@dataclass(frozen=True)
class StudyOptions:
    """The options that one study has alone."""

    schemes: Annotated[
        str,
        typer.Option(metavar="NAMES", help=f"With --study step: of {', '.join(SCHEMES)}, with commas; or all."),
    ] = "koren"
    sizes: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="With --study sizes: cells along x, y and z. Default: all that fit."),
    ] = None
    methods: Annotated[
        str, typer.Option(metavar="NAMES", help=f"With --study pressure: of {', '.join(METHODS)}, with commas.")
    ] = "all"
    shapes: Annotated[
        str, typer.Option(metavar="NAMES", help=f"With --study scaling: of {', '.join(SHAPES)}, with commas.")
    ] = "all"
    counts: Counts = None
    scale: Annotated[
        int | None,
        typer.Option(min=1, help="Divide a shape by this in every direction. Default: 1 on GPUs, 8 on CPUs."),
    ] = None

    @property
    def along(self) -> tuple[int, ...] | None:
        """The sizes of cubes. Raises BadInput where they are something else."""
        return ascending(self.sizes, "--sizes", "cells") if self.sizes else None

    @property
    def growth(self) -> Growth:
        """The shapes and numbers of blocks. Raises BadInput where an option is something else."""
        counts = ascending(self.counts) if self.counts else None
        return Growth(chosen("--shapes", self.shapes, SHAPES), counts, self.scale)


@app.command("two-phase")
@spread
def two_phase(
    *,
    context: typer.Context,
    study: Annotated[
        Literal["step", "sizes", "pressure", "shares", "scaling"],
        typer.Option(
            help="The whole step; its speed against the number of cells; solvers of the pressure equation; what each"
            " task takes of a step; or several blocks."
        ),
    ] = "step",
    cells: Annotated[
        str | None,
        typer.Option(metavar="N|XxYxZ", help="Cells in all. Default: the paper's 256x256x128; on CPUs 128x128x64."),
    ] = None,
    blocks: Blocks = "1",
    measured: BubbleOptions,
    settings: Settings = [],  # noqa: B006
    studied: StudyOptions,
    overlap: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Of {', '.join(OVERLAPS)}, with commas; or all. Default: auto, and all with --study scaling.",
        ),
    ] = None,
    picture: Picture = None,
    timing: TimingOptions,
) -> None:
    """Time a bubble that rises, as Zaspel & Griebel (2011) did.

    The first steps, from rest, of an air bubble of 6 cm in a tank of water whose longest side is 20 cm, in double
    precision where nothing else is asked for.
    """
    refuse_unused(context, f"by the study {study}", *UNUSED[study])
    conditions = timing.conditions(overlap or ("all" if study == "scaling" else "auto"))
    if study in ("sizes", "pressure"):
        one_overlap(conditions, f"the study {study}")
    bubble, workers = measured.bubble(settings), timing.workers
    cut, whole = blocks_of(blocks), cells_of(cells) if cells else None
    measure: Callable[[], dict[str, Any]]
    if study == "sizes":
        measure = partial(step.measure_sizes, timing.device, studied.along, cut, conditions, bubble)
    elif study == "pressure":
        solvers = chosen("--methods", studied.methods, METHODS)
        measure = partial(step.measure_pressure, timing.device, whole, cut, conditions, bubble, solvers)
    elif study == "shares":
        measure = partial(shares.measure_shares, timing.device, whole, cut, conditions, bubble, workers)
    elif study == "scaling":
        measure = partial(step.measure_scaling, timing.device, studied.growth, conditions, bubble, workers)
    else:
        schemes = chosen("--schemes", studied.schemes, SCHEMES)
        measure = partial(step.measure_step, timing.device, whole, cut, conditions, bubble, schemes, workers)
    present(f"two-phase {study}", measure, tables.SHOWN[study], timing.output, tables.DRAWN.get(study), picture)


if __name__ == "__main__":
    start(app, "examples.papers.zaspel_griebel_2011")
