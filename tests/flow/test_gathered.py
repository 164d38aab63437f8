"""Coarse levels that are gathered axis after axis between many blocks: few messages, the same bits, and a proof."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.poisson import ConjugateGradients, Multigrid
from taskflow.runtime.machine import Mapper
from taskflow.runtime.proof import Hardware, prove
from taskflow.runtime.regions import Box
from taskflow.runtime.regions import partition as regions
from taskflow.runtime.tasks import Geometries, Repeat, Roles, exchange
from tests.flow.poisson import PERIODIC, Domain, on, solve, tolerance
from tests.flow.test_multigrid import MIXED

BLOCKS = (2, 2, 1)


@pytest.fixture
def many(monkeypatch):
    """Few blocks count as many."""
    monkeypatch.setattr(regions, "FEW", 0)


@pytest.mark.slow
def test_a_round_on_512_blocks_sends_81_messages():
    """Six neighbours at 10 moments, and seven blocks of each row, not 26 neighbours and 511 blocks."""
    domain, blocks, middle = Domain((128, 128, 128)), (8, 8, 8), 4 * (1 + 8 + 64)
    solver = ConjugateGradients(domain.cycle(gathered=32**3, exact=256, blocks=blocks), tolerance())
    part = on(domain, solver, blocks, "f8")
    known, roles = Geometries.sampled(part, [middle]), Roles.of(tuple(part.fields))
    [loop] = [item for item in solver.solve(roles) if isinstance(item, Repeat)]
    body = list(loop.body(roles))
    valid = exchange(body, part, following=body, blocks=[middle], known=known).valid
    result = exchange(body, part, following=body, valid=valid, blocks=[middle], known=known)
    travelling = [m for moment in result.messages.values() for m in moment if m.source != m.target]
    assert [sum(end(m) == middle for m in travelling) for end in (lambda m: m.source, lambda m: m.target)] == [81, 81]


def test_what_is_gathered_along_an_axis_has_memory_of_rows_only(many):
    domain, blocks = Domain((16, 16, 16)), (2, 2, 2)
    solver = Multigrid(domain.cycle(gathered=8**3, blocks=blocks), tolerance())
    homes = on(domain, solver, blocks, "f8").homes
    names = "level1_part", "level1_part_x", "level1_part_xy", "level1_rhs"
    assert [homes[name].own[0] for name in names] == [
        (Box((-1, -1, -1), end),) for end in ((4, 4, 4), (9, 4, 4), (9, 9, 4), (9, 9, 9))
    ]
    assert [homes[name].copies for name in names] == [1, 2, 4, 8]
    assert homes["level1_part"].memory[7] == Box((0, 3, 3), (9, 9, 9))


@pytest.mark.parametrize(
    ("domain", "blocks", "options"),
    [
        pytest.param(Domain((8, 7, 9), faces=MIXED), (2, 2, 2), {"shape": "W"}, marks=pytest.mark.slow),
        (Domain((4, 4, 6), faces=PERIODIC), (2, 1, 3), {"single": True}),
    ],
    ids=str,
)
def test_no_bit_changes(many, domain, blocks, options):
    rhs, gathered = domain.noise(), {"gathered": domain.cells[0] * 15, **options}
    alone = solve(domain, Multigrid(domain.cycle(**gathered), tolerance(0, 2)), rhs)
    solver = Multigrid(domain.cycle(**gathered, blocks=blocks), tolerance(0, 2))
    assert any(level.along for level in solver.cycle.levels)
    np.testing.assert_array_equal(solve(domain, solver, rhs, blocks=blocks, debug=True).p, alone.p)


@pytest.mark.slow
def test_no_bit_changes_with_coefficients(many):
    domain, random = Domain((6, 7, 8), faces=MIXED), np.random.default_rng(1)
    b = [random.uniform(0.1, 1, tuple(n + (2 - axis == a) for a, n in enumerate((8, 7, 6)))) for axis in range(3)]
    solvers = [
        Multigrid(domain.cycle(gathered=60, variable=True, blocks=blocks), tolerance(0, 2))
        for blocks in ((1, 1, 1), BLOCKS)
    ]
    alone, both = (
        solve(domain, solver, domain.noise(), b=b, blocks=solver.cycle.blocks, debug=True) for solver in solvers
    )
    np.testing.assert_array_equal(both.p, alone.p)


@pytest.mark.slow
@pytest.mark.parametrize(("mapper", "hardware"), [("none", Hardware(False, None)), ("full", Hardware(True, (0,) * 4))])
def test_what_blocks_record_is_proved(many, mapper, hardware):
    domain = Domain((4, 5, 4), faces=MIXED)
    solver = Multigrid(domain.cycle(gathered=20, blocks=BLOCKS), tolerance())
    proof = prove(on(domain, solver, BLOCKS, "f8"), {solver.solve: ()}, Mapper(mapper), hardware)
    assert proof.templates > 0
    assert not proof.faults
