"""Vectors in single precision where all else is in double: products and sweeps there are those in double, rounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from examples.papers.luo_2014.march import ImplicitFlow
from taskflow.flow.models.artificial_compressibility.flow_on_charts import SINGLE
from taskflow.flow.models.artificial_compressibility.implicit.gmres import Gmres
from taskflow.flow.models.artificial_compressibility.implicit.vectors import AFTER, BEFORE
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.tasks import owned
from tests.flow.charts import march
from tests.flow.test_implicit_march import BEGUN, REST, SLOW, TILES, bits, box, model, open_box, skewed, warm

TOLERANCE = 3e-6  # of the largest value, some 50 roundings


def local(chart, **more):
    """A cavity whose compressibility follows its velocity."""
    flow = model(chart, **more)
    return replace(flow, method=replace(flow.method, local=True))


@pytest.mark.parametrize(
    ("made", "begun", "warmth"),
    [(open_box, REST, ()), pytest.param(local, REST, (), marks=SLOW), pytest.param(warm, BEGUN, ("T",), marks=SLOW)],
    ids=["open", "local", "warm"],
)
def test_sweeps_and_products_are_those_in_double_precision(made, begun, warmth):
    chart = box((9, 8, 7))
    flow, random, out = made(chart, double=True), np.random.default_rng(1), {}
    new, z = ((*names, *(f"{name}_{age}" for name in warmth)) for names, age in ((AFTER, "new"), (BEFORE, "z")))
    assert flow.mixed_precision
    values = {name: random.uniform(-1, 1, chart.box.shape[::-1]).astype("f4") for name in (*new, *z)}

    def after(shard):
        def both(program, given, made):
            for suffix in ("", SINGLE):
                shard.write({name + suffix: values[name] for name in given})
            shard.run(owned("implicit", program))
            shard.run(owned("implicit", lambda f: program(flow.single(f))))
            out[program.__name__] = [[shard.read(name + suffix) for name in made] for suffix in ("", SINGLE)]

        def prepared(f):
            yield flow.paced((f.u, f.v, f.w), f)
            yield from flow.matrix(f)
            yield from flow.prepared(f)

        shard.run(owned("implicit", prepared))
        both(flow.product, z, new)
        both(flow.precondition, new, z)

    march(flow, chart, begun, steps=3, every=1, multiple=TILES, job_after=after)
    for double, single in out.values():
        assert {a.dtype.str[1:] for a in single} == {"f4"}
        for a, b in zip(double, single, strict=True):
            np.testing.assert_allclose(b, a, rtol=0, atol=TOLERANCE * abs(a).max())
            assert (a != b).any()


@pytest.mark.fast("chart0-*")
@pytest.mark.parametrize(
    ("chart", "made", "begun", "blocks"),
    [
        (skewed((18, 19, 1)), model, REST, (1, 2, 1)),
        pytest.param(box((18, 10, 11)), open_box, REST, (2, 2, 2), marks=SLOW),
        pytest.param(box((12, 18, 9)), warm, BEGUN, (1, 3, 1), marks=SLOW),
    ],
)
def test_blocks_change_no_bit_and_iterations_are_those_in_double_precision(chart, made, begun, blocks):
    rounded, about = made(chart, double=True, solver=Gmres(tolerance=1e-3)), {"steps": 5, "multiple": TILES, "every": 1}
    one, other = march(rounded, chart, begun, **about), march(rounded, chart, begun, blocks=blocks, threads=2, **about)
    assert bits(one) == bits(other)
    double = march(replace(rounded, double=False), chart, begun, **about)
    taken = [flow.scalars["implicit.taken"] for flow in (one, double)]
    assert min(taken) > 10
    assert abs(taken[0] - taken[1]) <= 9
    for name in "puvw":
        np.testing.assert_allclose(one[name], double[name], rtol=0, atol=1e-4)
    assert (one["u"] != double["u"]).any()


def test_checkpoints_hold_nothing_of_them():
    setup = RunSetup(ImplicitFlow("cavity", "gmres").of((16, 8, 8), "double"), (1, 1, 1), device="cpu")
    assert "p_z_single" in setup.partition.fields
    assert set(setup.carried) == set("puvw")
