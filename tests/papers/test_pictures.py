"""Pictures of studies: a panel for everything that was measured."""

import pytest

from examples.papers.jacobsen_senocak_2013.pictures import plot_campaign, plot_convergence
from examples.papers.zaspel_griebel_2011.pictures import plot_sizes, plot_solvers
from tests.plots.test_benchmarks import SWEEP, drawn, titles

__all__ = ["drawn"]

SOLVERS = [
    {"cells": [n, n, n], "blocks": blocks, "method": method, "seconds": 1e-3 * k, "residual": 10.0**-k}
    for n in (32, 64) for blocks in (1, 2) for method in ("jacobi", "cg") for k in (1, 2)
]  # fmt: skip


def test_a_campaign_has_what_was_measured(drawn, tmp_path):
    plot_campaign(SWEEP, {"cube": 3e12}, "Heading", tmp_path / "a.png")
    assert titles(drawn[0])[2:] == ["arithmetic, all blocks", "the fastest overlap of each"]
    assert [axes.get_ylabel() for axes in drawn[0].axes][3:] == ["energy per cell and step [nJ]"]


def test_solvers_have_a_panel_for_each_size(drawn, tmp_path):
    plot_convergence(SOLVERS, "Heading", tmp_path / "a.png")
    assert titles(drawn[0]) == ["32 x 32 x 32 cells", "64 x 64 x 64 cells"]
    assert len(drawn[0].axes[0].lines) == 4


@pytest.mark.parametrize("price", [None, 1e12])
def test_sizes_have_a_second_panel_with_a_price(drawn, tmp_path, price):
    rows = [
        {"cells": [n, n, n], "blocks": 2, "cells_per_second_per_block": 1e6 * n, "cells_per_dollar": price}
        for n in (32, 64)
    ]
    plot_sizes(rows, "Heading", tmp_path / "a.png")
    assert len(drawn[0].axes) == (1 if price is None else 2)
    assert drawn[0].axes[0].lines[0].get_xydata().tolist() == [[32.0**3, 64.0], [64.0**3, 128.0]]


def test_solvers_have_two_bars_each(drawn, tmp_path):
    rows = [
        {"method": name, "seconds": n, "solve_seconds": 2 * n, "iterations": 4.5, "solve_iterations": 9}
        for n, name in enumerate(("cg", "multigrid"), 1)
    ]
    plot_solvers(rows, "Heading", tmp_path / "a.png")
    assert [bar.get_width() for bar in drawn[0].axes[0].patches] == [1e3, 2e3, 2e3, 4e3]
    assert [text.get_text().strip() for text in drawn[0].axes[0].texts] == ["9 iterations", "4.5 iterations"] * 2
