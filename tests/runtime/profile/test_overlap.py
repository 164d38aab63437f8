"""How much of an exchange is hidden: known answers."""

from taskflow.runtime.profile.summary import overlap, summarise
from tests.runtime.profile.made import compute, host, plain, receive, refresh, replay, send, timeline, urgent

WHOLE = [compute("relax"), send("relax", 0, 1, 0), refresh("relax", 0), receive("relax", 1, 0), compute("update", 0)]
SPLIT = [compute("relax", part="edge"), compute("relax", part="middle"), send("relax", 0, 1, 0), receive("relax", 1, 0)]


def overlapped(graph, *spans):
    return overlap(timeline(graph, replay(*spans)))


def test_nothing_is_hidden_where_one_thing_follows_the_other():
    exchange = [host(20, 24, "pack", 1), host(24, 25, "send", 1), host(30, 50, "receive", 3), host(50, 53, "unpack", 3)]
    assert overlapped(WHOLE, host(0, 20, "compute", 0), *exchange, host(60, 80, "compute", 4)) == (33, 0)


def test_a_middle_on_the_host_hides_the_way_of_a_message():
    exchange = [host(10, 14, "pack", 2), host(14, 16, "send", 2), host(56, 57, "receive", 3), host(57, 60, "unpack", 3)]
    assert overlapped(SPLIT, host(0, 10, "compute", 0), *exchange, host(16, 56, "compute", 1)) == (50, 40)


def test_two_streams():
    """A whole exchange beside a middle, but for its end."""
    spans = [urgent(0, 10, "compute", 0), plain(10, 100, "compute", 1), urgent(12, 20, "pack", 2),
             host(0, 95, "receive", 3), urgent(96, 110, "unpack", 3)]  # fmt: skip
    assert overlapped(SPLIT, *spans) == (98, 88)


def test_memory_of_the_neighbour():
    """No packing: the send copies there itself, and the receive waits on the device."""
    spans = [plain(10, 100, "compute", 1), urgent(12, 20, "copy", 2), urgent(20, 22, "signal", 2),
             urgent(22, 42, "await", 3)]  # fmt: skip
    assert overlapped(SPLIT, *spans) == (30, 30)


def test_where_nothing_is_sent_an_exchange_begins_with_what_was_computed_before():
    graph = [compute("relax", part="edge"), compute("relax", part="middle"), receive("relax", 1, 0)]
    spans = [host(0, 10, "compute", 0), host(10, 40, "compute", 1), host(40, 45, "receive", 2)]
    assert overlapped(graph, *spans) == (35, 30)
    whole = [compute("relax"), receive("relax", 1, 0)]
    assert overlapped(whole, host(0, 40, "compute", 0), host(40, 45, "receive", 1)) == (5, 0)


def test_computing_of_the_next_pass_hides_too():
    first = replay(urgent(0, 10, "pack", 2), host(0, 30, "receive", 3), urgent(30, 40, "unpack", 3), end=40)
    second = replay(plain(20, 35, "compute", 1), start=20)
    assert overlap(timeline(SPLIT, first, second)) == (40, 15)


def test_refreshing_is_no_exchange():
    alone = timeline([compute("relax"), refresh("relax", 0)], replay(host(0, 9, "compute", 0)))
    assert overlap(alone) == (0, 0)
    assert summarise([alone])["overlap"]["fraction"] is None
