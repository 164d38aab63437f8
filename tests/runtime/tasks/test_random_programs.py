"""Properties of every program: any order that its graph allows has the bits of one processor with one memory."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.runtime.regions import partition as regions

from .palette import partitions, scripts
from .running import analysed, assert_bits, assert_conflicts, check_versions, orders, recorded


def tiles():
    """Of one size for all launches."""
    return st.tuples(*3 * [st.integers(1, 4)]).map(lambda tile: lambda launch, cells, middle: tile)


@st.composite
def runs(draw):
    """A partition of few blocks, or of as many as pass on cells, and up to three steps of one or two programs on it."""
    partition = draw(partitions())
    first = draw(scripts(partition.region))
    second = draw(st.one_of(st.just(first), scripts(partition.region)))
    steps = recorded(draw(st.sampled_from(([first], [first, second], [first, second, first]))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions, "FEW", draw(st.sampled_from((0, 64))))
        analyses = analysed(
            partition,
            steps,
            draw(st.sampled_from(("next", "none", "first"))),
            split=draw(st.one_of(st.booleans(), st.sets(st.integers(0, 3)))),
            tiles=draw(tiles()),
        )
    priorities = [orders(draw(st.integers(0, 1000))) for _ in steps]
    return partition, steps, analyses, priorities


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples * 2)
@given(runs(), st.booleans())
def test_any_order_of_the_graph_has_the_bits_of_the_program(run, direct):
    assert_bits(*run, direct)


@settings(max_examples=settings.default.max_examples // 2)
@given(runs(), st.booleans())
def test_every_read_finds_the_latest_write_of_its_owner(run, direct):
    check_versions(*run, direct)


@pytest.mark.slow
@settings(max_examples=60)
@given(runs())
def test_nodes_that_interfere_are_ordered(run):
    partition, _, analyses, _ = run
    assert_conflicts(partition, analyses)
