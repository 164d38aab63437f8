"""Coefficients on faces: solvers find what the sparse matrix says, on any blocks, in few iterations; with b = 1 they do
what they do without.
"""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.flow.poisson import ConjugateGradients, ConvergedJacobi, Cycle, Jacobi, Multigrid, Operator
from taskflow.flow.poisson.coefficients import COEFFICIENTS
from taskflow.flow.poisson.multigrid import RedBlack, WeightedJacobi
from taskflow.flow.poisson.multigrid.transfer import correct_by_coarse_variable, transfer
from taskflow.runtime.machine import Mapper
from taskflow.runtime.proof import Hardware, prove
from taskflow.runtime.regions import Box
from tests.flow.coefficients import between, boxes, on_faces, operator, parts, solvable
from tests.flow.poisson import PERIODIC, WALLS, Domain, on, on_blocks, solve, tolerance
from tests.flow.test_multigrid import MIXED
from tests.runtime.machine.devices import one_gpu

CENTRE, RADIUS, LIGHT = (0.5, 0.45, 0.52), 0.27, 1e-3
KINDS = [ConjugateGradients, Multigrid]
FACES = [WALLS, PERIODIC, MIXED]


def cube(n: int, faces=WALLS) -> Domain:
    """A unit cube of n cells along x, and about as many along y and z."""
    cells = (n, n + 1, n - 2)
    return Domain(cells, tuple(1 / m for m in cells), faces)


def pairs(faces) -> Domain:
    """Whose cells lie two by two by two in those of the next level."""
    return Domain((32, 16, 24), (1 / 32, 1 / 32, 1 / 32), faces)


def ball(x, y, z):
    return sum((a - b) ** 2 for a, b in zip((x, y, z), CENTRE, strict=True)) < RADIUS**2


FIELDS = {
    "smooth": lambda x, y, z: np.exp(2 * np.sin(7 * x) * np.cos(5 * y + z)),
    "plane": lambda x, y, z: np.where(z < 0.43, LIGHT, 1.0),
    "drop": lambda x, y, z: np.where(ball(x, y, z), LIGHT, 1.0),
    "bubble": lambda x, y, z: np.where(ball(x, y, z), 1.0, LIGHT),
    "boxes": None,
}


def coefficients(domain: Domain, name: str) -> list[np.ndarray]:
    if name == "boxes":
        return between(boxes(domain.cells, 30), domain.faces)
    return on_faces(FIELDS[name], domain.cells, domain.faces)


def problem(domain: Domain, b: list[np.ndarray]):
    """The matrix, and a right-hand side that has a solution."""
    matrix = operator(b, domain.spacing, domain.faces)
    return matrix, solvable(matrix).reshape(domain.cells[::-1])


def relative_residual(matrix, p: np.ndarray, rhs: np.ndarray) -> float:
    return float(np.linalg.norm(rhs.ravel() - matrix @ p.ravel()) / np.linalg.norm(rhs))


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("faces", FACES)
def test_the_solution_is_that_of_the_matrix(faces, name):
    domain = cube(18, faces)
    b = coefficients(domain, name)
    matrix, rhs = problem(domain, b)
    for kind in KINDS:
        result = solve(domain, kind(domain.cycle(variable=True, gathered=500), tolerance(1e-9, 120)), rhs, b=b)
        assert relative_residual(matrix, result.p, rhs) <= 1.001e-9
        assert result.scalars["norm"] == pytest.approx((rhs**2).sum())


FLAT = Domain((8, 4, 5), (1, 1, 4), PERIODIC)


@pytest.mark.parametrize(
    ("domain", "options"),
    [
        (cube(11), {}),
        (FLAT, {}),
        (cube(8), {"shape": "W"}),
        (cube(10, MIXED), {"smoother": RedBlack(1.0, symmetric=True), "before": 2, "after": 2}),
        (cube(11), {"smoother": WeightedJacobi(), "before": 2, "after": 2}),
        (cube(10, MIXED), {"depth": 3}),
        pytest.param(cube(11), {"single": True}, marks=pytest.mark.slow),
    ],
    ids=["default", "flat", "W", "symmetric", "jacobi", "truncated", "single"],
)
def test_where_b_is_1_nothing_changes(domain, options):
    rhs, b = domain.noise(), on_faces(lambda x, y, z: 1.0, domain.cells, domain.faces)
    one, other = (ConjugateGradients(domain.cycle(variable=v, **options), tolerance(1e-8)) for v in (False, True))
    uniform, variable = solve(domain, one, rhs), solve(domain, other, rhs, b=b)
    assert one.taken(uniform.scalars) == other.taken(variable.scalars)
    scale, digits = abs(uniform.p).max(), 1e-6 if options.get("single") else 1e-12
    np.testing.assert_allclose(variable.p / scale, uniform.p / scale, rtol=0, atol=digits)


@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 2, 1)])
@pytest.mark.parametrize(
    ("domain", "options"),
    [
        (cube(10), {"gathered": 64, "depth": 3}),
        (cube(8, MIXED), {"single": True}),
        *(
            pytest.param(domain, options, marks=pytest.mark.slow)
            for domain, options in [
                (cube(9, PERIODIC), {"gathered": 200}),
                (cube(8, MIXED), {"gathered": 0, "smoother": WeightedJacobi(), "before": 2}),
                (Domain((12, 6, 5), (1, 1, 4), MIXED), {"depth": 3, "gathered": 100, "single": True}),
                (cube(17, PERIODIC), {"gathered": 500, "shape": "F"}),
            ]
        ),
    ],
    ids=["truncated", "whole-single", "seam", "jacobi", "flat-single", "F"],
)
def test_blocks_change_no_bit(domain, options, blocks):
    b = [one * other for one, other in zip(coefficients(domain, "drop"), coefficients(domain, "boxes"), strict=True)]
    solver, (_, rhs) = Multigrid(domain.cycle(variable=True, **options), tolerance(0, 2)), problem(domain, b)
    alone = solve(domain, solver, rhs, b=b)
    cut = solve(domain, solver, rhs, b=b, blocks=blocks, debug=True)
    assert abs(alone.p).max() > 0
    np.testing.assert_array_equal(cut.p, alone.p)


WAVES = {  # frequency over pi, and phase over pi / 2, of the sine along a direction that suits its faces
    ("wall", "wall"): (1.0, 1),
    ("wall", "open"): (0.5, 1),
    ("open", "wall"): (0.5, 0),
    ("periodic", "periodic"): (2.0, 0),
}


def error(n: int, faces) -> float:
    """Largest error of p, a wave along each direction, for b = 2 + sin(2 pi y) + x z."""
    domain = Domain((n, n, n), (1 / n,) * 3, faces)
    places = np.meshgrid(*3 * [(np.arange(n) + 0.5) / n], indexing="ij")
    x, y, z = places
    waves, slopes, bends = [], [], []
    for place, pair in zip(places, faces, strict=True):
        frequency, phase = np.pi * WAVES[pair][0], np.pi / 2 * WAVES[pair][1]
        waves.append(np.sin(frequency * place + phase))
        slopes.append(frequency * np.cos(frequency * place + phase))
        bends.append(-(frequency**2) * waves[-1])
    product = [np.prod([derivative[a] if a == axis else waves[a] for a in range(3)], axis=0)
               for derivative in (slopes, bends) for axis in range(3)]  # fmt: skip
    b, gradient = 2 + np.sin(2 * np.pi * y) + x * z, (z, 2 * np.pi * np.cos(2 * np.pi * y), x)
    rhs = sum(g * slope for g, slope in zip(gradient, product[:3], strict=True)) + b * sum(product[3:])
    on_all = on_faces(lambda x, y, z: 2 + np.sin(2 * np.pi * y) + x * z, domain.cells, faces)
    solver = ConjugateGradients(domain.cycle(variable=True), tolerance(1e-9))
    off = solve(domain, solver, np.ascontiguousarray(rhs.T), b=on_all).p - np.prod(waves, axis=0).T
    return float(abs(off - off.mean() * (not domain.outflow)).max())


@pytest.mark.parametrize("faces", [WALLS, MIXED])
def test_the_solution_is_of_second_order(faces):
    coarse, fine = error(12, faces), error(24, faces)
    assert 1.9 <= np.log2(coarse / fine) <= 2.2


def iterations(domain: Domain, b: list[np.ndarray], relative: float, **options) -> int:
    """Of conjugate gradients; that they reach the tolerance is looked at with the matrix."""
    matrix, rhs = problem(domain, b)
    solver = ConjugateGradients(domain.cycle(variable=True, **options), tolerance(relative))
    result = solve(domain, solver, rhs, b=b)
    assert relative_residual(matrix, result.p, rhs) <= 1.01 * relative
    return solver.taken(result.scalars)


@pytest.mark.parametrize("n", [24, 25, *(pytest.param(n, marks=pytest.mark.slow) for n in (63, 64))])
@pytest.mark.parametrize(
    ("name", "most"), [("smooth", 8), ("plane", 11), ("drop", 11), ("bubble", 12), ("boxes", 7)]
)
def test_few_iterations(name, most, n):
    domain = Domain((n, n, n), (1 / n,) * 3)
    assert iterations(domain, coefficients(domain, name), 1e-6) <= most


@pytest.mark.parametrize("faces", FACES)
def test_obstacles(faces):
    """Closed faces: cells without an open one keep p = 0, and what is not connected is solved for on its own."""
    domain = cube(20, faces)
    solid = boxes(domain.cells, 60, seed=3, thin=True)
    solid[:, :, 9] = solid[:, :, 3] = solid[:, 4, 3:9] = True  # two parts at least
    b = between(solid, faces)
    matrix, rhs = problem(domain, b)
    part, count = parts(matrix)
    assert count >= 2
    rhs.ravel()[part < 0] = 7.0
    solver = ConjugateGradients(domain.cycle(variable=True, gathered=500), tolerance(1e-8, 30))
    result = solve(domain, solver, rhs, b=b)
    np.testing.assert_array_equal(result.p.ravel()[part < 0], 0)
    np.testing.assert_array_equal(matrix[:, part < 0].data, 0)
    rhs.ravel()[part < 0] = 0.0
    assert relative_residual(matrix, result.p, rhs) <= 1.001e-8


def test_coefficients_that_change_are_prepared_again():
    domain = cube(12)
    solver = Multigrid(domain.cycle(variable=True), tolerance(1e-8, 40))
    first, second = coefficients(domain, "drop"), coefficients(domain, "bubble")
    rhs = domain.noise()

    def job(shard):
        shard.run(solver.prepare)
        shard.run(solver.solve)
        for role, values in zip(COEFFICIENTS, second, strict=True):
            shard.write({role: values}, Box.of(values.shape[::-1]))
        shard.run(solver.prepare)
        shard.run(solver.solve)

    again = on_blocks(domain, solver, job, rhs, b=first, debug=True)
    assert relative_residual(operator(second, domain.spacing, WALLS), again.p, rhs) <= 1.001e-8
    alone = solve(domain, solver, rhs, b=second, p=solve(domain, solver, rhs, b=first).p)
    np.testing.assert_array_equal(again.p, alone.p)


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_in_each_of_several_parts_does_no_harm(kind):
    """Sums over parts that are as far from 0 as rounding of the parts of a divergence would leave them."""
    domain = cube(20)
    solid = np.zeros(domain.cells[::-1], bool)
    solid[:, :, 9] = solid[:, 4, 9:] = True
    b = between(solid, WALLS)
    matrix, rhs = problem(domain, b)
    part, count = parts(matrix)
    assert count == 3
    for n in range(count):
        rhs.ravel()[part == n] += (n - 1) * 1e-13
    result = solve(domain, kind(domain.cycle(variable=True), tolerance(1e-10, 80)), rhs, b=b)
    assert relative_residual(matrix, result.p, rhs) <= 1.01e-10


@pytest.mark.parametrize("faces", [WALLS, PERIODIC])
def test_jacobi_finds_the_same(faces):
    cells = (6, 7, 8)
    domain = Domain(cells, tuple(1 / m for m in cells), faces)
    b = on_faces(FIELDS["smooth"], cells, faces)
    for axis in range(3):
        b[axis] *= between(boxes(cells, 4), faces)[axis]
    matrix, rhs = problem(domain, b)
    solver = ConvergedJacobi(domain.operator(variable=True), tolerance(1e-8, 20000))
    alone = solve(domain, solver, rhs, b=b)
    assert relative_residual(matrix, alone.p, rhs) <= 1.001e-8
    np.testing.assert_array_equal(solve(domain, solver, rhs, b=b, blocks=(1, 1, 2), debug=True).p, alone.p)


@pytest.mark.parametrize("sweeps", [1, 4, 5])
def test_jacobi_with_b_1_is_jacobi(sweeps):
    """Away from walls, where a cell that sees its own value there is relaxed by less."""
    domain = cube(9, PERIODIC)
    b, rhs = on_faces(lambda x, y, z: 1.0, domain.cells, PERIODIC), domain.noise()
    one, other = (solve(domain, Jacobi(domain.operator(variable=v), sweeps), rhs, b=b * v).p for v in (False, True))
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-14 * abs(one).max())


def test_blocked_sweeps_have_no_coefficients():
    with pytest.raises(BadInput, match="jacobi: blocked sweeps have walls and constant coefficients"):
        Jacobi(cube(8).operator(variable=True), 4, blocked=True)


def test_flags_of_bodies_are_for_sweeps_between_walls():
    grid, near = cube(8).grid, Box((1, 1, 1), (4, 4, 4))
    for others in ({"variable": True}, {"dirichlet": ("z_max",)}):
        with pytest.raises(BadInput, match="operator: flags of bodies are for b = 1 and walls"):
            Operator(grid, near=near, **others)
    with pytest.raises(BadInput, match="multigrid: it does not read flags of bodies; give coefficients"):
        Cycle(Operator(grid, near=near))


@pytest.mark.parametrize("solving", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_blocks_record_is_proved(solving):
    domain = Domain((4, 3, 4), faces=MIXED)
    solver = ConjugateGradients(domain.cycle(gathered=10, variable=True), tolerance())
    programs = {solver.prepare: (), **({solver.solve: ("cells",)} if solving else {})}
    proof = prove(on(domain, solver, (1, 1, 2), "f8"), programs, Mapper("full"), Hardware(True, (0, 0)))
    assert proof.templates > 0
    assert not proof.faults


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision(kind):
    domain = cube(18, MIXED)
    b = coefficients(domain, "drop")
    matrix, rhs = problem(domain, b)
    result = solve(domain, kind(domain.cycle(variable=True), tolerance(1e-5)), rhs, b=b, real="f4")
    assert result.p.dtype == "f4"
    assert relative_residual(matrix, result.p.astype("f8"), rhs) <= 1.1e-5


@pytest.mark.parametrize("faces", [MIXED, *(pytest.param(faces, marks=pytest.mark.slow) for faces in FACES[:2])])
def test_cells_two_by_two_by_two_are_corrected_like_all_others(faces, monkeypatch):
    domain = pairs(faces)
    b, rhs = coefficients(domain, "bubble"), domain.noise()
    solver, launched = Multigrid(domain.cycle(variable=True), tolerance(0, 2)), []

    def like_others(p, z, b, *, over, mesh, fine):
        launched.append(over)
        return correct_by_coarse_variable(p, z, b, over=over, mesh=mesh, fine=fine, transfer=transfer(fine, mesh))

    result = solve(domain, solver, rhs, b=b).p
    monkeypatch.setattr("taskflow.flow.poisson.multigrid.transfer.correct_by_pairs_variable", like_others)
    np.testing.assert_array_equal(solve(domain, solver, rhs, b=b).p, result)
    assert domain.operator(variable=True).box in launched


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("faces", FACES)
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
@pytest.mark.parametrize("name", ["bubble", "boxes"])
@pytest.mark.parametrize("matching", [False, True])
def test_a_gpu_changes_no_bit(blocks, faces, name, matching):
    domain = pairs(faces) if matching else cube(33, faces)
    b = coefficients(domain, name)
    solver, (_, rhs) = Multigrid(domain.cycle(variable=True, gathered=500), tolerance(0, 2)), problem(domain, b)
    host, device = (solve(domain, solver, rhs, b=b), solve(domain, solver, rhs, b=b, blocks=blocks, device=one_gpu()))
    np.testing.assert_array_equal(device.p, host.p)
