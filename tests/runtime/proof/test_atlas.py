"""Proofs on several charts: turned copies, several pieces of a block, constant fields; planted faults are found."""

import re
from dataclasses import replace

import pytest

from taskflow.runtime.proof import examine, prove
from taskflow.runtime.proof.charts import images
from taskflow.runtime.proof.recording import Recorder
from taskflow.runtime.regions import ROTATIONS, Atlas, Box, Field, Partition, Seam, Turn, charted
from taskflow.runtime.tasks import (
    Compute,
    Foreign,
    Read,
    ReadWrite,
    Reduce,
    Roles,
    Scalar,
    TaskGraph,
    Write,
    box,
    offsets,
    plan,
    star,
    task,
)

from ..regions.joints import around, butterfly
from ..regions.turned import pieces, sewn, turned
from .test_proof import means

NAMES = ("p", "q", "u")


@task
def sweep(p: Read[star(2) | box(1)], k: Read[box(1)], q: Write):
    """q = f(p around, k around)"""


@task
def near(p: Read[1], k: Read, q: Write):
    """q = f(p around, k)"""


@task
def ahead(q: Read[offsets(x=(0, 2), y=(-1, 0))], u: ReadWrite):
    """u += q ahead along x and behind along y"""


@task
def edge(p: Write):
    """Boundary layers"""


@task
def measure(p: Read, *, s: Reduce["max"]):
    """s = the largest p"""


@task
def scaled(u: ReadWrite, *, s: Scalar):
    """u /= s"""


class Rounds:
    """Sweeps over all charts and over a part of one, with boundary layers, a reduction, and a constant field."""

    def __init__(self, space):
        self.charts, self.beyond = space.charts, [cells for own in space.own for cells in own[1:]]
        self.part = space.charts[0].layer(1, 1, 0, 3)

    def __call__(self, f):
        if self.beyond:
            yield edge(f.p, over=self.beyond)
        yield sweep(f.p, f.k, f.q, over=self.charts)
        yield edge(f.q, over=self.part)
        yield ahead(f.q, f.u, over=self.charts)
        yield measure(f.u, over=self.charts, s="s")
        yield scaled(f.u, over=self.part, s="s")
        f.swap("p", "q")


def on(atlas, constant=True):
    return charted(atlas, [*map(Field, NAMES), Field("k", constant=constant)])


def two():
    """Two charts, the second upside down and turned."""
    return turned((7, 4, 4), ((4,), (), ()), [Turn(), ROTATIONS[13]])[0]


def four():
    """2 x 2 charts with a regular edge, closed along z."""
    return turned((7, 6, 3), ((3,), (3,), ()), [ROTATIONS[n] for n in (3, 0, 17, 22)], (False, False, True))[0]


def itself():
    """A chart, turned, with a seam onto itself."""
    return turned((4, 5, 4), ((), (), ()), [ROTATIONS[7]], (False, True, False))[0]


def tee():
    """A chart of which one side is joined to two others, which are joined to each other."""
    parts = [Box((0, 0, 0), (3, 6, 3)), Box((3, 0, 0), (6, 3, 3)), Box((3, 3, 0), (6, 6, 3))]
    return sewn(parts, [ROTATIONS[n] for n in (5, 0, 10)])[0]


def step():
    """A chart of which half a side is joined to another one, and half a wall."""
    return sewn([Box((0, 0, 0), (3, 6, 3)), Box((3, 0, 0), (6, 3, 3))], [ROTATIONS[n] for n in (0, 19)])[0]


ATLASES = {
    "two": two,
    "four": four,
    "itself": itself,
    "tee": tee,
    "step": step,
    "folded": lambda: around(1),
    "three": lambda: around(3),
    "five": lambda: around(5, height=2),
    "pipe": butterfly,
}
WAYS = [  # and whether ghost cells are poisoned
    (("cpu", "buffers"), True),
    (("none", "direct"), False),
    (("comm", "buffers"), False),
    (("full", "buffers"), True),
    (("full", "direct"), False),
]


@pytest.mark.parametrize("name", ATLASES)
def test_the_walks_find_the_images_of_the_atlas(name):
    """Two ways to say what ghost cells are images of: that of the analysis, and that of the proof."""
    atlas = ATLASES[name]()
    for n, (chart, walked) in enumerate(zip(atlas.charts, images(atlas), strict=True)):
        cells = {cell: turn for box, turn in walked for cell in _cells(box)}
        fed = {cell: turn for box, turn in atlas.fed[n] for cell in _cells(box)}
        assert cells == fed
        assert not any(cell in set(_cells(chart)) for cell in cells)


def _cells(box):
    (x, y, z), (a, b, c) = box.lo, box.hi
    return [(i, j, k) for i in range(x, a) for j in range(y, b) for k in range(z, c)]


def test_edges_of_three_and_five_charts_have_ghost_cells_of_their_own():
    for edge, images_there in ((3, 0), (4, 4), (5, 0)):
        atlas = around(edge)
        chart = atlas.charts[0]
        corner = chart.layer(0, 0, -2, 0).layer(1, 0, -2, 0)
        present = [box for box, _ in images(atlas)[0] if box.meets(corner)]
        assert sum((box & corner).volume for box in present) == images_there * chart.shape[2]
        assert any(corner in box for box in atlas.own[0]) == (not images_there)


def check(atlas, blocks, cuts, way, debug=False):
    space = on(atlas)
    partition = pieces(space, blocks, cuts)
    mapper, hardware = means(*way, partition)
    proof = prove(partition, {Rounds(space): ()}, replace(mapper, debug=debug), hardware)
    proof.hold()
    assert proof.reads > 0
    return proof


@pytest.mark.parametrize(
    ("name", "blocks", "cuts", "way"),
    [("two", 2, {0: (1, 2, 1)}, ("cpu", "buffers")), ("three", 2, {1: (2, 1, 1)}, ("full", "direct"))],
)
def test_programs_on_charts_are_proved(name, blocks, cuts, way):
    check(ATLASES[name](), blocks, cuts, way)


@pytest.mark.slow
@pytest.mark.parametrize(("way", "debug"), WAYS)
@pytest.mark.parametrize(("blocks", "cuts"), [(1, None), (2, {0: (2, 1, 1)}), (3, {0: (1, 2, 1)})])
@pytest.mark.parametrize("name", ATLASES)
def test_programs_on_all_arrangements_are_proved(name, blocks, cuts, way, debug):
    check(ATLASES[name](), blocks, cuts, way, debug)


@task
def restrict(q: Foreign[box(1)], c: Write):
    """c = the mean of the fine cells in and around it"""


@task
def smooth(c: Read[1], d: Write):
    """d = f(c around)"""


@task
def prolong(d: Foreign, q: ReadWrite):
    """q += d"""


def bend(n):
    """Two charts of n cells along each axis: x of the first goes on as y of the second, which lies 3 n away."""
    one, other, turn = Box.of((n, n, n)), Box.of((n, n, n)).shift((3 * n, 0, 0)), Turn((2, -1, 3), (4 * n - 1, -n, 0))
    seams = Seam(0, one.layer(0, 1, -1, 0), turn), Seam(1, other.layer(1, 0, -1, 0), turn.inverse)
    return Atlas((one, other), seams, ghost=1)


@pytest.mark.parametrize(("blocks", "way"), [(1, ("cpu", "buffers")), (2, ("full", "direct"))])
def test_levels_on_charts_are_proved(blocks, way):
    """Fine and coarse charts, cut alike."""
    fine = charted(bend(8), [Field("p"), Field("q"), Field("k", constant=True)])
    coarse = replace(charted(bend(4), [Field("c"), Field("d")]), scale=(2, 2, 2))
    beside = pieces(coarse, blocks, {0: (1, 2, 1)})
    partition = replace(pieces(fine, blocks, {0: (1, 2, 1)}), beside=(beside,))
    beyond, below = ([box for own in home.own for box in own[1:]] for home in (fine, coarse))

    def program(f):
        yield edge(f.p, over=beyond)
        yield near(f.p, f.k, f.q, over=fine.charts)
        yield edge(f.q, over=beyond)
        yield restrict(f.q, f.c, over=coarse.charts)
        yield edge(f.c, over=below)
        yield smooth(f.c, f.d, over=coarse.charts)
        yield prolong(f.d, f.q, over=fine.charts)
        f.swap("p", "q")

    proof = prove(partition, {program: ()}, *means(*way, partition))
    proof.hold()
    assert proof.reads > 0


# ------------------------------------------------------------------------------------------------------------- faults


def recorded(partition, program, mapper, hardware):
    """Four passes, of which the last two are what every later one is."""
    roles, valid, passes = Roles.of(tuple(partition.fields)), [{}] * len(partition), []
    for _ in range(4):
        (stretch,), roles = plan(program, roles)
        passes.append(Recorder(partition, hardware).record(stretch, valid, mapper))
        valid = passes[-1].after
    return passes


def faults(partition, way=("full", "direct")):
    mapper, hardware = means(*way, partition)
    return examine(partition, recorded(partition, Rounds(partition.region), mapper, hardware)[-2:], hardware).faults


def half_turned(copy):
    """The same boxes, half a turn further about an axis."""
    return replace(copy, axes=(Turn((-1, -2, 3)) @ Turn(copy.axes)).axes)


def elsewhere(copy):
    """Cells beside those that should be copied."""
    return replace(copy, source_box=copy.source_box.shift((0, 0, 1)))


def onto_the_source(copy):
    """What is the source's own is filled, as if it were the target's ghost cells."""
    return replace(copy, target=copy.source)


@pytest.mark.parametrize(("blocks", "way"), [(1, ("cpu", "buffers")), (2, ("full", "direct"))])
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (half_turned, "are no images"),
        (elsewhere, "in the memory|are no images"),
        (onto_the_source, "in the memory|reads cells that it fills|not ordered"),
        (None, "unfilled cells"),
    ],
)
def test_wrong_copies_are_found(monkeypatch, blocks, way, change, text):
    """The analysis itself is wrong, in one of the copies that fill one gap: all blocks agree on it."""
    space = on(two())
    partition = pieces(space, blocks, {1: (1, 2, 1)})
    assert not faults(partition, way)
    right = Partition.sources

    def sources(self, target, boxes, among=None):
        copies = right(self, target, boxes, among)
        if target != 1 or len(copies) < 2:
            return copies
        return copies[:-1] if change is None else [*copies[:-1], change(copies[-1])]

    monkeypatch.setattr(Partition, "sources", sources)
    result = faults(partition, way)
    assert any(re.search(text, fault) for fault in result)


def test_a_constant_field_that_travels_is_found():
    """The passes were recorded as if it were not constant."""
    atlas = two()
    wrong, right = (on(atlas, constant) for constant in (False, True))
    partition = pieces(wrong, 2)
    mapper, hardware = means("full", "direct", partition)
    passes = recorded(partition, Rounds(wrong), mapper, hardware)[:2]  # later ones find it where it has to be
    assert not examine(partition, passes, hardware).faults
    result = examine(pieces(right, 2), passes, hardware).faults
    assert any("writes a constant field" in fault for fault in result)


def test_a_piece_that_another_task_overwrites_is_found():
    """One launch is done on a piece of the same block that has no such cells; or not on all of its own."""
    partition = pieces(on(two()), 1)
    mapper, hardware = means("full", "direct", partition)
    passes = recorded(partition, Rounds(partition.region), mapper, hardware)[-2:]

    def changed(one, change):
        (trace,) = one.traces
        node = next(n for n in trace.graph.nodes if isinstance(n, Compute) and n.launch.task is ahead)
        nodes = [change(node) if other is node else other for other in trace.graph.nodes]
        return replace(one, traces=(replace(trace, graph=TaskGraph(nodes, trace.graph.waits)),))

    for change, text in [
        (lambda node: replace(node, piece=1 - node.piece), "is not in the memory of block 0"),
        (lambda node: replace(node, box=node.box.layer(1, 0, 0, 1)), "finds another version than the program means"),
    ]:
        result = examine(partition, [passes[0], changed(passes[1], change)], hardware).faults
        assert any(text in fault for fault in result)
