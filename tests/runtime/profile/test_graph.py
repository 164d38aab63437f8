"""Pictures of graphs are files in the format asked for, also very long ones."""

import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.profile import graph
from taskflow.runtime.profile.drawing import Drawing, DrawnNode
from taskflow.runtime.profile.graph import plot_graph

BOXES = [
    DrawnNode(0, "send to 1\np", "transfer", 1),
    DrawnNode(0, "smooth\np", "middle"),
    DrawnNode(1, "receive from 0\np", "transfer", 0),
]


@pytest.mark.parametrize(("suffix", "head"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_formats(tmp_path, suffix, head):
    path = tmp_path / f"step.{suffix}"
    assert plot_graph(Drawing(BOXES, [(1, 0)], [(0, 2)], []), path, "A step") == path
    assert path.read_bytes().startswith(head)


def test_an_unknown_format(tmp_path):
    with pytest.raises(BadInput, match="xyz"):
        plot_graph(Drawing(BOXES, [], [], []), tmp_path / "step.xyz", "A step")


def test_a_long_chain_is_drawn_coarser(tmp_path, monkeypatch):
    monkeypatch.setattr(graph, "PIXELS", 3000)
    boxes = [DrawnNode(0, f"task {n}", "whole") for n in range(40)]
    chain = Drawing(boxes, [(n, n + 1) for n in range(39)], [], [])
    head = plot_graph(chain, tmp_path / "long.png", "A step").read_bytes()[:24]
    assert 2900 < int.from_bytes(head[20:24], "big") <= 3000
