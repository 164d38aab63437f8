"""Pictures of scaling: a panel for everything that was measured."""

import pytest
from matplotlib.figure import Figure

from taskflow.common.errors import BadInput
from taskflow.plots.benchmarks import plot_scaling

SWEEP = [
    {
        "shape": shape, "name": name, "blocks": blocks, "efficiency": 0.9, "speedup": 0.9 * blocks,
        "seconds": 1 / blocks, "flops": 1e12 * blocks, "joules_per_cell": 2e-9, "cells_per_dollar": None,
    }
    for shape in ("cube", "strong") for blocks, name in ((1, "none"), (2, "none"), (2, "full"), (4, "full"))
]  # fmt: skip
@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved."""
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, dpi: figures.append(figure))
    return figures


def titles(figure: Figure) -> list[str]:
    return [axes.get_title() for axes in figure.axes]


def test_scaling_has_weak_and_strong(drawn, tmp_path):
    assert plot_scaling(SWEEP, "Heading", tmp_path / "a.svg") == tmp_path / "a.svg"
    assert titles(drawn[0]) == ["weak scaling", "strong scaling"]
    labels = [text.get_text() for text in drawn[0].axes[0].get_legend().get_texts()]
    assert labels == ["cube, none", "cube, full", "ideal"]
    plot_scaling([{**row, "shape": f"{row['shape']}-64"} for row in SWEEP], "Heading", tmp_path / "a.svg")
    assert titles(drawn[1]) == ["weak scaling", "strong scaling"]


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot draw this format"):
        plot_scaling(SWEEP, "Heading", tmp_path / "a.xyz")
