"""div(b grad p) - screen p: p = 0 on faces of bodies inside the domain."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import spsolve

from taskflow.common.errors import BadInput
from taskflow.flow.poisson import ConjugateGradients, ConvergedJacobi, Multigrid, Operator
from taskflow.flow.poisson.multigrid import Cycle, RedBlack, WeightedJacobi
from taskflow.runtime.machine import Mapper
from taskflow.runtime.proof import Hardware, prove
from tests.flow.coefficients import between, operator
from tests.flow.poisson import WALLS, Domain, on, solve, tolerance
from tests.runtime.machine.devices import one_gpu

MIXED = (("wall", "wall"), ("periodic", "periodic"), ("wall", "open"))


def room(cells: tuple[int, int, int], faces=WALLS, width: int | None = None, spacing=(1.0, 1.0, 1.0)):
    """A domain with a body, of whose high x face this many cells, or all, have p = 0: b and the screen."""
    domain = Domain(cells, spacing, faces)
    solid = np.zeros(cells[::-1], bool)
    lo, hi = [n // 4 for n in cells], [-(-n // 2) for n in cells]
    solid[lo[2] : hi[2], lo[1] : hi[1], lo[0] : hi[0]] = True
    screen = np.zeros(solid.shape)
    last = [hi[n] if width is None else lo[n] + width for n in range(3)]
    screen[lo[2] : last[2], lo[1] : last[1], hi[0]] = 2 / spacing[0] ** 2
    return domain, between(solid, faces), screen, solid


def screened(domain: Domain) -> Operator:
    return Operator(domain.grid, domain.outflow, variable=True, screened=True)


def solvers(domain: Domain, relative: float = 1e-10):
    some, few = tolerance(relative, 60), {"gathered": 64}
    yield "multigrid", Multigrid(Cycle(screened(domain), before=2, after=2, **few), some)
    yield "jacobi smoother", ConjugateGradients(Cycle(screened(domain), WeightedJacobi(), **few), some)
    yield "cg", ConjugateGradients(Cycle(screened(domain), RedBlack(), **few), some)
    yield "diagonal", ConjugateGradients.by_diagonal(screened(domain), tolerance(relative, 400))
    yield "jacobi", ConvergedJacobi(screened(domain), tolerance(1e-6, 8000))


@pytest.mark.parametrize("name", ["multigrid", "jacobi smoother", "cg", "diagonal", "jacobi"])
@pytest.mark.parametrize(("cells", "faces"), [((8, 8, 8), WALLS), ((9, 7, 10), MIXED)])
def test_the_solution_is_that_of_the_matrix(name, cells, faces):
    domain, b, screen, solid = room(cells, faces)
    rhs = np.random.default_rng(1).uniform(-1, 1, solid.shape)
    rhs[solid] = 0
    found = solve(domain, dict(solvers(domain))[name], rhs, b=b, screen=screen).p
    matrix = operator(b, domain.spacing, faces) - sparse.diags(screen.ravel())
    fluid = np.flatnonzero(~solid.ravel())
    expected = spsolve(matrix.tocsc()[fluid][:, fluid], rhs.ravel()[fluid])
    near = 1e-4 if name == "jacobi" else 1e-7
    np.testing.assert_allclose(found.ravel()[fluid], expected, atol=near * abs(expected).max())
    assert abs(expected.mean()) > 1e-3, "the mean is determined"


@pytest.mark.parametrize("width", [1, 2, 4, None])
@pytest.mark.parametrize("spacing", [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (1.0, 2.0, 1.0)])
def test_few_iterations_whatever_the_size_of_the_opening(width, spacing):
    domain, b, screen, _ = room((32, 24, 16), width=width, spacing=spacing)
    solver = ConjugateGradients(Cycle(screened(domain)), tolerance(1e-6))
    rhs = np.random.default_rng(2).uniform(-1, 1, screen.shape)
    assert solver.taken(solve(domain, solver, rhs, b=b, screen=screen).scalars) <= 9


@pytest.mark.parametrize("options", [{"gathered": 64}, {"gathered": 64, "redundant": 1 << 21}, {"single": True}])
@pytest.mark.parametrize("cells", [(16, 16, 16), (18, 13, 10)])
def test_bits_do_not_depend_on_blocks(options, cells):
    domain, b, screen, solid = room(cells, MIXED)
    rhs = np.random.default_rng(3).uniform(-1, 1, solid.shape)
    found = []
    for blocks in ((1, 1, 1), (2, 2, 1), (3, 1, 2)):
        solver = Multigrid(Cycle(screened(domain), blocks=blocks, **options), tolerance(0, 3))
        found.append(solve(domain, solver, rhs, b=b, screen=screen, blocks=blocks).p)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    assert abs(found[0]).max() > 0


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize("cells", [(40, 12, 10), (17, 9, 6)])
def test_a_gpu_changes_no_bit(cells, real):
    domain, b, screen, solid = room(cells, MIXED)
    rhs = np.random.default_rng(4).uniform(-1, 1, solid.shape)
    given = {"b": b, "screen": screen, "real": real}
    for smoother in (RedBlack(), WeightedJacobi()):
        solver = Multigrid(Cycle(screened(domain), smoother, gathered=64), tolerance(0, 2))
        host, device = (solve(domain, solver, rhs, device=on, **given) for on in (None, one_gpu()))
        np.testing.assert_array_equal(device.p, host.p)
    solver = ConjugateGradients(Cycle(screened(domain)), tolerance(1e-4))
    found = solve(domain, solver, rhs, device=one_gpu(), **given)
    assert solver.taken(found.scalars) <= 9


def test_the_launches_are_proven():
    domain = Domain((4, 3, 4), faces=MIXED)
    solver = ConjugateGradients(Cycle(screened(domain), gathered=10), tolerance())
    proof = prove(on(domain, solver, (1, 1, 2), "f8"), {solver.prepare: ()}, Mapper("full"), Hardware(True, (0, 0)))
    assert proof.templates > 0
    assert not proof.faults


def test_a_screen_has_coefficients():
    with pytest.raises(BadInput, match="operator: a screen is for variable coefficients; give variable = True"):
        Operator(Domain((4, 4, 4)).grid, screened=True)
