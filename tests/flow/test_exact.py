"""The last level of multigrid, solved by the inverse of its operator."""

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.flow.poisson import ConjugateGradients, Multigrid, Operator, Tolerance
from taskflow.flow.poisson.mesh import mesh
from taskflow.flow.poisson.multigrid import Cycle
from taskflow.flow.poisson.multigrid.cycle import inverse
from taskflow.runtime.machine.device import gpu
from tests.flow.poisson import PERIODIC, WALLS, Domain, solve, tolerance
from tests.flow.test_multigrid import MIXED, MIXES
from tests.flow.test_stretched import laplacian as stretched_laplacian
from tests.flow.test_stretched import staggered, volumes
from tests.reference.multigrid import laplacian


def matrix(on):
    """[cell, what it has of each cell's right-hand side]"""
    n, result = on.box.volume, inverse(on)
    return np.array(result.rows.values).reshape(n, n)


@pytest.mark.parametrize("faces", MIXES, ids=lambda faces: "-".join(low[0] + high[0] for low, high in faces))
@pytest.mark.parametrize("cells", [(4, 4, 16), (5, 3, 2), (1, 2, 7), (2, 1, 1)], ids=str)
def test_it_is_the_inverse_of_the_laplacian(cells, faces):
    domain = Domain(cells, (1.0, 0.5, 2.0), faces)
    rhs = domain.noise()
    p = (matrix(mesh(domain.grid, domain.outflow)) @ rhs.ravel()).reshape(rhs.shape)
    np.testing.assert_allclose(laplacian(p, domain.spacing, faces), rhs, rtol=0, atol=1e-11 * abs(rhs).max())
    assert domain.outflow or abs(p.mean()) < 1e-11 * abs(p).max()


@pytest.mark.parametrize("ends", [("ww", "pp", "ww"), ("ww", "ww", "0w"), ("pp", "pp", "pp")], ids=str)
def test_it_is_where_cells_are_stretched(ends):
    grid = staggered((4, 5, 7), ends, along="xz")
    outflow = [f"{axis}_min" for axis, kinds in zip("xyz", ends, strict=True) if kinds[0] == "0"]
    rhs = np.random.default_rng(1).uniform(-1, 1, (7, 5, 4))
    weight = volumes(grid)
    rhs -= 0 if outflow else (rhs * weight).sum() / weight.sum()
    p = (matrix(mesh(grid.constants, outflow)) @ rhs.ravel()).reshape(rhs.shape)
    np.testing.assert_allclose(stretched_laplacian(p, grid, ends), rhs, rtol=0, atol=1e-11)


@pytest.mark.parametrize("real", ["f8", "f4"])
def test_a_level_of_few_cells_takes_one_cycle(real):
    domain = Domain((8, 6, 5), faces=MIXED)
    rhs = domain.noise().astype(real).astype("f8")
    solver = Multigrid(domain.cycle(exact=240), tolerance(1e-12 if real == "f8" else 2e-6))
    result = solve(domain, solver, rhs, real=real)
    assert result.scalars["rounds"] == 1
    p = (matrix(mesh(domain.grid, domain.outflow)) @ rhs.ravel()).reshape(rhs.shape)
    np.testing.assert_allclose(result.p, p, rtol=0, atol=(1e-12 if real == "f8" else 1e-5) * abs(p).max())


@pytest.mark.parametrize("cells", [(9, 8, 10), (2, 1, 1)])  # of the first more terms than are summed up together
def test_of_any_size(cells):
    domain = Domain(cells, faces=MIXED)
    rhs = domain.noise()
    result = solve(domain, Multigrid(domain.cycle(exact=720), Tolerance(0.0, 1)), rhs)
    p = (matrix(mesh(domain.grid, domain.outflow)) @ rhs.ravel()).reshape(rhs.shape)
    np.testing.assert_allclose(result.p, p, rtol=0, atol=1e-13 * abs(p).max())


@pytest.mark.gpu
@pytest.mark.parametrize("real", ["f8", "f4"])
@pytest.mark.parametrize("cells", [(4, 4, 16), (5, 3, 2), (2, 1, 1), (1, 70, 3), (9, 8, 10)])
def test_a_gpu_gives_the_same_bits(cells, real):
    domain = Domain(cells, faces=MIXED)
    solver, rhs = Multigrid(domain.cycle(exact=720), Tolerance(0.0, 1)), domain.noise().astype(real).astype("f8")
    cpu, other = (solve(domain, solver, rhs, real=real, **where) for where in ({}, {"device": gpu()}))
    np.testing.assert_array_equal(other.p, cpu.p)


@pytest.mark.fast("faces2-*")
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("faces", [WALLS, PERIODIC, MIXED])
def test_blocks_and_where_levels_live_change_no_bit(faces, device):
    domain = Domain((18, 12, 21), faces=faces)
    rhs, where = domain.noise(), {"device": gpu()} if device == "gpu" else {}
    result = [
        solve(domain, Multigrid(domain.cycle(exact=60, gathered=gathered), Tolerance(0.0, 2)), rhs, blocks=blocks, **on)
        for gathered, blocks, on in [(0, (1, 1, 1), {}), (0, (1, 2, 2), where), (700, (1, 1, 3), where)]
    ]
    for other in result[1:]:
        np.testing.assert_array_equal(other.p, result[0].p)


@pytest.mark.parametrize("shape", ["V", "W", "F"])
def test_iterations_are_as_few_as_down_to_one_cell(shape):
    domain = Domain((32, 24, 16))
    taken = [
        solve(domain, ConjugateGradients(domain.cycle(exact=n, shape=shape), tolerance(1e-9)), domain.noise()).scalars
        for n in (1, 8, 256)
    ]
    assert max(item["rounds"] for item in taken) <= taken[0]["rounds"]


def test_the_first_level_of_so_few_cells_is_the_last_and_on_every_block():
    cycle = Domain((16, 16, 64)).cycle(gathered=8, exact=256)
    assert [(level.mesh.cells, level.whole) for level in cycle.levels] == [
        ((16, 16, 64), False), ((8, 8, 32), False), ((4, 4, 16), True),
    ]  # fmt: skip
    assert len(Domain((16, 16, 64)).cycle(depth=2, exact=256).levels) == 2


def test_what_has_no_inverse_is_refused():
    grid = Domain((8, 8, 8)).grid
    with pytest.raises(BadInput, match="exact = 256 is not for variable coefficients; give 1"):
        Cycle(Operator(grid, variable=True), exact=256)
    with pytest.raises(BadInput, match="exact = 0; give 1 or more"):
        Cycle(Operator(grid), exact=0)
