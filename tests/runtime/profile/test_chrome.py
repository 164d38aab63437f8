"""Timelines as viewers of the Chrome trace event format read them."""

import json

import pytest

from taskflow.runtime.profile.chrome import chrome, flights, write_chrome
from tests.runtime.profile.made import compute, host, plain, receive, replay, send, timeline, urgent

SENDER = timeline([compute("relax"), send("relax", 0, 1, 0), send("relax", 0, 1, 0, number=1)],
                  replay(host(1000, 2000, "compute", 0), urgent(2000, 3000, "copy", 1), urgent(3000, 3200, "send", 1),
                         urgent(3200, 3400, "send", 2), start=1000))  # fmt: skip
RECEIVER = timeline([receive("relax", 0, 1), receive("relax", 0, 1, number=1), compute("relax", 0)],
                    replay(urgent(3500, 4000, "receive", 0), urgent(3300, 4500, "receive", 1),
                           plain(4500, 6500, "compute", 2), start=1500), block=1)  # fmt: skip


def events(trace, **about):
    return [event for event in trace["traceEvents"] if about.items() <= event.items()]


def rows(trace, block):
    """The names of the rows of a block by their numbers."""
    return {e["tid"]: e["args"]["name"] for e in events(trace, ph="M", pid=block, name="thread_name")}


def test_operations_are_in_the_rows_of_their_tracks_in_microseconds():
    trace = chrome([SENDER, RECEIVER])
    (relax,) = events(trace, pid=0, tid=0, cat="compute")
    assert (relax["ts"], relax["dur"], relax["name"]) == (0.0, 1.0, "relax(p) whole")
    assert relax["args"] == {"phase": "relax", "part": "whole", "pass": 0, "operation": "compute"}
    (late,) = events(trace, pid=1, tid=1, ph="X")
    assert (late["ts"], late["dur"]) == (3.5, 2.0)
    assert trace["otherData"]["begin_ns_since_epoch"] == 1000
    times = [event["ts"] for event in trace["traceEvents"] if event["ph"] != "M"]
    assert times == sorted(times)


def test_messages_have_a_row_each_while_they_are_under_way_and_arrows():
    """Two at one time: two rows at the receiver. An arrow leaves within the send and ends within the receive."""
    assert [(m.source, m.target, m.sent.kind) for m in flights([SENDER, RECEIVER])] == [(0, 1, "send"), (0, 1, "send")]
    trace = chrome([SENDER, RECEIVER])
    assert rows(trace, 0) == {0: "host", 2: "stream urgent"}
    assert rows(trace, 1) == {1: "stream plain", 2: "stream urgent", 3: "channel", 4: "channel 2"}
    first, second = events(trace, cat="message", ph="X")
    assert {first["tid"], second["tid"]} == {3, 4}
    assert (first["ts"], first["dur"]) == (2.0, 1.0)  # from the beginning of its send to the end of its receive
    for start, end in zip(events(trace, ph="s"), events(trace, ph="f"), strict=True):
        assert start["id"] == end["id"]
        assert (start["pid"], end["pid"]) == (0, 1)
        assert 2.0 <= start["ts"] <= end["ts"] <= 3.5


def test_a_row_is_used_again_when_its_message_has_arrived():
    sends = [send("relax", 0, 1, number=n) for n in range(3)]
    takes = [receive("relax", 0, 1, number=n) for n in range(3)]
    one = timeline(sends, replay(*(urgent(100 * n, 100 * n + 10, "send", n) for n in range(3))))
    other = timeline(takes, replay(*(urgent(100 * n, 100 * n + 50, "receive", n) for n in range(3))), block=1)
    assert {event["tid"] for event in events(chrome([one, other]), cat="message", ph="X")} == {3}


@pytest.mark.parametrize("lag", [-10_000, 0])
def test_a_message_that_would_arrive_before_it_was_sent_is_left_out(lag):
    """Clocks of two hosts disagree."""
    one = timeline([send("relax", 0, 1)], replay(urgent(20_000, 20_100, "send", 0), start=5000))
    came = urgent(20_000 + lag, 20_200 + lag, "receive", 0)
    other = timeline([receive("relax", 0, 1)], replay(came, start=5000), block=1)
    trace = chrome([one, other])
    assert bool(events(trace, cat="message")) == (lag == 0)
    assert len(events(trace, ph="X", tid=2)) == 2  # both operations stay


def test_a_file_is_json(tmp_path):
    write_chrome(tmp_path / "trace.json", [SENDER, RECEIVER])
    assert json.loads((tmp_path / "trace.json").read_text()) == json.loads(json.dumps(chrome([SENDER, RECEIVER])))
