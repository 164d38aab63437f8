"""Drawings of graphs: they say what the graph says, by as few arrows as possible, repetitions once, boxes apart."""

import re
from graphlib import TopologicalSorter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.runtime.profile.drawing import LOOKS, draw, to_dot
from taskflow.runtime.profile.graph import lay_out
from taskflow.runtime.regions import ROTATIONS, Box, Field, FieldSpace, Partition, Region, charted
from taskflow.runtime.tasks import Claim, Grant, Read, Reduce, Write, analyse, task
from tests.runtime.regions.turned import pieces, turned
from tests.runtime.tasks.palette import partitions, scripts
from tests.runtime.tasks.running import analysed, recorded

CELLS = Box((0, 0, 0), (6, 4, 12))


@task
def smooth(p: Read[1], p_new: Write) -> None:
    """A sweep."""
    p_new[...] = p[1, 0, 0] + p[0, 0, -1]


@task
def copy(a: Read, b: Write) -> None:
    """Something else."""
    b[...] = a[...]


@task
def largest(p: Read, *, m: Reduce[max]) -> None:
    """A reduction."""
    m.fold(p[...])


def sweeps(count, blocks=(1, 1, 2), extra=False):
    """Sweeps from p to q and back, with a copy after each where `extra`, and a reduction."""
    fields = FieldSpace(Field(name) for name in "pqr")
    partition = Partition(Region(CELLS, fields, (False, True, False), ghost=1), blocks)
    inner, launches = Box((1, 0, 1), (5, 4, 11)), []
    for n in range(count):
        a, b = ("p", "q") if n % 2 == 0 else ("q", "p")
        launches.append(smooth(a, b, over=inner))
        if extra:
            launches.append(copy(b, "r", over=inner))
    return analyse([*launches, largest("p", over=CELLS, m="m")], partition).graph


def closure(count, arrows):
    """For each box the boxes that come before it."""
    waits = {n: {a for a, b in arrows if b == n} for n in range(count)}
    before = {}
    for n in TopologicalSorter(waits).static_order():
        before[n] = set().union(waits[n], *(before[m] for m in waits[n]))
    return before


def assert_drawn(graph, drawing):
    """A drawing of everything: the order of the graph, by as few arrows as possible."""
    arrows = {*drawing.waits, *drawing.messages}
    expected = closure(len(graph.nodes), {(m, n) for n, waits in enumerate(graph.waits) for m in waits})
    assert [box.block for box in drawing.boxes] == [node.block for node in graph.nodes]
    assert closure(len(drawing.boxes), arrows) == expected
    for a, b in arrows:
        assert not any(a in expected[m] for m in expected[b])


def assert_places(drawing):
    layout = lay_out(drawing)
    assert len(set(layout.places)) == len(layout.places)
    for a, b in (*drawing.waits, *drawing.messages):
        assert layout.places[a][1] < layout.places[b][1]
    for box, (column, row) in zip(drawing.boxes, layout.places, strict=True):
        first, last = layout.columns[box.block]
        assert first <= column <= last
        assert row < layout.rows
    ends = sorted(layout.columns.values())
    assert all(last < first for (_, last), (first, _) in pairwise(ends))


@settings(max_examples=25)
@given(st.data())
def test_any_graph(data):
    part = data.draw(partitions())
    (result,) = analysed(part, recorded([data.draw(scripts(part.region))]), "first")
    assert_drawn(result.graph, draw(result.graph, everything=True))
    for everything in (True, False):
        assert_places(draw(result.graph, everything=everything))


def test_messages_are_told_apart():
    graph = sweeps(2)
    drawing = draw(graph)
    assert len(drawing.boxes) == sum(not isinstance(node, Grant | Claim) for node in graph.nodes)
    ways = {(drawing.boxes[a].label, drawing.boxes[b].label) for a, b in drawing.messages}
    assert ways == {(f"send to {b}\n{name}", f"receive from {a}\n{name}") for a, b in ((0, 1), (1, 0)) for name in "pq"}
    labels = {box.label: box.look for box in drawing.boxes}
    assert labels["refresh, periodic\nq"] == labels["send to 1\nq"] == "transfer"
    assert labels["max over all blocks\nm"] == "reduction"
    assert [box.look for box in drawing.boxes if box.label == "smooth\nq"].count("middle") == 2


@pytest.mark.parametrize("blocks", [(1, 1, 2), (1, 1, 3), (2, 1, 2), (1, 1, 1)])
@pytest.mark.parametrize("extra", [False, True])
def test_repetitions_are_drawn_once(blocks, extra):
    short, long = (draw(sweeps(count, blocks, extra)) for count in (20, 40))
    assert len(short.boxes) == len(long.boxes) < 8 + 20 * blocks[2] * blocks[0]
    folds = {box.label for box in long.boxes if box.look == "folded"}
    words = "smooth and copy" if extra else "smooth"
    assert {re.sub(r"\d+", "N", label) for label in folds} == {f"{words}: N more like this"}
    assert all(36 <= int(re.search(r"\d+", label)[0]) <= 39 for label in folds)
    assert sum(box.look == "folded" for box in long.boxes) == blocks[0] * blocks[2]
    assert_places(long)
    assert bool(long.ties) == (blocks != (1, 1, 1))


def test_a_few_repetitions_are_drawn():
    assert not [box for box in draw(sweeps(3)).boxes if box.look == "folded"]


def test_everything_is_drawn_on_request():
    graph = sweeps(12)
    assert_drawn(graph, draw(graph, everything=True))


def test_text():
    drawing = draw(sweeps(12))
    dot = to_dot(drawing)
    assert dot.startswith("digraph step {")
    assert dot.endswith("}\n")
    assert dot.count("{") == dot.count("}")
    assert re.findall(r'label="(block \d|legend)"', dot) == ["block 0", "block 1", "legend"]
    boxes = re.findall(r'^    n(\d+) \[label="([^"]*)", fillcolor="(#\w+)"\];$', dot, re.M)
    assert [(int(n), label.replace("\\n", "\n"), colour) for n, label, colour in boxes] == [
        (n, box.label, LOOKS[box.look][0]) for n, box in sorted(enumerate(drawing.boxes), key=lambda it: it[1].block)
    ]
    arrows = re.findall(r"^  n(\d+) -> n(\d+)(?: \[(.*)\])?;$", dot, re.M)
    result = {kind: {(int(a), int(b)) for a, b, looks in arrows if test(looks)} for kind, test in {
        "waits": lambda looks: not looks, "messages": lambda looks: looks and "both" not in looks,
        "ties": lambda looks: "both" in looks}.items()}  # fmt: skip
    assert result == {name: set(getattr(drawing, name)) for name in ("waits", "messages", "ties")}
    assert set(re.findall(r"legend_(\w+)", dot)) == set(drawing.looks)


@pytest.mark.parametrize(("blocks", "transfer"), [(1, "refresh, own pieces"), (2, "send to")])
def test_a_launch_on_several_pieces_is_one_box(blocks, transfer):
    atlas, _ = turned((8, 4, 4), ((4,), (), ()), [ROTATIONS[0], ROTATIONS[9]])
    space = charted(atlas, [Field("p"), Field("q")])
    launches = [smooth("p", "q", over=space.charts), smooth("q", "p", over=space.charts)]
    graph = analyse(launches, pieces(space, blocks, {0: (1, 1, 2), 1: (1, 2, 1)}), valid={}).graph
    drawing, whole = draw(graph), draw(graph, everything=True)
    times = sum(box.label.startswith("smooth") for box in drawing.boxes)
    assert times < sum(box.label.startswith("smooth") for box in whole.boxes)
    looks = [(box.block, box.label.partition(" ")[0], box.look) for box in drawing.boxes if "smooth" in box.label]
    assert all(looks.count(look) <= len(launches) for look in looks)
    assert any(transfer in box.label for box in drawing.boxes)
    assert any("boxes)\nq" in box.label for box in drawing.boxes)
    lay_out(drawing)  # raises where arrows go in circles
    assert to_dot(drawing).count("subgraph cluster_") == blocks + 1
