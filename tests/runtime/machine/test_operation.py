"""Joining of what messages need: waits, copies and signals that follow each other on a lane are one launch each, and
nothing that has to come before something else comes after it.
"""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from taskflow.runtime.machine.trace.operation import Listing, Operation

KINDS = ("await", "pack", "signal")


def bound(kind, items, lane):
    """One call per three items, which tells what it does."""
    return [partial(tuple, items[n : n + 3]) for n in range(0, len(items), 3)]


def sent(claims, copies, flags, lane, nodes):
    """One call that waits, copies, and then signals."""
    return [partial(tuple, [*claims, *copies, *flags])]


class Script:
    """A listing, and what it was made of."""

    def __init__(self):
        self.listing = Listing(bound, sent)
        self.added = []

    def join(self, kind, lane=1, count=1):
        node = len(self.added)
        self.added.append((kind, lane))
        self.listing.join(kind, lane, node, [f"{kind}{node}.{n}" for n in range(count)])
        return self

    def add(self, kind, lane):
        self.listing.add([Operation(lambda: (), kind, (len(self.added),), lane)])
        self.added.append((kind, lane))
        return self

    def listed(self):
        """(kind, nodes) in order."""
        return [(op.kind, op.nodes) for op in self.listing.operations()]


def test_what_travels_at_one_moment_is_one_wait_one_copy_one_signal():
    script = Script().join("await").join("await").join("pack").join("signal").join("pack").join("signal")
    assert script.listed() == [("await", (0, 1)), ("pack", (2, 4)), ("signal", (3, 5))]


def test_a_wait_a_copy_and_a_signal_are_one_launch():
    script = Script().join("await").join("await", 0).join("await").join("pack").join("signal")
    calls = {op.nodes: op.call() for op in script.listing.operations()}
    sent = "await0.0", "await2.0", "pack3.0", "signal4.0"
    assert calls == {(0, 2): None, (1,): ("await1.0",), (3,): sent, (4,): None}


def test_a_wait_for_what_is_unpacked_first_is_a_launch_of_its_own():
    script = Script().join("await").add("compute", 1).join("pack").join("signal")
    results = [op.call() for op in script.listing.operations()]
    assert results == [("await0.0",), (), ("pack2.0", "signal3.0"), None]


def test_a_wait_is_never_earlier_than_a_copy_or_a_signal_before_it():
    script = Script().join("await").join("signal").join("await").join("pack").join("await")
    assert script.listed() == [("await", (0,)), ("signal", (1,)), ("await", (2,)), ("pack", (3,)), ("await", (4,))]


def test_a_copy_goes_before_a_signal_that_waits_for_no_copy():
    assert Script().join("signal").join("pack").join("signal").listed() == [("pack", (1,)), ("signal", (0, 2))]


def test_work_on_the_lane_parts_what_stands_around_it():
    for kind in ("compute", "record", "wait"):
        script = Script().join("await").add(kind, 1).join("await")
        assert script.listed() == [("await", (0,)), (kind, (1,)), ("await", (2,))]


def test_work_on_another_lane_does_not():
    script = Script().join("signal", 1).add("compute", 0).join("signal", 1).join("signal", 0)
    assert script.listed() == [("signal", (0, 2)), ("compute", (1,)), ("signal", (3,))]


def test_what_the_host_does_parts_all_lanes():
    script = Script().join("await", 0).join("await", 1).add("receive", None).join("await", 0).join("await", 1)
    assert script.listed() == [("await", (0,)), ("await", (1,)), ("receive", (2,)), ("await", (3,)), ("await", (4,))]


def test_a_node_counts_once_and_its_items_all():
    listing = Script().join("pack", count=2).join("pack", count=2).listing
    result = listing.operations()
    assert [op.nodes for op in result] == [(0, 1)] * 2, "two launches for four items, both of all nodes"
    assert [item for op in result for item in op.call()] == ["pack0.0", "pack0.1", "pack1.0", "pack1.1"]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("join"), st.sampled_from(KINDS), st.sampled_from((0, 1))),
            st.tuples(st.just("add"), st.sampled_from(("compute", "record", "wait")), st.sampled_from((0, 1))),
            st.tuples(st.just("add"), st.sampled_from(("send", "receive")), st.none()),
        ),
        max_size=14,
    )
)
def test_no_order_that_counts_is_lost(steps):
    """Whatever was given before something else on a lane, or before the host, comes before it still, but for a copy
    that overtakes signals, and what is alike.
    """
    script = Script()
    for what, kind, lane in steps:
        getattr(script, what)(kind, lane)
    result = [(n, place) for place, (_, nodes) in enumerate(script.listed()) for n in nodes]
    assert sorted({n for n, _ in result}) == list(range(len(steps)))
    place = dict(result)
    for b, (_, later, lane) in enumerate(steps):
        for a, (_, earlier, other) in enumerate(steps[:b]):
            if None in (lane, other) or lane == other:
                free = (earlier, later) == ("signal", "pack") or (earlier == later and earlier in KINDS)
                assert place[a] < place[b] or (free and None not in (lane, other)), (steps, a, b)
