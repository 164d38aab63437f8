"""Ghost cells that blocks compute instead of receiving them: the same bits, and few exchanges."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.poisson import ConjugateGradients, Cycle, Multigrid, Solver
from taskflow.flow.poisson.multigrid import RedBlack, WeightedJacobi
from taskflow.runtime.machine import Mapper
from taskflow.runtime.machine.device import gpu
from taskflow.runtime.proof import Hardware, prove
from taskflow.runtime.tasks import Repeat, Roles, exchange
from tests.flow.poisson import PERIODIC, WALLS, Domain, on, solve, tolerance
from tests.flow.test_multigrid import MIXED

ANY = 10**9
SLABS = (1, 1, 4)


def travelling(domain: Domain, solver: Solver, blocks: tuple[int, int, int] = SLABS) -> list[set[str]]:
    """The fields of each exchange of an iteration, once iterations repeat themselves."""
    part = on(domain, solver, blocks, "f8")
    start, body = [], []
    for item in solver.solve(Roles.of(tuple(part.fields))):
        if isinstance(item, Repeat):
            body = list(item.body(Roles.of(tuple(part.fields))))
        else:
            start.append(item)
    valid = exchange(start, part, following=body).valid
    for _ in range(2):
        result = exchange(body, part, following=body, valid=valid)
        valid = result.valid
    moments = ([m for m in moment if m.source != m.target] for _, moment in sorted(result.messages.items()))
    return [{name for message in moment for name, _ in message.copies} for moment in moments if moment]


def large(**options) -> Cycle:
    """Three levels that are cut, and one more that is on all blocks."""
    return Domain((256, 256, 1024)).cycle(gathered=64**3, **options)


@pytest.mark.parametrize("kind", [ConjugateGradients, Multigrid])
@pytest.mark.parametrize("options", [{}, {"before": 2, "after": 2}, {"smoother": WeightedJacobi()}], ids=str)
def test_an_iteration_exchanges_right_hand_sides_and_nothing_else(kind, options):
    result = travelling(Domain((256, 256, 1024)), kind(large(redundant=ANY, **options), tolerance()))
    assert result == [{"level1_rhs"}, {"level2_rhs"}, {"level3_part"}, {"level0_rhs"}]


@pytest.mark.parametrize("options", [{}, {"smoother": WeightedJacobi(), "before": 2}], ids=str)
def test_nor_right_hand_sides_where_the_finer_level_is_smoothed_on_few_more_cells(options):
    result = travelling(
        Domain((256, 256, 1024)), ConjugateGradients(large(redundant=1 << 21, blocks=SLABS, **options), tolerance())
    )
    assert result == [{"level1_rhs"}, {"level3_part"}, {"level0_rhs"}]


@pytest.mark.parametrize(
    ("cells", "blocks", "redundant", "restricted"),
    [
        ((256, 256, 1024), (1, 1, 4), 1 << 21, [0, 0, 7, 0]),
        ((256, 256, 1024), (1, 1, 4), 1 << 20, [0, 0, 0, 0]),  # 2 x 17 planes of 128 x 128 cells, for two launches
        ((256, 256, 1024), (1, 1, 32), 1 << 21, [0, 0, 0, 0]),  # 16 planes to a block of level 1
        ((256, 256, 1024), (2, 1, 2), 1 << 22, [0, 0, 7, 0]),
        ((128, 128, 512), (1, 1, 4), 1 << 21, [0, 6, 0, 0]),  # levels 2 and above are whole
        ((256, 256, 1024), (1, 1, 1), 1 << 21, [0, 0, 0, 0]),
    ],
)
def test_where_right_hand_sides_are_computed_instead_of_received(cells, blocks, redundant, restricted):
    levels = Domain(cells).cycle(gathered=64**3, redundant=redundant, blocks=blocks).levels
    assert [level.layers.restricted for level in levels[:4]] == restricted


def test_across_the_seam_right_hand_sides_are_received():
    levels = Domain((256, 256, 1024), faces=PERIODIC).cycle(gathered=64**3, redundant=1 << 21, blocks=SLABS).levels
    assert not any(level.layers.restricted for level in levels)


def test_an_iteration_that_computes_nothing_twice_waits_for_every_relaxation():
    result = travelling(Domain((256, 256, 1024)), ConjugateGradients(large(), tolerance()))
    assert len(result) == 16
    assert not any({"p", "direction"} & fields for fields in result)  # their ghost cells follow from those of the cycle


def test_levels_of_which_too_much_would_be_computed_twice_are_exchanged():
    solver = Multigrid(large(redundant=200_000), tolerance())  # the finest: two times four planes of 256 x 256 cells
    finest, *coarser = on(Domain((256, 256, 1024)), solver, SLABS, "f8").beside
    assert finest.redundant == 0
    assert [item.redundant for item in coarser[:2]] == [6, 7]


def test_levels_on_narrow_blocks_are_exchanged():
    solver = Multigrid(Domain((8, 8, 16)).cycle(gathered=60, redundant=ANY), tolerance())
    assert [item.redundant for item in on(Domain((8, 8, 16)), solver, SLABS, "f8").beside[:2]] == [0, 0]


@pytest.mark.parametrize(
    ("domain", "blocks", "options"),
    [
        (Domain((8, 7, 28), faces=WALLS), (1, 1, 2), {}),
        (Domain((7, 8, 27), faces=PERIODIC), (1, 1, 2), {}),
        (Domain((8, 13, 14), faces=MIXED), (1, 2, 2), {"single": True}),
        (Domain((6, 6, 28), faces=MIXED), (1, 1, 2), {"shape": "W", "smoother": WeightedJacobi()}),
        (Domain((6, 6, 28)), (1, 1, 2), {"smoother": RedBlack(1.0, symmetric=True), "after": 2}),
        (Domain((6, 6, 28), spacing=(4, 4, 1)), (1, 1, 2), {"depth": 3, "coarsest": 3}),
    ],
    ids=str,
)
def test_what_is_computed_twice_changes_no_bit(domain, blocks, options):
    rhs = domain.noise()
    once, twice = (Multigrid(domain.cycle(gathered=60, redundant=n, **options), tolerance(0, 3)) for n in (0, ANY))
    assert any(item.redundant for item in on(domain, twice, blocks, "f8").beside)
    alone, cut = solve(domain, once, rhs), solve(domain, twice, rhs, blocks=blocks, debug=True)
    np.testing.assert_array_equal(cut.p, alone.p)


@pytest.mark.parametrize(
    ("domain", "blocks", "options"),
    [
        (Domain((6, 6, 72)), (1, 1, 2), {}),
        (Domain((4, 70, 75)), (1, 2, 2), {"single": True}),
        (Domain((4, 5, 75), faces=MIXED), (1, 1, 2), {}),
        (Domain((6, 5, 71), faces=WALLS), (1, 1, 2), {"smoother": WeightedJacobi(), "shape": "F"}),
    ],
    ids=str,
)
def test_restricting_twice_changes_no_bit(domain, blocks, options):
    rhs, many = domain.noise(), {"gathered": 60, **options}
    once, twice = (Multigrid(domain.cycle(redundant=n, blocks=blocks, **many), tolerance(0, 2)) for n in (0, ANY))
    assert any(level.layers.restricted for level in twice.cycle.levels)
    alone, cut = solve(domain, once, rhs), solve(domain, twice, rhs, blocks=blocks, debug=True)
    np.testing.assert_array_equal(cut.p, alone.p)


SOLVERS = pytest.mark.parametrize("kind", [Multigrid, ConjugateGradients])


@pytest.mark.parametrize("overlap", ["none", "comm"])
@SOLVERS
def test_rounds_that_the_host_waits_for_change_no_bit_however_they_overlap(kind, overlap):
    assert_rounds(kind, overlap, None)


@pytest.mark.multigpu
@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
@SOLVERS
def test_gpus_that_see_each_other_change_no_bit(kind, overlap):
    assert_rounds(kind, overlap, [gpu(0), gpu(1)])


def assert_rounds(kind, overlap, devices):
    """Blocks that compute ghost cells, and restrict to some, beside blocks that receive all, and then compute."""
    domain, blocks = Domain((40, 6, 72)), (1, 1, 2)
    rhs, result = domain.noise(), []
    for redundant, way in ((0, "none"), (ANY, overlap)):
        solver = kind(domain.cycle(gathered=300, redundant=redundant, blocks=blocks), tolerance(1e-5))
        result.append(solve(domain, solver, rhs, blocks=blocks, overlap=way, device=devices))
    assert any(level.layers.restricted for level in solver.cycle.levels)
    assert result[1].scalars["rounds"] > 2
    np.testing.assert_array_equal(result[1].p, result[0].p)


def test_coefficients_on_faces_are_there_beside_ghost_cells():
    domain, random = Domain((6, 7, 28), faces=MIXED), np.random.default_rng(1)
    b = [random.uniform(0.1, 1, tuple(n + (2 - axis == a) for a, n in enumerate((28, 7, 6)))) for axis in range(3)]
    once, twice = (Multigrid(domain.cycle(gathered=60, redundant=n, variable=True), tolerance(0, 2)) for n in (0, ANY))
    alone = solve(domain, once, domain.noise(), b=b)
    np.testing.assert_array_equal(solve(domain, twice, domain.noise(), blocks=(1, 1, 2), b=b, debug=True).p, alone.p)


def test_conjugate_gradients_take_as_many_iterations():
    domain = Domain((8, 8, 28))
    rhs, kept = domain.noise(), []
    for redundant in (0, ANY):
        solver = ConjugateGradients(domain.cycle(gathered=60, redundant=redundant), tolerance())
        kept.append(solve(domain, solver, rhs, blocks=(1, 1, 2), debug=bool(redundant)))
    assert kept[0].scalars == kept[1].scalars
    np.testing.assert_array_equal(kept[0].p, kept[1].p)


@pytest.mark.fast("full-*")
@pytest.mark.parametrize(("mapper", "hardware"), [("none", Hardware(False, None)), ("full", Hardware(True, (0, 0)))])
def test_what_blocks_record_is_proved(mapper, hardware):
    domain = Domain((4, 5, 10), faces=MIXED)
    solver = ConjugateGradients(domain.cycle(gathered=40, redundant=ANY), tolerance())
    part = on(domain, solver, (1, 1, 2), "f8")
    assert part.beside[0].redundant
    proof = prove(part, {solver.solve: ()}, Mapper(mapper), hardware)
    assert proof.templates > 0
    assert not proof.faults
