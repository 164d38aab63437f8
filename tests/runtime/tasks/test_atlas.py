"""Programs on charts that are joined by turned seams have the bits of the same programs on one box, for any pieces."""

import random

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import (
    ROTATIONS,
    STRAIGHT,
    Atlas,
    Box,
    Field,
    FieldSpace,
    Region,
    Seam,
    Turn,
    charted,
    divided,
    seen,
)
from taskflow.runtime.tasks import Read, Reduce, Write, analyse, box, serial, star, task

from ..regions.turned import cut, pieces, turned
from .running import orders

CELLS, FIELDS = (8, 7, 6), ("p", "q")


@task
def around(p: Read[star(2) | box(1)], q: Write) -> None:
    """The sum over neighbours across faces, two far, and across edges; integers, so that its order is free."""
    total = 3 * p[0, 0, 0]
    for axis in range(3):
        for n in (-2, -1, 1, 2):
            total = total + abs(n) * p[tuple(n * (a == axis) for a in range(3))]
        for m in (-1, 1):
            for n in (-1, 1):
                total = total + 5 * p[tuple(0 if a == axis else (m, n)[a == (axis + 2) % 3] for a in range(3))]
    q[...] = total % 1009


@task
def edge(p: Write) -> None:
    """What boundary layers hold."""
    p[...] = 17.0


@task
def largest(p: Read, *, m: Reduce["max"], s: Reduce["sum"]) -> None:
    m.fold(p[...])
    s.fold(p[...])


def program(f, cells, own):
    """Two sweeps with boundary layers, and reductions."""
    beyond = [box for chart in own for box in chart if box not in cells]
    for p, q in (f, f[::-1]):
        if beyond:
            yield edge(p, over=beyond)
        yield around(p, q, over=cells)
    yield largest(f[0], over=cells, m="m", s="s")


def fields():
    return [Field(name) for name in FIELDS]


def started(region, memory, charts):
    """Whole numbers in the cells of the box, and the same in those of the charts: (chart of the box, its turn)."""
    numbers = np.random.default_rng(1).integers(0, 1000, CELLS[::-1]).astype(float)
    first = region.cells.grow(region.ghost).lo
    for part, turn in charts:
        memory["p"][turn(part).slices(first)] = seen(numbers[part.slices((0, 0, 0))], turn.axes)


def both(periodic, at, rotations):
    """The box after the program, and the atlas, its memory after it, and how parts of the box lie in it."""
    space = FieldSpace(fields())
    flat = Region(Box.of(CELLS), space, periodic, 2)
    memory, scalars = serial.allocate(flat), {}
    started(flat, memory, [(flat.cells, Turn())])
    ring = [flat.bounds.subtract(flat.cells)]
    serial.run_program(flat, memory, program(FIELDS, [flat.cells], ring), scalars)
    atlas, places = turned(CELLS, at, rotations, periodic)
    region = charted(atlas, fields())
    charts = list(zip(cut(CELLS, at), places, strict=True))
    return memory, scalars, region, charts


def assert_cells(region, charts, memory, expected):
    first = region.cells.grow(region.ghost).lo
    for part, turn in charts:
        values = seen(expected["p"][part.shift((2, 2, 2)).slices((0, 0, 0))], turn.axes)
        np.testing.assert_array_equal(memory["p"][turn(part).slices(first)], values)


AT = [((4,), (), ()), ((4,), (3,), ()), ((3,), (4,), (3,))]


@pytest.mark.fast("periodic4-*", "periodic6-*", "periodic10-*")
@pytest.mark.parametrize(
    ("periodic", "at", "seed"),
    [
        pytest.param(periodic, at, seed, marks=() if (n + m + seed) % 5 == 2 else pytest.mark.slow)
        for n, periodic in enumerate([(False, False, False), (True, False, False), (True, True, True)])
        for m, at in enumerate(AT)
        for seed in range(3)
    ],
)
def test_turned_charts_have_the_bits_of_the_box(periodic, at, seed):
    number = random.Random(seed)
    rotations = [number.choice(ROTATIONS) for _ in cut(CELLS, at)]
    expected, scalars, region, charts = both(periodic, at, rotations)
    launches = list(program(FIELDS, region.charts, region.own))
    memory, mine = serial.allocate(region), {}
    started(region, memory, charts)
    serial.run_program(region, memory, launches, mine)
    assert_cells(region, charts, memory, expected)
    assert mine == scalars
    for blocks, cuts in ((1, None), (2, None), (3, None), (2, {0: (1, 2, 1), len(charts) - 1: (2, 1, 1)})):
        partition = pieces(region, blocks, cuts)
        for poisoned in (False, True):
            begun = serial.allocate(region)
            started(region, begun, charts)
            memories, copies = serial.scatter(partition, begun), [{} for _ in range(blocks)]
            result = analyse(launches, partition, split=seed > 0, poisoned=poisoned)
            order = result.graph.order(orders(seed))
            serial.run_graph(result.graph, order, partition, memories, copies, direct=seed > 1)
            assert_cells(region, charts, serial.gather(partition, memories), expected)
            assert copies == [scalars] * blocks
            assert max(result.messages.values(), default=0) <= 3  # one for each field and moment, whatever the seams


@pytest.mark.parametrize("turn", ROTATIONS, ids=lambda turn: "".join(map("{:+d}".format, turn.axes)))
def test_every_rotation(turn):
    expected, _, region, charts = both((False, False, False), AT[0], [Turn(), turn])
    memory = serial.allocate(region)
    started(region, memory, charts)
    serial.run_program(region, memory, program(FIELDS, region.charts, region.own), {})
    assert_cells(region, charts, memory, expected)


def test_a_chart_with_a_seam_onto_itself_is_a_periodic_box():
    expected, scalars, region, charts = both((False, True, False), ((), (), ()), [Turn()])
    assert len(region.charts) == 1
    assert {seam.chart for seam in region.atlas.seams} == {0}
    memory, mine = serial.allocate(region), {}
    started(region, memory, charts)
    serial.run_program(region, memory, program(FIELDS, region.charts, region.own), mine)
    assert_cells(region, charts, memory, expected)
    assert mine == scalars


def test_seams_that_cannot_be_are_refused():
    one, other = Box.of((4, 4, 4)), Box.of((4, 4, 4)).shift((20, 0, 0))
    beyond, back = one.layer(0, 1, -2, 0), other.layer(0, 0, -2, 0)
    present, home = Turn(STRAIGHT, (16, 0, 0)), Turn(STRAIGHT, (-16, 0, 0))
    good = (Seam(0, beyond, present), Seam(1, back, home))
    Atlas((one, other), good)
    for charts, seams, message in [
        ((one, other.shift((-14, 0, 0))), (), "move them apart"),
        ((one, other), good[:1], "has no inverse"),
        ((one, other), (*good, good[0]), "two seams have the cells"),
        ((one, other), (Seam(0, one, present),), "is not 2 layers beyond a side"),
        ((one, other), (Seam(0, beyond, Turn((-1, 2, 3), (25, 0, 0))),), "is a reflection"),
        ((), (), "needs charts"),
    ]:
        with pytest.raises(ValueError, match=message):
            Atlas(charts, seams)
    with pytest.raises(ValueError, match="give 1, 2 and 3"):
        Turn((1, 1, 3))


def test_more_blocks_than_pieces_are_refused():
    atlas, _ = turned((4, 4, 4), ((), (), ()), [Turn()])
    with pytest.raises(BadInput, match="make pieces for"):
        divided(atlas, 9)


@task
def written(a: Write) -> None:
    a[...] = 0.0


def test_a_constant_field_is_never_exchanged_and_never_written():
    atlas, _ = turned((6, 4, 4), ((3,), (), ()), [Turn(), ROTATIONS[5]])
    region = charted(atlas, [Field("p", constant=True), Field("q")])
    partition = pieces(region, 2)
    result = analyse([around("p", "q", over=region.charts)], partition, poisoned=True)
    assert not result.messages
    with pytest.raises(BadInput, match="writes 'p', which is constant"):
        analyse([written("p", over=region.charts)], partition)


def test_fields_on_faces_do_not_go_over_seams():
    atlas, _ = turned((4, 4, 4), ((2,), (), ()), [Turn(), ROTATIONS[5]])
    with pytest.raises(ValueError, match="u: values on faces of cells cannot cross turned seams"):
        charted(atlas, [Field("u", location="fx")])
