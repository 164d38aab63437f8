"""The study `triangular`: a row for each operation, ordering and precision, with the bytes that it must move."""

import json

import numpy as np
import pytest

from examples.papers.luo_2014.cusparse import BlockFactors, block_rows
from examples.papers.luo_2014.factors import Charts, Factors, KrylovSums
from examples.papers.luo_2014.goals import like_four, of_sweeps, paper_seconds
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from tests.flow.test_implicit_factor import CELLS, TILE, agree, order_of
from tests.runtime.machine.devices import DEVICES, one_gpu, opened

PAPER = "examples.papers.luo_2014"
BYTES = {
    ("assembly", "single"): 681, ("assembly", "double"): 1129,
    ("factorisation", "single"): 424, ("factorisation", "double"): 744,
    ("solve", "single"): 576, ("solve", "double"): 1024,
    ("exact sums", "double"): 352, ("plain sums", "double"): 352,
}  # fmt: skip


@pytest.fixture(autouse=True)
def copied(brief):
    brief()


@pytest.mark.slow
def test_rows_of_two_sizes(start, here):
    words = ("--cells", "9x8x5,8", "--charts", 2, "--orderings", "tiles,hyperplanes", "--tile", "4x4x4", "--price", 2)
    result = start(PAPER, "triangular", *words, "--device", "cpu", "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    written = json.loads((here / "bench.json").read_text())
    rows = written["results"]
    assert written["tile"] == [4, 4, 4]
    assert [(row["cells"], row["charts"]) for row in rows] == [([9, 8, 5], 2)] * 12 + [([8, 8, 8], 2)] * 12
    assert [row["name"] for row in rows[:5]] == ["assembly", *["factorisation", "solve"] * 2]
    for row in rows:
        cells = 2 * np.prod(row["cells"])
        assert row["bytes_per_cell"] == BYTES[row["name"], row["precision"]]
        assert row["cells_per_second"] == pytest.approx(cells / row["seconds"])
        assert row["cells_per_dollar"] == pytest.approx(1800 * row["cells_per_second"])
        assert row["share_of_copy"] == pytest.approx(row["bytes"] / row["seconds"] / 2e10)
        aimed = (row["name"], row["ordering"], row["precision"]) == ("solve", "tiles", "single")
        assert row["goal"] == ("0.6 of copy" if aimed else None)
    assert "2 x 9x8x5" in result.stdout
    listed = [{**row, "cells": [79, 49, 49], "charts": 1} for row in rows[:5]]  # the page lists few sizes
    (here / "bench.json").write_text(json.dumps({**written, "results": listed}))
    (here / "page.md").write_text("<!-- table of triangular -->\n\n<!-- end -->\n")
    assert start("docs.performance.report", "bench.json", "-o", "page.md").exit_code == 0
    assert "| 79x49x49 | single | tiles |" in (here / "page.md").read_text()


@pytest.mark.parametrize("device", DEVICES)
def test_plain_sums_are_those_of_numpy(device):
    sums = KrylovSums(Charts((5, 4, 3), 2))

    def job(shard):
        sums.charts.fill(shard)
        shard.run(sums.first, scale=1.0)
        shard.run(sums.plain)
        plain = shard.scalars["along.0"]
        values = [shard.read(name, box) for box in sums.charts.boxes for name in ("p_new", "u_new", "v_new", "w_new")]
        return plain, values

    ((plain, values),) = run_threads(sums.partition, job, opened(device))
    weights = np.tile([2.5, 1, 1, 1], 2)
    expected = sum(weight * np.sum(value**2) for weight, value in zip(weights, values, strict=True))
    assert plain == pytest.approx(expected, rel=1e-13)


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("ordering", ["tiles", "hyperplanes", "jacobi", "colours"])
@pytest.mark.parametrize("unknowns", [4, 5, 6])
def test_solves_on_a_gpu_have_the_bits_of_a_cpu(unknowns, ordering, precision):
    factors = Factors(Charts((19, 11, 9), 2), ordering, precision, unknowns=unknowns)
    names = ("p_z", "u_z", "v_z", "w_z", "T_z", "dye_z")[:unknowns]

    def job(shard):
        factors.fill(shard)
        shard.run(factors.fresh, slowness=0.1)
        shard.run(factors.precondition)
        return [shard.read(name, box) for box in factors.charts.boxes for name in names]

    host, device = (run_threads(factors.partition, job, one)[0] for one in (cpu(1), one_gpu()))
    np.testing.assert_array_equal(np.concatenate(device), np.concatenate(host))


@pytest.mark.fast("6-tiles")
@pytest.mark.parametrize("ordering", ["tiles", "hyperplanes"])
@pytest.mark.parametrize("unknowns", [4, 5, 6])
def test_solves_are_those_of_a_dense_ilu(unknowns, ordering):
    factors, out = Factors(Charts(CELLS), ordering, "double", TILE, unknowns=unknowns), {}
    names = ("p", "u", "v", "w", "T", "dye")[:unknowns]

    def job(shard):
        factors.fill(shard)
        shard.run(factors.matrix, slowness=0.1)
        out.update({name: shard.read(name) for name in (*COUPLING, "pivot")})
        shard.run(factors.invert)
        shard.run(factors.precondition)
        out["z"] = np.stack([shard.read(f"{name}_z") for name in names])
        return np.stack([shard.read(f"{name}_new") for name in names])

    (v,) = run_threads(factors.partition, job, cpu(1))
    agree(order_of(ordering), v, out)


def test_goals_know_their_rows():
    row = {
        "name": "solve", "ordering": "tiles", "cells": [128] * 3, "charts": 1, "precision": "single", "unknowns": 4,
    }  # fmt: skip
    assert of_sweeps({**row, "share_of_copy": 0.59}, gpu=True) == {"goal": "0.6 of copy", "met": False}
    block = {**row, "cells": [79, 49, 49], "precision": "double", "seconds": 0.2e-3}
    assert of_sweeps(block, gpu=True) == {"goal": "0.25 ms", "met": True}
    assert of_sweeps({**block, "charts": 2}, gpu=True) == {"goal": None, "met": None}
    assert (paper_seconds(block), paper_seconds(row)) == (35.84e-3, None)
    six = {**row, "unknowns": 6, "share_of_copy": 0.53}
    four = {**row, "share_of_copy": 0.6}
    assert (of_sweeps(six, gpu=True)["goal"], like_four(four, [four, six])) == (None, {})
    assert like_four(six, [four, six]) == {"goal": "0.9 of 4 x 4", "met": False}


@pytest.mark.parametrize("words", [("--orderings", "red"), ("--cells", "8,x"), ("--tile", "8"), ("--unknowns", "7")])
def test_words_that_say_nothing_are_refused(start, refused, words):
    result = start(PAPER, "triangular", *words, "--device", "cpu")
    refused(result.exit_code, result.stderr, words[0], "give")


def test_cusparse_has_no_cpu(start, refused):
    result = start(PAPER, "triangular", "--cusparse", "--device", "cpu")
    refused(result.exit_code, result.stderr, "--cusparse", "omit it")


def test_rows_of_blocks_are_cells_and_their_neighbours():
    starts, columns = block_rows((3, 2, 2))
    index = np.arange(12).reshape(2, 2, 3)
    for cell in range(12):
        z, y, x = np.argwhere(index == cell)[0]
        near = np.abs(np.indices(index.shape) - np.reshape([z, y, x], (3, 1, 1, 1))).sum(axis=0) <= 1
        np.testing.assert_array_equal(columns[starts[cell] : starts[cell + 1]], index[near])


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["single", "double"])
def test_cusparse_solves_a_row_of_cells(precision):
    """Whose incomplete factors are complete."""
    import cupy

    factors = BlockFactors((7, 1, 1), precision)
    blocks, starts, columns = (array.get() for array in factors.matrix)
    whole = np.zeros((7, 4, 7, 4))
    for cell in range(7):
        for entry in range(starts[cell], starts[cell + 1]):
            whole[cell, :, columns[entry]] = blocks[entry]
    vectors = cupy.asarray(np.random.default_rng(2).random((3, 28)), blocks.dtype)
    factors.prepare()
    factors.factorise()
    factors.solve(*vectors)
    exact = np.linalg.solve(whole.reshape(28, 28), vectors[0].get())
    np.testing.assert_allclose(vectors[2].get(), exact, rtol=0, atol=20 * np.finfo(blocks.dtype).eps)
