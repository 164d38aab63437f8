"""All solvers of the pressure equation find the same field, the discrete solution, and that is of second order.

What a residual r leaves in p is at most |r| / lambda in the 2-norm, lambda being the smallest eigenvalue of minus the
Laplacian on the grid (of a singular one: the smallest beside 0, and p but for its mean). So bounds follow from
tolerances.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from taskflow.runtime.machine.device import gpu
from tests.flow.poisson import PERIODIC, WALLS
from tests.flow.test_multigrid import MIXED, MIXES
from tests.flows import norms, orders
from tests.reference.multigrid import laplacian
from tests.validation.manufactured import (
    SOLVERS,
    Manufactured,
    Where,
    box,
    fft,
    residual,
    rounding,
    smallest_eigenvalue,
    solved,
    supports,
    without_constant,
)

BLOCKS = [(1, 1, 1), (1, 1, 2), (2, 1, 2)]
RELATIVE = {"f8": 1e-9, "f4": 1e-4}
ORDER = 0.05  # how far from 2 an observed order may be
FEW = [WALLS, PERIODIC, MIXED]
ALL = list(product([*MIXES, MIXED], BLOCKS, RELATIVE))
FAST = [*product(FEW, BLOCKS[:1], ["f8"]), (MIXED, BLOCKS[2], "f8")]
FAST_TO_COMPARE = [*product(FEW, BLOCKS[:1], RELATIVE), (MIXED, BLOCKS[1], "f8")]
SLOW = [each for each in ALL if each not in FAST]
SLOW_TO_COMPARE = [each for each in ALL if each not in FAST_TO_COMPARE]


def name(value):
    if callable(value):
        return value.__name__
    return "-".join(low[0] + high[0] for low, high in value) if isinstance(value[0], tuple) else str(value)


def with_solvers(cases):
    """Each case with each solver that is for it."""
    pairs = product(SOLVERS, cases)
    return [(make, faces, blocks, real) for make, (faces, blocks, real) in pairs if supports(make, faces, real)]


def assert_order(make, faces, blocks, real):
    errors, cells = [], (16, 32)
    for n in cells:
        known = Manufactured.on(box(n, faces))
        p = solved(make, known.domain, known.rhs, RELATIVE[real], Where(blocks, real))
        errors.append(norms(without_constant(p - known.p, known.domain)))
    for values in zip(*errors, strict=True):
        assert orders(values, cells) == pytest.approx([2.0], abs=ORDER)


def assert_agreement(n, faces, blocks, real, device=None):
    """For noise, which has all modes: each residual is as small as asked for, and no two fields are farther apart than
    both allow.
    """
    domain, relative = box(n, faces), RELATIVE[real]
    rhs = domain.noise().astype(real).astype("f8")
    fields, allowed = {}, {}
    for make in (each for each in SOLVERS if supports(each, faces, real)):
        p = solved(make, domain, rhs, relative, Where(blocks, real, device))
        allowed[make] = rounding(p, rhs, domain, real) + (make is not fft) * relative * np.linalg.norm(rhs)
        assert residual(p, rhs, domain) <= allowed[make], make.__name__
        fields[make] = without_constant(p, domain)
    for one, other in combinations(fields, 2):
        apart = np.linalg.norm(fields[one] - fields[other])
        assert apart <= (allowed[one] + allowed[other]) / smallest_eigenvalue(domain), (one, other)


@pytest.mark.fast("*-wo-pp-ow-(2, 1, 2)-f8")
@pytest.mark.parametrize(("make", "faces", "blocks", "real"), with_solvers(FAST), ids=name)
def test_solutions_are_of_second_order(make, faces, blocks, real):
    assert_order(make, faces, blocks, real)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "faces", "blocks", "real"), with_solvers(SLOW), ids=name)
def test_solutions_are_of_second_order_in_all_combinations(make, faces, blocks, real):
    """With those that compare fields, 27 minutes on two busy cores."""
    assert_order(make, faces, blocks, real)


@pytest.mark.fast("16-wo-pp-ow-(1, 1, 2)-f8", "15-ww-ww-ww-(1, 1, 1)-f8")
@pytest.mark.parametrize(("faces", "blocks", "real"), FAST_TO_COMPARE, ids=name)
@pytest.mark.parametrize("n", [16, 15])
def test_solvers_agree_to_their_tolerance(n, faces, blocks, real):
    assert_agreement(n, faces, blocks, real)


@pytest.mark.gpu
@pytest.mark.parametrize("real", RELATIVE)
@pytest.mark.parametrize("faces", FEW, ids=name)
@pytest.mark.parametrize("n", [32, 31])
def test_solvers_agree_on_a_gpu(n, faces, real):
    assert_agreement(n, faces, BLOCKS[0], real, gpu())


@pytest.mark.slow
@pytest.mark.parametrize(("faces", "blocks", "real"), SLOW_TO_COMPARE, ids=name)
@pytest.mark.parametrize("n", [16, 15])
def test_solvers_agree_to_their_tolerance_in_all_combinations(n, faces, blocks, real):
    """See above for how long they take."""
    assert_agreement(n, faces, blocks, real)


@pytest.mark.parametrize(("faces", "blocks", "real"), FAST, ids=name)
@pytest.mark.fast("pp-pp-pp-(1, 1, 1)-f8", "wo-pp-ow-(2, 1, 2)-f8")
def test_fft_finds_the_discrete_solution(faces, blocks, real):
    """Any field solves the equation for its own Laplacian; what rounding makes of that is all that may be missing."""
    domain = box(14, faces)
    exact = domain.noise(3).astype(real).astype("f8")
    rhs = laplacian(exact, domain.spacing, domain.faces).astype(real).astype("f8")
    off = without_constant(solved(fft, domain, rhs, 0.0, Where(blocks, real)) - exact, domain)
    assert np.linalg.norm(off) <= rounding(exact, rhs, domain, real) / smallest_eigenvalue(domain)
