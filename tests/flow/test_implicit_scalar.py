"""The matrix of a scalar that the flow carries, and its factors: what differences and dense factors say they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.models.artificial_compressibility.implicit.correction import Correction
from taskflow.flow.models.artificial_compressibility.implicit.gmres import Gmres
from taskflow.flow.models.artificial_compressibility.implicit.scalar import CARRY, scalar_matrix, value_left
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.runtime.tasks import owned
from tests.flow.charts import march
from tests.flow.test_artificial_compressibility import faces_that_move, geometry, hand, numbers, paced
from tests.flow.test_implicit_factor import CELLS, TILE, order_of
from tests.flow.test_implicit_march import BEGUN, TILES, bits, box, skewed, warm
from tests.reference import artificial_compressibility as reference
from tests.reference.artificial_compressibility import LAYERS, Discretisation
from tests.reference.implicit_compressibility import Blocks, cells_of, factorised, scalar_first_order, solved

SLOW = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.mark.slow
@pytest.mark.parametrize(("uniform", "planar"), [(False, False), (True, True)])
def test_the_matrix_of_a_scalar_is_that_of_its_residual_of_first_order(uniform, planar, device):
    """Beside sides of all kinds, ghost values of which follow from those inside; on faces that move."""
    made = hand("f8", device, uniform=uniform)
    swept = faces_that_move(made)
    z, y, _, x = made.fields["metrics"].shape
    made.fields["carry"], made.fields["factor"] = np.zeros((z, y, CARRY, x)), np.ones((z, y, x))
    made.fill(("pivot", "zero", "out"), seed=9).fields["zero"][...] = 0.0
    T = made.fields["T"]
    for axis in range(3):
        for end in (0, 1):
            ghost, inner = [slice(LAYERS, -LAYERS)] * 3, [slice(LAYERS, -LAYERS)] * 3
            ghost[axis] = slice(-LAYERS, -LAYERS + 1) if end else slice(LAYERS - 1, LAYERS)
            inner[axis] = slice(-LAYERS - 1, -LAYERS) if end else slice(LAYERS, LAYERS + 1)
            far = made.fields["sides"][tuple(ghost)] == reference.FAR
            factor = np.where(far, 0.0, (-1.0, 0.4)[end])
            made.fields["factor"][tuple(ghost)], T[tuple(ghost)] = factor, factor * T[tuple(inner)]
    place = None if uniform else "metrics", "swept", None, None
    how = {"over": made.box, "rate": None, "numbers": numbers("third", uniform=uniform, planar=planar)}
    pseudo = paced(made, *place, numbers=how["numbers"])
    made.run(
        scalar_matrix(("u", "v", "w"), "factor", "carry", "pivot", pseudo, "sides", *place, **how),
        value_left("carry", "zero", "T", "out", over=made.box),
    )  # fmt: skip
    areas, volumes = geometry(made)
    scheme = Discretisation(0.03, 1.3, diffusivity=0.02, planar=planar)
    q = {name: made.fields[name] for name in "uvwT"}
    velocity, b = np.stack([q[n] for n in "uvw"]), np.full_like(volumes, 1.3)
    pace = 0.3 / reference.step_per_volume(velocity, areas, volumes, b, 0.03, scheme, swept)
    leaving = scalar_first_order(q, made.fields["sides"], areas, volumes, scheme, swept)
    made.assert_agrees("out", -(leaving + pace * made.values("T")))


@pytest.mark.parametrize("ordering", [pytest.param("tiles", marks=SLOW), pytest.param("hyperplanes", marks=SLOW)])
def test_the_factors_of_a_scalar_are_those_of_a_dense_ilu(ordering):
    chart = box(CELLS)
    flow = warm(chart, ordering=ordering, precision="double", tile=TILE)
    v, out = np.random.default_rng(2).uniform(-1, 1, CELLS[::-1]), {}

    def factors(f):
        yield impose(f.T_z, over=flow.cells, value=Value(1.0))
        yield from flow.changing_ghosts(f)
        yield from flow.scalar_factors((f.u, f.v, f.w), f, replace(flow.numbers, diffusivity=0.03))

    def after(shard):
        shard.run(owned("implicit", factors))
        out["carry"] = shard.read("carry")
        shard.write({"T_new": v})
        shard.run(owned("implicit", lambda f: flow.scalar_solves(f.T_new, f.T_z, f)))
        out["z"] = shard.read("T_z")

    march(flow, chart, BEGUN, steps=3, every=1, multiple=TILE, job_after=after)
    blocks: Blocks = {}
    for i, j, k in cells_of(CELLS[::-1]):
        values = out["carry"][k, j, :, i]
        blocks[(i, j, k), (i, j, k)] = values[6:].reshape(1, 1)
        for side in range(6):
            present = [i, j, k]
            present[side // 2] += 1 if side % 2 else -1
            if 0 <= present[side // 2] < CELLS[side // 2]:
                blocks[(i, j, k), tuple(present)] = values[side].reshape(1, 1)
    order = order_of(ordering)
    expected = solved(factorised(blocks, order), order, {(i, j, k): v[k, j, i : i + 1] for i, j, k in order})
    largest = max(abs(value[0]) for value in expected.values())
    assert max(abs(out["z"][k, j, i] - z[0]) for (i, j, k), z in expected.items()) < 1e-13 * largest


@pytest.mark.parametrize(
    ("chart", "blocks", "threads"),
    [
        pytest.param(skewed((18, 19, 1)), (2, 2, 1), 2, marks=SLOW),
        pytest.param(box((12, 18, 9)), (1, 3, 1), 1, marks=SLOW),
        pytest.param(box((10, 9, 18)), (1, 1, 2), 1, marks=SLOW),
    ],
)
@pytest.mark.parametrize("coupled", [False, True])
def test_blocks_and_threads_change_no_bit_of_heat_and_scalars(chart, blocks, threads, coupled):
    flow, about = warm(chart, coupled=coupled), {"steps": 4, "multiple": TILES, "every": 1}
    one = march(flow, chart, BEGUN, **about)
    other = march(flow, chart, BEGUN, blocks=blocks, threads=threads, **about)
    assert bits(other) == bits(one)
    for name in ("T", "dye"):
        np.testing.assert_array_equal(other[name], one[name])


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("solver", [pytest.param(Gmres(), marks=SLOW), pytest.param(Correction(), marks=SLOW)])
def test_the_steady_state_with_heat_and_scalars_is_that_of_explicit_marching(solver, coupled):
    chart = skewed((10, 9, 1))
    one = march(warm(chart, solver=solver, coupled=coupled), chart, BEGUN, steps=400, steady=1e-9, every=1)
    other = march(warm(chart, ArtificialCompressibility), chart, BEGUN, steps=20000, steady=1e-11, every=50)
    assert one.steps < (40 if isinstance(solver, Gmres) else 80)
    for name in ("u", "v", "w", "T", "dye"):
        np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-6, err_msg=name)
