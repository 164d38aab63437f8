"""Conjugate gradients with the diagonal as preconditioner, and a coefficient that is the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.poisson import FFT, ConjugateGradients, NotConverged, UniformCoefficient
from taskflow.runtime.machine import Mapper
from taskflow.runtime.machine.device import gpu
from taskflow.runtime.proof import Hardware, prove
from tests.flow.coefficients import on_faces, operator
from tests.flow.poisson import PERIODIC, WALLS, Domain, on, solve, tolerance
from tests.flow.test_multigrid import MIXED

DEVICES = [None, pytest.param("gpu", marks=pytest.mark.gpu)]


def drop(x, y, z):
    """1/rho of a drop 1000 times as dense."""
    return np.where((x - 0.4) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2 < 0.09, 1e-3, 1.0)


def jumping(faces, n=14):
    domain = Domain((n, n, n), (1 / n,) * 3, faces)
    return domain, on_faces(drop, domain.cells, faces)


def by_hand(matrix, rhs, relative):
    """Jacobi-preconditioned conjugate gradients as they are in books."""
    x, r, inverse, rounds = np.zeros(rhs.size), rhs.ravel().copy(), 1 / matrix.diagonal(), 0
    z = inverse * r
    d = z.copy()
    while np.linalg.norm(r) > relative * np.linalg.norm(rhs):
        along = matrix @ d
        step = (r @ z) / (d @ along)
        x, after, rounds = x + step * d, r - step * along, rounds + 1
        new = inverse * after
        d, r, z = new + (after @ new) / (r @ z) * d, after, new
    return x.reshape(rhs.shape), rounds


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("faces", [WALLS, PERIODIC, MIXED])
def test_it_is_the_method_of_books_in_as_many_iterations(faces, device):
    domain, b = jumping(faces)
    matrix, rhs = operator(b, domain.spacing, faces), domain.noise()
    expected, rounds = by_hand(matrix, rhs, 1e-8)
    solver = ConjugateGradients.by_diagonal(domain.operator(variable=True), tolerance(1e-8, 400))
    result = solve(domain, solver, rhs, b=b, **({"device": gpu()} if device else {}))
    assert abs(solver.taken(result.scalars) - rounds) <= 2
    assert np.linalg.norm(rhs.ravel() - matrix @ result.p.ravel()) <= 1.001e-8 * np.linalg.norm(rhs)
    if domain.outflow:  # else there is a constant
        np.testing.assert_allclose(result.p, expected, rtol=0, atol=1e-6 * abs(expected).max())


@pytest.mark.parametrize("faces", [WALLS, MIXED])
def test_it_finds_what_multigrid_finds_on_any_blocks(faces):
    domain, b = jumping(faces, 12)
    rhs, known = domain.noise(), domain.operator(variable=True)
    solver = ConjugateGradients.by_diagonal(known, tolerance(1e-10, 400))
    other = solve(domain, ConjugateGradients(domain.cycle(variable=True), tolerance(1e-10)), rhs, b=b).p
    alone = solve(domain, solver, rhs, b=b)
    cut = solve(domain, solver, rhs, b=b, blocks=(2, 1, 2), debug=True, overlap="full")
    for p in (alone.p, cut.p):
        np.testing.assert_allclose(p - p.mean(), other - other.mean(), rtol=0, atol=1e-7 * abs(other).max())
    assert abs(solver.taken(cut.scalars) - solver.taken(alone.scalars)) <= 1


def test_one_fluid_has_it_too():
    domain = Domain((9, 8, 7))
    solver = ConjugateGradients.by_diagonal(domain.operator(), tolerance(1e-9, 200))
    rhs = domain.noise()
    result = solve(domain, solver, rhs, blocks=(1, 1, 2))
    multigrid = solve(domain, ConjugateGradients(domain.cycle(), tolerance(1e-9)), rhs).p
    np.testing.assert_allclose(result.p - result.p.mean(), multigrid - multigrid.mean(), rtol=0, atol=1e-6)
    with pytest.raises(NotConverged, match="3 iterations did not reduce"):
        solve(domain, ConjugateGradients.by_diagonal(domain.operator(), tolerance(1e-9, 3)), rhs)


def test_its_iterations_are_proved():
    domain = Domain((4, 3, 4), faces=MIXED)
    solver = ConjugateGradients.by_diagonal(domain.operator(variable=True), tolerance())
    proof = prove(on(domain, solver, (1, 1, 2), "f8"), {solver.prepare: (), solver.solve: ("cells",)},
                  Mapper("full"), Hardware(True, (0, 0)))  # fmt: skip
    assert proof.templates > 0
    assert not proof.faults


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("real", "least"), [("f8", 1e-13), ("f4", 1e-5)])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 2, 2)])
def test_a_coefficient_that_is_the_same_everywhere(blocks, real, least, device):
    domain = Domain((8, 6, 8), (0.1, 0.2, 0.1), (PERIODIC[0], WALLS[0], WALLS[0]))
    b, rhs = on_faces(lambda x, y, z: 0.25 + 0 * x, domain.cells, domain.faces), domain.noise()
    solver = UniformCoefficient(FFT(domain.grid, blocks), domain.operator(variable=True), 4.0)
    where = {"blocks": blocks, "real": real, **({"device": gpu()} if device else {})}
    result = solve(domain, solver, rhs, b=b, **where)
    left = rhs.ravel() - operator(b, domain.spacing, domain.faces) @ result.p.ravel().astype("f8")
    assert np.linalg.norm(left) <= least * np.linalg.norm(rhs)
    plain = solve(domain, FFT(domain.grid, blocks), rhs, **where).p
    np.testing.assert_array_equal(result.p, np.array(4.0, real) * plain)
    assert solver.taken(result.scalars) == 1
