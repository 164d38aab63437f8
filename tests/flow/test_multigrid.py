"""A cycle of multigrid does what NumPy makes of its definition, with the same bits on any blocks, and converges."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.flow.poisson import NotConverged, Operator
from taskflow.flow.poisson.multigrid import Cycle, Multigrid, RedBlack, WeightedJacobi
from tests.flow.poisson import PERIODIC, WALLS, Domain, factor, on_blocks, one_cycle, solve, tolerance
from tests.reference.multigrid import MultigridReference, laplacian
from tests.runtime.machine.devices import one_gpu

MIXED = (("wall", "open"), ("periodic", "periodic"), ("open", "wall"))
DOMAINS = [
    Domain((8, 8, 8)),
    Domain((17, 12, 15)),
    Domain((10, 11, 12), faces=MIXED),
    Domain((9, 8, 7), faces=PERIODIC),
    Domain((16, 8, 8), spacing=(1.0, 1.0, 4.0)),
    Domain((12, 1, 9), faces=(("wall", "wall"), ("periodic", "periodic"), ("wall", "wall"))),
    Domain((1, 2, 3), faces=(("open", "open"), ("wall", "wall"), ("wall", "open"))),
    Domain((1, 1, 1), faces=(("open", "wall"), ("wall", "wall"), ("periodic", "periodic"))),
]
PAIRS = [("wall", "wall"), ("periodic", "periodic"), ("open", "open"), ("wall", "open")]
MIXES = list(combinations_with_replacement(PAIRS, 3))
GAUSS_SEIDEL = {"smoother": RedBlack(1.0), "before": 2, "after": 2}


def reference(domain: Domain, cycle: Cycle) -> MultigridReference:
    levels = [(level.mesh.cells, level.mesh.spacing) for level in cycle.levels]
    smoother = cycle.smoother
    colours, symmetric = isinstance(smoother, RedBlack), getattr(smoother, "symmetric", False)
    weights = [smoother.on(level.mesh) if colours else smoother.weight for level in cycle.levels]
    return MultigridReference(levels, domain.faces, weights, cycle.before, cycle.after, colours, symmetric)


def cycled(domain: Domain, cycle: Cycle, rhs: np.ndarray, **where) -> np.ndarray:
    return on_blocks(domain, cycle, lambda shard: shard.run(one_cycle(cycle)), rhs, **where).p


@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"smoother": RedBlack(1.0, symmetric=True), "before": 2, "after": 2},
        {"smoother": WeightedJacobi(), "before": 3},
    ],
    ids=["red-black", "symmetric", "jacobi"],
)
@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: "x".join(map(str, domain.cells)))
@pytest.mark.fast("*-f8", "10x11x12-*-f4")
def test_a_cycle_is_that_of_the_reference(domain, options, real):
    cycle, rhs = domain.cycle(**options), domain.noise().astype(real)
    expected = reference(domain, cycle).cycle(rhs.astype("f8"))
    result = cycled(domain, cycle, rhs, real=real)
    scale = abs(expected).max() + 1e-300
    np.testing.assert_allclose(result / scale, expected / scale, rtol=0, atol=300 * np.finfo(real).eps)


@pytest.mark.parametrize("domain", DOMAINS[:5], ids=lambda domain: "x".join(map(str, domain.cells)))
def test_the_residual_of_an_iterate_is_that_of_the_reference(domain):
    cycle, rhs, p = domain.cycle(), domain.noise(), domain.noise(1)
    result = on_blocks(domain, cycle, lambda shard: shard.run(one_cycle(cycle)), rhs, p=p)
    left = rhs - laplacian(p, domain.spacing, domain.faces)
    assert result.scalars["old"] == pytest.approx((left**2).sum())
    assert result.scalars["norm"] == pytest.approx((rhs**2).sum())
    np.testing.assert_allclose(result.p, p + reference(domain, cycle).cycle(left), rtol=0, atol=1e-10)
    left = rhs - laplacian(result.p, domain.spacing, domain.faces)
    assert result.scalars["residual"] == pytest.approx((left**2).sum())


@pytest.mark.parametrize(
    "blocks",
    [(1, 1, 2), *(pytest.param(blocks, marks=pytest.mark.slow) for blocks in [(1, 1, 3), (2, 1, 1), (2, 2, 2)])],
)
@pytest.mark.parametrize(
    ("domain", "options"),
    [
        (Domain((16, 16, 16)), {"gathered": 64}),
        (Domain((17, 12, 15)), {"gathered": 64}),
        (Domain((18, 19, 21), faces=(PAIRS[1], PAIRS[1], PAIRS[0])), {"gathered": 64}),
        (
            Domain((21, 13, 11), faces=PERIODIC),
            {"gathered": 0, "shape": "F", "smoother": WeightedJacobi(), "before": 2},
        ),
        (Domain((12, 12, 24), faces=MIXED), {"gathered": 100, "shape": "W"}),
        (Domain((16, 8, 8), spacing=(1.0, 1.0, 4.0)), {"gathered": 64}),
        (Domain((12, 11, 13)), {}),
        (Domain((15, 14, 12), faces=PERIODIC), {"gathered": 0, "depth": 3}),
    ],
    ids=["even", "odd", "seam", "jacobi-F", "mixed-W", "flat", "whole", "truncated"],
)
def test_blocks_change_no_bit(domain, options, blocks):
    cycle, rhs = domain.cycle(**options), domain.noise()
    alone, cut = cycled(domain, cycle, rhs), cycled(domain, cycle, rhs, blocks=blocks, debug=True)
    assert abs(alone).max() > 0
    np.testing.assert_array_equal(cut, alone)


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: "x".join(map(str, domain.cells)))
def test_a_gpu_changes_no_bit(domain, real, blocks):
    if domain.cells[2] < blocks[2]:
        pytest.skip("fewer cells than blocks")
    cycle, rhs = domain.cycle(gathered=64), domain.noise()
    host, device = (
        cycled(domain, cycle, rhs, real=real),
        cycled(domain, cycle, rhs, real=real, blocks=blocks, device=one_gpu()),
    )
    np.testing.assert_array_equal(device, host)


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("smoother", [RedBlack(), WeightedJacobi()], ids=["red-black", "jacobi"])
@pytest.mark.parametrize("faces", [WALLS, PERIODIC, MIXED], ids=["walls", "periodic", "mixed"])
@pytest.mark.parametrize("real", ["f4", "f8"])
def test_warps_away_from_faces_change_no_bit(real, faces, smoother):
    """They have a loop of their own: in wide domains, and between periodic faces."""
    domain = Domain((150, 18, 34), faces=faces)
    cycle, rhs = domain.cycle(gathered=64, smoother=smoother, before=2), domain.noise()
    host = cycled(domain, cycle, rhs, real=real)
    for blocks in ((1, 1, 1), (2, 1, 1)):
        device = cycled(domain, cycle, rhs, real=real, blocks=blocks, device=one_gpu())
        np.testing.assert_array_equal(device, host)


def test_where_levels_live_changes_no_bit():
    domain = Domain((20, 18, 16))
    rhs = domain.noise()
    here, present = (cycled(domain, domain.cycle(gathered=n), rhs, blocks=(1, 2, 2)) for n in (0, 1000))
    np.testing.assert_array_equal(here, present)


def test_levels_keep_cells_as_cubic_as_they_can():
    flat = Domain((32, 32, 8), spacing=(1.0, 1.0, 4.0)).cycle()
    assert [level.mesh.cells for level in flat.levels][:4] == [(32, 32, 8), (16, 16, 8), (8, 8, 8), (4, 4, 4)]
    assert [level.scale for level in flat.levels][:4] == [(1, 1, 1), (2, 2, 1), (4, 4, 1), (8, 8, 2)]
    odd = Domain((33, 17, 31)).cycle()
    for level in odd.levels:
        lengths = [n * h for n, h in zip(level.mesh.cells, level.mesh.spacing, strict=True)]
        assert lengths == pytest.approx([33, 17, 31])
    assert odd.levels[-1].mesh.cells == (1, 1, 1)


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 0.12),
        (GAUSS_SEIDEL, 0.12),
        (GAUSS_SEIDEL | {"smoother": RedBlack(1.0, symmetric=True)}, 0.18),
        ({"smoother": WeightedJacobi(), "before": 2, "after": 2}, 0.28),
        ({"smoother": WeightedJacobi(), "before": 4, "after": 4}, 0.15),
        ({"shape": "W"}, 0.12),
        ({"shape": "F"}, 0.12),
    ],
    ids=["default", "V22", "symmetric", "jacobi-V22", "jacobi-V44", "W", "F"],
)
@pytest.mark.parametrize("cells", [(32, 32, 32), (48, 12, 12)])
def test_convergence_between_walls(cells, options, most):
    domain = Domain(cells)
    assert factor(domain, domain.cycle(**options)) <= most


@pytest.mark.parametrize("faces", MIXES, ids=lambda faces: "-".join(low[0] + high[0] for low, high in faces))
def test_convergence_between_faces_of_any_kind(faces):
    domain = Domain((24, 24, 24), faces=faces)
    assert factor(domain, domain.cycle(**GAUSS_SEIDEL)) <= 0.12
    assert factor(domain, domain.cycle()) <= 0.15


@pytest.mark.parametrize("cells", [(33, 33, 33), (31, 31, 31), (37, 29, 23)])
def test_convergence_for_odd_and_prime_numbers_of_cells(cells):
    walls, periodic = Domain(cells), Domain(cells, faces=PERIODIC)
    assert factor(walls, walls.cycle(**GAUSS_SEIDEL)) <= 0.15
    assert factor(walls, walls.cycle()) <= 0.15
    assert factor(periodic, periodic.cycle(**GAUSS_SEIDEL)) <= 0.25


@pytest.mark.parametrize("spacing", [(1, 1, 4), (4, 1, 1), (1, 4, 4), (1, 2, 4)])
def test_convergence_for_flat_cells(spacing):
    domain = Domain((32, 32, 32), spacing=spacing)
    assert factor(domain, domain.cycle(**GAUSS_SEIDEL)) <= 0.15
    assert factor(domain, domain.cycle()) <= 0.15


@pytest.mark.slow
@pytest.mark.parametrize("n", [63, 64, 65, 127, 128, 255, 256, 257])
def test_convergence_does_not_depend_on_the_number_of_cells(n):
    domain = Domain((n, n, n))
    assert factor(domain, domain.cycle(**GAUSS_SEIDEL)) <= (0.15 if n % 2 else 0.12)
    assert factor(domain, domain.cycle()) <= 0.15


@pytest.mark.parametrize("faces", [WALLS, PERIODIC, MIXED])
def test_a_solution_is_as_good_as_its_tolerance_says(faces):
    domain = Domain((24, 20, 22), faces=faces)
    rhs = domain.noise()
    result = solve(domain, Multigrid(domain.cycle(), tolerance(1e-9)), rhs, blocks=(1, 2, 1))
    left = rhs - laplacian(result.p, domain.spacing, domain.faces)
    assert np.linalg.norm(left) <= 1.001e-9 * np.linalg.norm(rhs)
    assert result.scalars["residual"] == pytest.approx((left**2).sum(), rel=1e-3)
    assert 7 <= result.scalars["rounds"] <= 11


def test_a_good_guess_takes_fewer_cycles():
    domain = Domain((24, 24, 24))
    solver, rhs = Multigrid(domain.cycle(), tolerance(1e-6)), domain.noise()
    cold = solve(domain, solver, rhs)
    warm = solve(domain, solver, 1.001 * rhs, p=cold.p)
    assert warm.scalars["rounds"] < cold.scalars["rounds"] - 1


def test_what_does_not_converge_says_so():
    domain = Domain((16, 16, 16))
    with pytest.raises(NotConverged, match="3 iterations did not reduce the relative residual to 1e-09"):
        solve(domain, Multigrid(domain.cycle(), tolerance(1e-9, most=3)), domain.noise())


def test_nothing_to_solve_for_leaves_the_guess():
    domain = Domain((8, 8, 8))
    result = solve(domain, Multigrid(domain.cycle(), tolerance()), np.zeros((8, 8, 8)))
    np.testing.assert_array_equal(result.p, 0)


@pytest.mark.parametrize("options", [{"before": 0}, {"after": -1}, {"depth": 0}, {"coarsest": 0}])
def test_impossible_numbers_are_refused(options):
    [(name, value)] = options.items()
    with pytest.raises(BadInput, match=f"multigrid: {name} = {value}; give"):
        Domain((8, 8, 8)).cycle(**options)


def test_outflow_is_not_periodic():
    with pytest.raises(BadInput, match="multigrid: dirichlet = y_max is a face of a periodic direction"):
        _ = Cycle(Operator(Domain((8, 8, 8), faces=MIXED).grid, ("y_max",))).levels
