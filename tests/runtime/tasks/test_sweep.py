"""Sweeps: what tasks and launches say of them, what is refused, and that any order of the graph has their bits."""

import random

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Box, Field, Partition, region
from taskflow.runtime.tasks import (
    Read,
    Reduce,
    Roles,
    Sweep,
    Swept,
    Write,
    analyse,
    live_in,
    moved,
    record,
    serial,
    sweeps,
    task,
    tile_of,
    visited,
)

from ..machine.sweeping import backward_in_numpy, expected, forward_in_numpy, program, started

TILE = (2, 3, 2)
IN_NUMPY = forward_in_numpy, backward_in_numpy


def space(cells=(5, 6, 5), **more):
    return region(cells, [Field(name) for name in "abx"], **more)


def memory(where):
    """The start, in one memory."""
    values = serial.allocate(where)
    for name, array in started(where.cells.shape).items():
        values[name][where.cells.slices(where.cells.grow(where.ghost).lo)] = array
    return values


@pytest.mark.parametrize("ordering", ["tiles", "colours", "hyperplanes", "jacobi"])
@pytest.mark.parametrize("periodic", ["", "xyz"])
def test_a_body_is_done_point_by_point(ordering, periodic):
    where = space(periodic=periodic)
    whole, steps = memory(where), program(where.cells, ordering, TILE, IN_NUMPY)
    launches, _ = record(steps, Roles.of(tuple("abx")))
    for _ in range(2):
        serial.run_program(where, whole, launches, {})
    inside = where.cells.slices(where.cells.grow(1).lo)
    np.testing.assert_array_equal(whole["x"][inside], expected(where.cells.shape, ordering, TILE))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("direct", [False, True])
def test_any_order_of_the_graph_has_the_bits_of_one_memory(seed, direct):
    where, number = space(), random.Random(seed)
    partition = Partition(where, (2, 1, 2), multiple=TILE)
    launches, _ = record(program(where.cells, "tiles", TILE, IN_NUMPY), Roles.of(tuple("abx")))
    whole, valid = memory(where), {}
    parts = serial.scatter(partition, whole)
    for part in parts:  # nothing is right by chance
        for (_, piece), array in part.items():
            hidden = np.ones(array.shape, bool)
            hidden[partition.owned[piece].slices(partition.memory[piece].lo)] = False
            array[hidden] = np.nan
    for _ in range(2):
        analysis = analyse(launches, partition, valid=valid, following=launches)
        order = analysis.graph.order(lambda node: number.random())
        serial.run_graph(analysis.graph, order, partition, parts, [{}] * 4, direct=direct)
        valid = analysis.valid
    inside = where.cells.slices(where.cells.grow(1).lo)
    result = serial.gather(partition, parts)["x"][inside]
    np.testing.assert_array_equal(result, expected(where.cells.shape, "tiles", TILE))


def test_only_the_second_colour_has_its_ghost_cells_exchanged():
    where = space((8, 6, 4))
    partition = Partition(where, (2, 1, 1), multiple=TILE)
    launches, _ = record(program(where.cells, "tiles", TILE, IN_NUMPY), Roles.of(tuple("abx")))
    messages = {node.message for node in analyse(launches, partition).graph.nodes if hasattr(node, "message")}
    travel = sorted(name for message in messages for name, _ in message.copies)
    assert travel == ["a"] * 2 + ["x"] * 4  # once each way: a before all, x after the first colour of each solve


def test_a_launch_counts_the_cells_that_it_does():
    where = space((5, 6, 5))
    partition = Partition(where, (1, 1, 1))
    cells = where.cells.volume
    one, other = sweeps("tiles", "up", TILE)
    first, second = (forward_in_numpy("a", "b", "x", over=where.cells, sweep=item) for item in (one, other))
    done = visited(first, partition), visited(second, partition)
    assert sum(done) == cells
    assert done[0] == sum((i // 2 + j // 3 + k // 2) % 2 == 0 for i in range(5) for j in range(6) for k in range(5))
    assert moved(first, partition) == done[0] * 4 * 8
    (whole,) = (forward_in_numpy("a", "b", "x", over=where.cells, sweep=item) for item in sweeps("jacobi", "up"))
    assert visited(whole, partition) == cells


def test_what_it_sweeps_carries_the_state():
    """Cells of the other colour keep their values."""
    where = space((4, 6, 4))

    def steps(f):
        yield forward_in_numpy(f.a, f.b, f.x, over=where.cells, sweep=sweeps("tiles", "up", TILE)[1])

    assert set(live_in([steps], Partition(where, (1, 1, 1)))) == {"a", "b", "x"}


def test_a_body_that_reads_what_is_not_earlier_is_told():
    @task
    def greedy(b: Read, x: Swept["up"], *, sweep: Sweep):
        """x = b + x of the cell above"""
        x[...] = b[...] + x[0, 0, 1]

    @task
    def diagonal(b: Read, x: Swept["up"], *, sweep: Sweep):
        """x = b + x of a cell across an edge"""
        at = (-1, 1, 0)
        x[...] = b[...] + x[at]

    where = space()
    for item in (greedy, diagonal):
        launch = item("b", "x", over=where.cells, sweep=Sweep(TILE, 0))
        with pytest.raises(PermissionError, match=r"\(0, 0, 0\) at the offset .*, where the sweep has not been"):
            serial.run_program(where, memory(where), [launch], {})


def test_wrong_declarations_are_told():
    with pytest.raises(TypeError, match=r"Swept\['left'\]: a sweep goes up or down"):
        Swept["left"]
    with pytest.raises(TypeError, match="take a stencil"):
        Swept["up"][2]
    with pytest.raises(TypeError, match="has 0 keywords of the type Sweep"):

        @task
        def alone(x: Swept["up"]):
            """x"""

    with pytest.raises(TypeError, match="has 1 keywords of the type Sweep"):

        @task
        def idle(x: Write, *, sweep: Sweep):
            """x"""

    with pytest.raises(TypeError, match="sweeps both up and down"):

        @task
        def both(x: Swept["up"], y: Swept["down"], *, sweep: Sweep):
            """x and y"""

    with pytest.raises(TypeError, match="sweeps and reduces"):

        @task
        def summed(x: Swept["up"], *, sweep: Sweep, total: Reduce["sum"]):
            """x and its sum"""

    with pytest.raises(ValueError, match="ordering 'chess' is not one of tiles, colours"):
        sweeps("chess", "up")
    with pytest.raises(ValueError, match="direction 'left': a sweep goes up or down"):
        sweeps("tiles", "left")
    with pytest.raises(ValueError, match="give 1 or more along x, y and z"):
        Sweep((8, 0, 8))
    with pytest.raises(ValueError, match="colour 2"):
        Sweep(colour=2)


@pytest.mark.parametrize(
    ("blocks", "multiple", "ordering", "text"),
    [
        ((1, 1, 2), (1, 1, 1), "tiles", r"has tiles of 2 cells along z, .* the cut at 3 goes through one"),
        ((1, 1, 2), TILE, "hyperplanes", "goes through whole charts, of which .* is cut"),
    ],
)
def test_launches_that_no_partition_can_serve_are_refused(blocks, multiple, ordering, text):
    where = space()
    partition = Partition(where, blocks, multiple=multiple)
    launch = forward_in_numpy("a", "b", "x", over=where.cells, sweep=sweeps(ordering, "up", TILE)[-1])
    with pytest.raises(BadInput, match=text):
        analyse([launch], partition)


def test_tiles_of_other_blocks_need_ghost_layers():
    where = space(ghost=0)

    @task
    def plain(b: Read, x: Swept["up"], *, sweep: Sweep):
        """x = b"""

    partition = Partition(where, (1, 1, 1))
    with pytest.raises(BadInput, match="with boundary layers: a sweep is over"):
        analyse([plain("b", "x", over=space().bounds, sweep=Sweep(TILE, 0))], Partition(space(), (1, 1, 1)))
    analyse([plain("b", "x", over=where.cells, sweep=Sweep(TILE, 0))], partition)
    with pytest.raises(BadInput, match="reads 'x' in tiles of other blocks; the region has no ghost layers: ghost=1"):
        analyse([plain("b", "x", over=where.cells, sweep=Sweep(TILE, 1))], partition)


@pytest.mark.parametrize(("shapes", "tile"), [
    ([(40, 33, 1)], (16, 16, 8)), ([(40, 31, 1)], (16, 8, 8)), ([(40, 40, 1), (30, 40, 1)], (8, 16, 8)),
    ([(40, 40, 1), (40, 40, 2)], (8, 8, 8)),
])  # fmt: skip
def test_tiles_of_flat_charts_are_longer_where_two_fit(shapes, tile):
    assert tile_of([Box((0, 0, 3), (x, y, 3 + z)) for x, y, z in shapes]) == tile
