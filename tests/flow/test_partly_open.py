"""Sides on which p = 0 in part alone: coarse levels know how much passes a small opening, so that cycles converge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskflow.flow.poisson import ConjugateGradients, Cycle, Multigrid
from taskflow.flow.poisson.multigrid import WeightedJacobi
from taskflow.runtime.machine import Mapper
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.proof import Hardware, prove
from tests.flow.coefficients import on_faces, operator
from tests.flow.poisson import Domain, on, on_blocks, solve, tolerance

OPEN = (("wall", "open"), ("wall", "wall"), ("wall", "wall"))
BOTH = (("wall", "open"), ("open", "wall"), ("periodic", "periodic"))


def cube(n: int, faces=OPEN) -> Domain:
    """A unit cube of n cells along x, and about as many along y and z."""
    cells = (n, n + 1, n - 2)
    return Domain(cells, tuple(1 / m for m in cells), faces)


def opened(domain: Domain, *share: float, inside=lambda x, y, z: 1.0) -> list[np.ndarray]:
    """b, which is 0 on the last faces across x but those up to a share of the length along y and z."""
    b = on_faces(inside, domain.cells, domain.faces)
    _, ny, nz = domain.cells
    for n, (faces, part) in enumerate(zip((b[0][:, :, -1], b[1][:, 0, :]), share, strict=False)):
        rows, columns = round(part * nz), round(part * (ny, domain.cells[0])[n])
        kept = faces[:rows, :columns].copy()
        faces[:] = 0
        faces[:rows, :columns] = kept
    return b


def cycle(domain: Domain, **options) -> Cycle:
    return Cycle(replace(domain.operator(variable=True), openings=domain.outflow), **options)


@pytest.mark.parametrize("n", [16, 17, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("options", [{}, {"smoother": WeightedJacobi(), "before": 2, "after": 2}])
def test_few_iterations_whatever_the_size_of_the_opening(share, n, options):
    """The mean of b alone takes 11 to 13 iterations with a quarter of the side, and stagnates with less."""
    domain = cube(n)
    b, rhs = opened(domain, share), domain.noise()
    solver = ConjugateGradients(cycle(domain, **options), tolerance(1e-6))
    result = solve(domain, solver, rhs, b=b)
    assert solver.taken(result.scalars) <= 9
    residual = rhs.ravel() - operator(b, domain.spacing, domain.faces) @ result.p.ravel()
    assert np.linalg.norm(residual) <= 1.01e-6 * np.linalg.norm(rhs)


@pytest.mark.parametrize("share", [(0.1, 0.4), pytest.param((0.3, 0.1), marks=pytest.mark.slow)])
def test_two_sides_and_layers_of_densities(share):
    domain = cube(20, BOTH)
    b, rhs = opened(domain, *share, inside=lambda x, y, z: np.where(y < 0.43, 1e-3, 1.0)), domain.noise()
    solver = ConjugateGradients(cycle(domain), tolerance(1e-6))
    assert solver.taken(solve(domain, solver, rhs, b=b).scalars) <= 16


@pytest.mark.parametrize("blocks", [(2, 2, 1), (1, 1, 3)])
def test_bits_do_not_depend_on_blocks(blocks):
    domain = cube(24, BOTH)
    b, rhs = opened(domain, 0.3, 0.2), domain.noise()
    solver = Multigrid(cycle(domain, gathered=64, depth=4), tolerance(0, 3))
    one, many = solve(domain, solver, rhs, b=b), solve(domain, solver, rhs, b=b, blocks=blocks)
    np.testing.assert_array_equal(many.p, one.p)


@pytest.mark.parametrize("n", [8, 9])
def test_the_coefficient_of_a_coarse_face_is_in_series_with_the_fluid_inside(n):
    """1/b = share / mean + (1 - share) / inner over the first coarse faces, in units of half a coarse cell."""
    domain = Domain((n, 8, 4), (1 / n, 1 / 8, 1 / 4), OPEN)
    b = opened(domain, 0.5, inside=lambda x, y, z: 1 + x + y * z)
    solver = Multigrid(cycle(domain, gathered=1), tolerance(0, 1))

    def job(shard: Shard) -> np.ndarray:
        shard.run(solver.prepare)
        level = solver.cycle.levels[1]
        side = level.mesh.box.expand((0, 0, 0), (1, 0, 0)).layer(0, 1, 0, 1)
        return shard.read(level.faces[0], side)[:, :, 0]

    coarse = on_blocks(domain, solver, job, domain.noise(), b=b).told[0]
    shape, share = solver.cycle.levels[1].mesh.cells, solver.cycle.levels[1].mesh.cells[0] / n

    def mean(faces: np.ndarray) -> np.ndarray:
        z, y = (faces.shape[a] // shape[2 - a] for a in range(2))
        return faces.reshape(shape[2], z, shape[1], y).mean(axis=(1, 3))

    opened_part, inner = mean(b[0][:, :, -1]), mean(b[0][:, :, -2])
    expected = opened_part * inner / (share * inner + (1 - share) * opened_part)
    np.testing.assert_allclose(coarse, expected, rtol=1e-14)
    assert (coarse == 0).any()


def test_the_launches_are_proven():
    domain = Domain((4, 3, 4), faces=BOTH)
    solver = ConjugateGradients(cycle(domain, gathered=10), tolerance())
    proof = prove(on(domain, solver, (1, 1, 2), "f8"), {solver.prepare: ()}, Mapper("full"), Hardware(True, (0, 0)))
    assert proof.templates > 0
