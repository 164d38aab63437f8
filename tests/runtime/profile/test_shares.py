"""Every moment of a profile belongs to one share; known answers, and a brute-force count."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from taskflow.runtime.profile.summary import CATEGORIES, exclusive, shares, summarise
from taskflow.runtime.profile.timeline import common, length, union
from tests.runtime.profile.made import compute, host, plain, receive, refresh, replay, send, timeline, urgent

INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)))


@given(INTERVALS, INTERVALS)
def test_intervals_are_sets_of_moments(one, other):
    first, second = ({m for a, b in result for m in range(a, b)} for result in (one, other))
    both = common(union(one), union(other))
    assert {m for a, b in union(one) for m in range(a, b)} == first
    assert {m for a, b in both for m in range(a, b)} == first & second
    assert length(union(one)) == len(first)
    assert all(a < b for a, b in both)
    assert all(b < c for (_, b), (c, _) in zip(union(one), union(one)[1:], strict=False))


GRAPH = [compute("relax"), send("relax", 0, 1, 0), refresh("relax", 0), receive("relax", 1, 0), compute("update", 0)]


def on_a_host():
    return replay(
        host(0, 50, "compute", 0), host(50, 52, "free", 1), host(52, 58, "pack", 1), host(60, 64, "send", 1),
        host(64, 69, "copy", 2), host(69, 77, "receive", 3), host(77, 80, "unpack", 3), host(80, 95, "compute", 4),
        end=100,
    )  # fmt: skip


def test_one_thing_after_the_other():
    result, whole = shares(timeline(GRAPH, on_a_host()))
    assert whole == 100
    assert result == {
        ("relax", "compute"): 50,
        ("relax", "copy"): 6 + 5 + 3,
        ("relax", "communication"): 2 + 4 + 8,
        ("update", "compute"): 15,
    }


def test_what_is_hidden_does_not_count():
    """Packing and a wait beside a middle: only what reaches out of it is seen; so is a host that waits."""
    result, whole = shares(
        timeline(
            GRAPH,
            replay(
                plain(10, 60, "compute", 0), urgent(20, 30, "pack", 1), host(5, 70, "receive", 3),
                urgent(65, 75, "unpack", 3), plain(80, 90, "compute", 4),
            ),
        )
    )  # fmt: skip
    assert whole == 90
    assert result == {
        ("relax", "communication"): 5 + 5,  # before the computing, and after it until the unpacking begins
        ("relax", "compute"): 50,
        ("relax", "copy"): 10,
        ("update", "compute"): 10,
    }


def test_the_first_pass_of_a_graph_is_not_counted():
    first = replay(host(0, 1000, "compute", 0), fresh=True)
    second = replay(host(1000, 1010, "compute", 0), start=1000)
    third = replay(host(1015, 1025, "compute", 0), start=1015)
    again = replay(host(9000, 9010, "compute", 0), start=9000, fresh=True)
    last = replay(host(9020, 9040, "compute", 0), start=9020)
    result, whole = shares(timeline(GRAPH, first, second, third, again, last))
    assert result == {("relax", "compute"): 40}
    assert whole == 25 + 20  # with the 5 between two passes, without what comes before, between and in fresh ones


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.sampled_from(CATEGORIES)), max_size=8))
def test_moments_are_counted_once(drawn):
    kinds = {"compute": "compute", "copy": "pack", "communication": "receive"}
    claims = [(host(a, a + n, kinds[category]), (str(i), category)) for i, (a, n, category) in enumerate(drawn)]
    expected = {}
    for moment in range(40):
        present = [(CATEGORIES.index(share[1]), span.start, share) for span, share in claims
                 if span.start <= moment < span.end]  # fmt: skip
        if present:
            rank = min(present)[:2]
            assert rank[0] == min(result[0] for result in present)
            category = CATEGORIES[rank[0]]
            expected[category] = expected.get(category, 0) + 1
    totals = {}
    for (_, category), time in exclusive(claims).items():
        totals[category] = totals.get(category, 0) + time
    assert {category: time for category, time in totals.items() if time} == expected


def test_a_summary_adds_up():
    result = summarise([timeline(GRAPH, on_a_host(), block=b) for b in (0, 1)])
    assert result["passes"] == {"step": 1}
    assert result["seconds"] == pytest.approx(100e-9)
    assert result["shares"] == pytest.approx({"compute": 0.65, "copy": 0.14, "communication": 0.14, "rest": 0.07})
    assert list(result["phases"]) == ["relax", "update"]
    assert sum(sum(phase.values()) for phase in result["phases"].values()) == pytest.approx(0.93)
    assert result["overlap"]["fraction"] == 0.0
    assert result["overlap"]["exchange_seconds"] == pytest.approx(28e-9)
    assert result["host"] == {"calls_per_pass": 8, "call_microseconds": pytest.approx(7 / 8 * 1e-3)}


def test_a_profile_without_a_typical_pass_is_empty():
    assert summarise([timeline(GRAPH, replay(host(0, 9, "compute", 0), fresh=True))]) == {"passes": {}}
    assert summarise([]) == {"passes": {}}


def test_what_a_call_costs_the_host():
    """Ten calls in 90 ns, of which it waited 60; what the device does meanwhile, and afterwards, is not the host's."""
    spans = [plain(5, 180, "compute", 0), host(20, 80, "receive", 3)]
    result = summarise([timeline(GRAPH, replay(*spans, issued=90, calls=10))])
    assert result["host"] == {"calls_per_pass": 10, "call_microseconds": pytest.approx(3e-3)}
