"""Conjugate gradients with multigrid: as few iterations as promised, on any blocks, to a solution of second order."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.flow.poisson import ConjugateGradients, Multigrid, NotConverged, Tolerance
from taskflow.flow.poisson.multigrid import RedBlack, WeightedJacobi
from taskflow.runtime.machine import Mapper
from taskflow.runtime.proof import Hardware, prove
from tests.flow.poisson import PERIODIC, WALLS, Domain, on, solve, tolerance
from tests.flow.test_multigrid import MIXED, MIXES
from tests.reference.multigrid import laplacian
from tests.runtime.machine.devices import one_gpu

MOST = 7  # iterations to 1e-6


def iterations(domain: Domain, **options) -> int:
    where = {name: options.pop(name) for name in ("blocks", "real") if name in options}
    solver = ConjugateGradients(domain.cycle(**options), tolerance())
    result = solve(domain, solver, domain.noise(), **where)
    return solver.taken(result.scalars)


@pytest.mark.parametrize("faces", MIXES, ids=lambda faces: "-".join(low[0] + high[0] for low, high in faces))
@pytest.mark.parametrize("n", [24, 25])
def test_few_iterations_between_faces_of_any_kind(faces, n):
    assert iterations(Domain((n, n, n), faces=faces)) <= MOST


@pytest.mark.parametrize(
    "domain",
    [
        Domain((64, 16, 16)),
        Domain((16, 16, 64)),
        Domain((31, 33, 37)),
        Domain((32, 32, 32), spacing=(1, 1, 4)),
        Domain((32, 32, 32), spacing=(4, 1, 4)),
        Domain((48, 1, 48), faces=(WALLS[0], PERIODIC[0], WALLS[0])),
    ],
    ids=lambda domain: "x".join(map(str, domain.cells)),
)
@pytest.mark.parametrize(
    "smoother",
    [RedBlack(), RedBlack(1.0, symmetric=True), WeightedJacobi()],
    ids=["default", "symmetric", "jacobi"],
)
def test_few_iterations_in_boxes_of_any_shape(domain, smoother):
    assert iterations(domain, smoother=smoother, before=2, after=2) <= MOST
    if smoother == RedBlack():
        assert iterations(domain) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("faces", [WALLS, PERIODIC])
@pytest.mark.parametrize("n", [63, 64, 65, 127, 128, 129])
def test_iterations_do_not_depend_on_the_number_of_cells(n, faces):
    assert iterations(Domain((n, n, n), faces=faces)) <= MOST


@pytest.mark.parametrize("faces", [WALLS, PERIODIC, MIXED])
@pytest.mark.parametrize(
    "blocks", [(1, 1, 2), *(pytest.param(blocks, marks=pytest.mark.slow) for blocks in [(1, 1, 3), (2, 2, 2)])]
)
def test_blocks_change_iterations_by_one_at_most(blocks, faces):
    domain = Domain((21, 22, 24), faces=faces)
    solver, rhs = ConjugateGradients(domain.cycle(gathered=300), tolerance()), domain.noise()
    alone, cut = solve(domain, solver, rhs), solve(domain, solver, rhs, blocks=blocks)
    assert abs(alone.scalars["rounds"] - cut.scalars["rounds"]) <= 1
    np.testing.assert_allclose(cut.p - cut.p.mean(), alone.p - alone.p.mean(), rtol=0, atol=1e-4 * abs(alone.p).max())


@pytest.mark.fast("faces0-100-*", "faces2-20000-*")
@pytest.mark.parametrize("blocks", [(1, 1, 1), pytest.param((1, 2, 2), marks=pytest.mark.slow)])
@pytest.mark.parametrize("gathered", [100, 20000])
@pytest.mark.parametrize("faces", [WALLS, PERIODIC, MIXED])
def test_levels_of_single_precision_keep_a_tolerance_of_double(faces, gathered, blocks):
    domain = Domain((24, 25, 22), faces=faces)
    rhs = domain.noise()
    for kind in (ConjugateGradients, Multigrid):
        double, single = (
            kind(domain.cycle(gathered=gathered, single=item), tolerance(1e-10)) for item in (False, True)
        )
        result = solve(domain, single, rhs, blocks=blocks)
        left = rhs - laplacian(result.p, domain.spacing, domain.faces)
        assert np.linalg.norm(left) <= 1.01e-10 * np.linalg.norm(rhs)
        assert result.scalars["rounds"] <= solve(domain, double, rhs).scalars["rounds"] + 1


def test_levels_of_single_precision_are_for_double():
    domain = Domain((8, 8, 8))
    with pytest.raises(BadInput, match="single = True is for fields of double precision, not f4"):
        solve(domain, ConjugateGradients(domain.cycle(single=True), tolerance()), domain.noise(), real="f4")


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("faces", [WALLS, PERIODIC, MIXED])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
def test_a_gpu_takes_the_same_iterations(blocks, faces):
    domain = Domain((41, 22, 24), faces=faces)
    solver, rhs = ConjugateGradients(domain.cycle(gathered=300), tolerance()), domain.noise()
    host, device = solve(domain, solver, rhs), solve(domain, solver, rhs, blocks=blocks, device=one_gpu())
    assert abs(host.scalars["rounds"] - device.scalars["rounds"]) <= 1
    assert device.scalars["residual"] <= 1e-12 * device.scalars["norm"]


@pytest.mark.fast("f4-*-faces0", "f8-*-faces2")
@pytest.mark.parametrize("faces", [WALLS, PERIODIC, MIXED])
@pytest.mark.parametrize(("real", "relative"), [("f8", 1e-11), ("f4", 2e-6)])
def test_a_solution_is_as_good_as_its_tolerance_says(faces, real, relative):
    domain = Domain((24, 20, 22), faces=faces)
    rhs = domain.noise().astype(real).astype("f8")
    result = solve(domain, ConjugateGradients(domain.cycle(), tolerance(relative)), rhs, real=real)
    left = rhs - laplacian(result.p.astype("f8"), domain.spacing, domain.faces)
    assert np.linalg.norm(left) <= relative * np.linalg.norm(rhs) * 1.5


def test_what_rounding_leaves_is_not_called_converged():
    """Of a smooth pressure single precision leaves more than this tolerance, however small a residual that is carried
    along becomes.
    """
    domain = Domain((32, 32, 32))
    wave = np.cos(np.pi * (np.arange(32) + 0.5) / 32)
    with pytest.raises(NotConverged, match="20 iterations did not reduce"):
        solve(
            domain,
            ConjugateGradients(domain.cycle(), tolerance(1e-7, most=20)),
            np.einsum("i,j,k->kji", wave, wave, wave),
            real="f4",
        )


@pytest.mark.fast("full-*-ConjugateGradients")
@pytest.mark.parametrize("kind", [ConjugateGradients, Multigrid])
@pytest.mark.parametrize(("mapper", "hardware"), [("none", Hardware(False, None)), ("full", Hardware(True, (0, 0)))])
def test_what_blocks_record_is_proved(kind, mapper, hardware):
    domain = Domain((6, 7, 9), faces=MIXED)
    solver = kind(domain.cycle(gathered=30), tolerance())
    proof = prove(on(domain, solver, (1, 1, 2), "f8"), {solver.solve: ()}, Mapper(mapper), hardware)
    assert proof.templates > 0
    assert not proof.faults


def test_what_does_not_converge_says_so():
    domain = Domain((16, 16, 16))
    with pytest.raises(NotConverged, match="2 iterations did not reduce the relative residual to 1e-09"):
        solve(domain, ConjugateGradients(domain.cycle(), tolerance(1e-9, most=2)), domain.noise())


@pytest.mark.fast("faces0-True-*", "faces2-False-*")
@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("faces", [WALLS, PERIODIC, MIXED])
def test_the_first_iteration_goes_as_far_along_a_cycle_as_is_best(faces, single, device):
    domain = Domain((14, 12, 10), faces=faces)
    rhs, where = domain.noise(), {"device": one_gpu()} if device == "gpu" else {}
    cycle = domain.cycle(gathered=300, single=single)
    z = solve(domain, Multigrid(cycle, Tolerance(0.0, 1)), rhs).p
    best = (rhs * z).sum() / (z * laplacian(z, domain.spacing, domain.faces)).sum()
    solver = ConjugateGradients(cycle, Tolerance(0.0, 1))
    result = solve(domain, solver, rhs, blocks=(1, 1, 2), **where)
    np.testing.assert_allclose(result.p, best * z, rtol=0, atol=1e-12 * abs(z).max())
    assert solver.taken(result.scalars) == 1


def test_one_iteration_may_be_all_and_not_enough():
    domain = Domain((16, 16, 16))
    with pytest.raises(NotConverged, match="1 iterations did not reduce the relative residual to 1e-09"):
        solve(domain, ConjugateGradients(domain.cycle(), tolerance(1e-9, most=1)), domain.noise())


def test_nothing_to_solve_for_leaves_the_guess():
    domain = Domain((8, 8, 8))
    result = solve(domain, ConjugateGradients(domain.cycle(), tolerance()), np.zeros((8, 8, 8)))
    np.testing.assert_array_equal(result.p, 0)
