"""The critical path: known answers on one block and over two."""

from taskflow.runtime.profile.summary import critical_path, path_of
from tests.runtime.profile.made import allreduce, compute, host, plain, receive, replay, send, timeline, urgent


def test_a_diamond_takes_its_longer_side():
    graph = [compute("a"), compute("b", 0), compute("c", 0), compute("d", 1, 2)]
    spans = [plain(0, 10, "compute", 0), plain(10, 15, "compute", 1), urgent(10, 40, "compute", 2),
             plain(40, 41, "compute", 3)]  # fmt: skip
    assert path_of([graph], [replay(*spans)]) == [("a whole", 10), ("c whole", 30), ("d whole", 1)]


def test_slabs_of_an_operation_count_together():
    graph = [compute("a"), compute("b", 0)]
    spans = [host(0, 5, "compute", 0), host(5, 9, "compute", 1), host(9, 15, "compute", 0), host(15, 20, "compute", 1)]
    assert path_of([graph], [replay(*spans)]) == [("a whole", 11), ("b whole", 9)]


def test_pieces_of_one_operation_count_once():
    """What they reduce is folded in their order, but they are done together."""
    graph = [compute("a"), compute("a", 0), compute("b", 1)]
    spans = [host(0, 5, "compute", 0, 1), host(5, 9, "compute", 2)]
    assert [time for _, time in path_of([graph], [replay(*spans)])] == [5, 4]


def test_a_message_counts_from_when_it_was_sent():
    """Block 1 waits from 0 to 37, for what block 0 sends at 30: the wait itself is no work."""
    first = [compute("a"), send("a", 0, 1, 0)]
    second = [receive("a", 0, 1), compute("b", 0)]
    left = replay(host(0, 20, "compute", 0), host(20, 25, "pack", 1), host(25, 30, "send", 1))
    right = replay(host(0, 37, "receive", 0), host(37, 40, "unpack", 0), host(40, 60, "compute", 1))
    assert path_of([first, second], [left, right]) == [
        ("a whole", 20),
        ("send (a)", 10),
        ("receive (a)", 10),
        ("b whole", 20),
    ]


def test_a_message_that_came_before_its_send_returned():
    first = [compute("a"), send("a", 0, 1, 0)]
    second = [receive("a", 0, 1), compute("b", 0)]
    left = replay(host(0, 20, "compute", 0), host(20, 90, "send", 1))
    right = replay(host(0, 40, "receive", 0), host(40, 130, "compute", 1))
    path = [("a whole", 20), ("send (a)", 20), ("b whole", 90)]
    assert path_of([first, second], [left, right]) == path


def test_a_send_is_not_counted_while_it_waits_for_its_packing():
    graph = [compute("a"), send("a", 0, 1, 0)]
    spans = [host(0, 52, "send", 1), plain(5, 40, "compute", 0), plain(42, 47, "pack", 1)]
    assert path_of([graph], [replay(*spans)]) == [("a whole", 35), ("send (a)", 12)]


def test_an_all_reduce_waits_for_the_slowest_block():
    graph = [compute("a"), allreduce("a", 0)]
    quick = replay(host(0, 5, "compute", 0), host(5, 53, "reduce", 1))
    slow = replay(host(0, 50, "compute", 0), host(50, 53, "reduce", 1))
    assert path_of([graph, graph], [quick, slow]) == [("a whole", 50), ("allreduce (a)", 3)]


def test_paths_of_all_typical_passes_together():
    graph = [compute("a"), compute("b", 0)]

    def block(number):
        first = replay(host(0, 900, "compute", 0), fresh=True)
        second = replay(host(1000, 1010, "compute", 0), host(1010, 1030, "compute", 1), start=1000, end=1040)
        third = replay(host(1050, 1060, "compute", 0), host(1060, 1090, "compute", 1), start=1050, end=1100)
        return timeline(graph, first, second, third, block=number)

    operations, duration = critical_path([block(0), block(1)])
    assert (operations.total(), duration) == (70, 90)
    assert operations == {"a whole": 20, "b whole": 50}


def test_no_pass_that_all_blocks_did_is_no_path():
    assert critical_path([timeline([compute("a")])]) == ({}, 0)
