"""The studies after L. Luo et al. (2014): `python -m examples.papers.luo_2014 triangular`, `outer` and `simplefoam`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from examples.papers.luo_2014.factors import Charts
from examples.papers.luo_2014.march import ImplicitFlow
from examples.papers.luo_2014.outer import measure_outer
from examples.papers.luo_2014.planes import measure_planes
from examples.papers.luo_2014.simplefoam import PeerCase, measure_simplefoam
from examples.papers.luo_2014.tables import draw_planes, show_outer, show_planes, show_simplefoam, show_triangular
from examples.papers.luo_2014.triangular import TriangularSolves, measure_triangular
from taskflow.bench.app import start, studies
from taskflow.bench.options import (
    Device,
    Output,
    Overlap,
    Picture,
    Price,
    Settings,
    TimingOptions,
    ascending,
    cells_of,
    chosen,
    refuse_unused,
    spread,
    triple,
)
from taskflow.bench.tables import present
from taskflow.bench.team import Request
from taskflow.common.errors import BadInput

ORDERINGS: tuple[Literal["tiles", "hyperplanes", "jacobi", "colours"], ...]
ORDERINGS = "tiles", "hyperplanes", "jacobi", "colours"
PRECISIONS: tuple[Literal["single", "double"], ...] = ("single", "double")
UNKNOWNS = "4", "5", "6"
SOLVERS = "gmres", "correction"
CASES = "section", "duct"

app = studies("Studies after L. Luo et al. (2014), computed by taskflow.")


@app.command()
def triangular(
    context: typer.Context,
    cells: Annotated[
        str | None,
        typer.Option(metavar="N|XxYxZ,...", help="Cells of a chart. Default: 32,79x49x49; on GPUs up to 256."),
    ] = None,
    charts: Annotated[int, typer.Option(min=1, help="With --cells: how many charts of each.")] = 1,
    orderings: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Of {', '.join(ORDERINGS)}, with commas; or all.")
    ] = "tiles,hyperplanes,jacobi",
    factors: Annotated[str, typer.Option(metavar="NAMES", help="Precisions: of single, double; or all.")] = "all",
    tile: Annotated[str, typer.Option(metavar="XxYxZ", help="Cells of a tile.")] = "8x8x8",
    cusparse: Annotated[bool, typer.Option("--cusparse", help="On a GPU: cuSPARSE's block ILU(0), too.")] = False,
    unknowns: Annotated[str, typer.Option(metavar="N,N,...", help="Of a cell: 4, 5 with T, 6 with a scalar.")] = "4",
    price: Price = None,
    device: Device = "auto",
    output: Output = None,
) -> None:
    """Time the triangular solves of implicit marching.

    With the matrix and its factors in each ordering and precision, and exact sums beside plain ones of the same bytes,
    beside the copy bandwidth.
    """
    known, precisions = chosen("--orderings", orderings, ORDERINGS), chosen("--factors", factors, PRECISIONS)
    if "tiles" not in known:
        refuse_unused(context, f"with --orderings {orderings}", "tile")
    counts = tuple(map(int, chosen("--unknowns", unknowns, UNKNOWNS)))
    if cusparse and 4 not in counts:
        raise BadInput(f"--unknowns {unknowns}: cuSPARSE has blocks of 4 x 4 here; give 4, too, or omit --cusparse")
    sweeping = TriangularSolves(known, precisions, triple("--tile", tile), cusparse, counts)
    if charts > 1 and not cells:
        raise BadInput(f"--charts {charts}: give --cells, too, the size of a chart")
    sizes = [Charts(cells_of(size.strip()), charts) for size in cells.split(",")] if cells else []
    present("triangular", partial(measure_triangular, sizes, sweeping, device, price), show_triangular, output)


@app.command()
@spread
def outer(
    *,
    case: Annotated[Literal["cavity", "channel"], typer.Option(help="One chart, or six in a row.")] = "cavity",
    cells: Annotated[
        str | None, typer.Option(metavar="N|XxYxZ", help="Cells in all. Default: 128, on CPUs 32; see the reference.")
    ] = None,
    solvers: Annotated[str, typer.Option(metavar="NAMES", help=f"Of {', '.join(SOLVERS)}; or all.")] = "all",
    ordering: Annotated[
        Literal["tiles", "hyperplanes", "jacobi"], typer.Option(help="Of the preconditioner.")
    ] = "tiles",
    iterations: Annotated[int, typer.Option(min=2, help="Outer iterations from the first state, an even number.")] = 10,
    counts: Annotated[str, typer.Option(metavar="N,N,...", help="Numbers of blocks; on GPUs each has its own.")] = "1",
    settings: Settings = [],  # noqa: B006
    overlap: Overlap = "none,full",
    price: Price = None,
    timing: TimingOptions,
) -> None:
    """Time outer iterations of implicit marching.

    From the first state, with the shares of their parts: matrix, factors, solves, products, sums and messages.
    """
    names, whole = chosen("--solvers", solvers, SOLVERS), cells_of(cells) if cells else None
    flows = [ImplicitFlow(case, solver, ordering, tuple(settings)) for solver in names]
    conditions, blocks = timing.conditions(overlap), ascending(counts)
    request = Request(timing.device, (1, 1, max(blocks)), timing.workers or "auto")
    measure = partial(measure_outer, request, flows, whole, blocks, iterations, conditions, price)
    present("outer", measure, show_outer, timing.output)


@app.command()
def simplefoam(
    cases: Annotated[str, typer.Option(metavar="NAMES", help=f"Of {', '.join(CASES)}, with commas; or all.")] = "all",
    cells: Annotated[
        str | None,
        typer.Option(metavar="XxYxZ,...", help="Of one case: its cells, several sizes with commas, not the example's."),
    ] = None,
    cores: Annotated[
        str, typer.Option(metavar="N,N,...", help="Numbers of cores, of which each program has all.")
    ] = "1,2",
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each program, by turns.")] = 3,
    iterations: Annotated[int, typer.Option(min=1, help="The most that simpleFoam makes.")] = 1000,
    settings: Settings = [],  # noqa: B006
    output: Output = None,
) -> None:
    """Time implicit marching beside simpleFoam of OpenFOAM.

    On the same vertices and cores, by turns: until the force along x on all walls is within 0.1 % of the converged one
    of each program, and to the end. OpenFOAM has to be installed.
    """
    names, counts = chosen("--cases", cases, CASES), ascending(cores, "--cores", "cores")
    if cells and len(names) > 1:
        raise BadInput(f"--cells {cells}: they are of one case; give --cases, too, as --cases {names[0]}")
    sizes = [triple("--cells", size.strip()) for size in cells.split(",")] if cells else [None]
    flows = [PeerCase(name, size, tuple(settings)) for name in names for size in sizes]
    present("simplefoam", partial(measure_simplefoam, flows, counts, repeats, iterations), show_simplefoam, output)


@app.command()
def hyperplanes(
    cells: Annotated[str, typer.Option(metavar="N|XxYxZ", help="Cells of a block.")] = "79x49x49",
    cores: Annotated[int, typer.Option(min=1, help="Cells that a device computes at a time.")] = 448,
    *,
    timed: Annotated[bool, typer.Option("--timed", help="Time each: factors and solves in double precision.")] = False,
    unknowns: Annotated[int, typer.Option(min=4, max=6, help="With --timed: of a cell.")] = 4,
    picture: Picture = None,
    device: Device = "auto",
    output: Output = None,
) -> None:
    """Count the cells of each hyperplane i + j + k of a block, which a wavefront computes together, and time them.

    448 are the cores of a C2050.
    """
    measure = partial(measure_planes, cells_of(cells), cores, unknowns, device, timed=timed)
    present("hyperplanes", measure, show_planes, output, draw_planes, picture)


if __name__ == "__main__":
    start(app, "examples.papers.luo_2014")
