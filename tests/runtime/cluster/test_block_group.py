"""What the client makes of blocks that are slow, silent or gone; their actors are played, and so is the clock."""

import time
from types import SimpleNamespace

import pytest

from taskflow.common.errors import BadInput, ChannelError, Lost
from taskflow.runtime.cluster import BlockGroup
from taskflow.runtime.cluster.block_group import CALL, LONG, SLICE, by_host
from taskflow.runtime.cluster.watch import PATIENCE, watch
from taskflow.runtime.host.heartbeat import SILENCE
from taskflow.runtime.machine import Status
from taskflow.runtime.machine.channel import Address
from taskflow.runtime.machine.channel.peer import PeerOffer


class Clock:
    """Goes on where somebody waits."""

    now = 0.0


class Reply:
    """What comes back after so many seconds."""

    def __init__(self, value, seconds=0.0):
        self.value, self.at = value, Clock.now + seconds

    def done(self):
        return Clock.now >= self.at

    def result(self, timeout):
        Clock.now = min(Clock.now + timeout, max(Clock.now, self.at))
        if not self.done():
            raise TimeoutError
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


class Heart:
    """Heartbeats of workers, of which some are silent."""

    def __init__(self, *silent):
        self.silent, self.seconds = silent, 0.0

    def lost(self, workers):
        self.seconds += SLICE
        return {worker: "no sign of life" for worker in workers if worker in self.silent and self.seconds >= SILENCE}


class Actor:
    """The leader of a host with a single block. Answers `start` after so many seconds, and says after so many more how
    it is.
    """

    block = 0

    def __init__(self, start=0.0, status=0.0, value=None, told=None):
        self.begins, self.tells, self.value, self.closed, self.asked = start, status, value, False, 0
        self.told = told or Status("running", {"step": 3})

    def start(self, jobs, patience, seconds):
        return Reply({self.block: self.value or self.told}, self.begins)

    def status(self, patience):
        self.asked += 1
        return Reply({self.block: self.told}, self.tells + patience)

    def statuses(self):
        return self.status(0.0)

    def call(self, method, arguments=None, seconds=CALL):
        return Reply({self.block: None})

    def close(self):
        self.closed = True
        return Reply(None)


class Gone:
    """As Dask's handle of an actor whose worker has died."""

    def __getattr__(self, name):
        raise RuntimeError("Worker holding Actor was lost")


def played_group(*actors, silent=()):
    """A group of these, at work; the processes of the `silent` ones show no sign of life."""
    played = object.__new__(BlockGroup)
    played._heartbeats = Heart(*(f"tcp://{block}" for block in silent))
    played.workers = [f"tcp://{block}" for block in range(len(actors))]
    played._hosts, played._leaders = by_host(played.workers), dict(zip(played.workers, actors, strict=True))
    played._live, played._polls, played._left, played._lost = [*played._hosts], {}, {}, {}
    played._futures = {worker: SimpleNamespace(key=worker) for worker in played.workers}
    played._client = SimpleNamespace(status="closed")
    played._turns, played._blocks = 0.0, {worker: [n] for n, worker in enumerate(played.workers)}
    played._statuses = [Status("running", {"step": 2})] * len(actors)
    for block, actor in enumerate(actors):
        if isinstance(actor, Actor):
            actor.block = block
    return played


def polled(blocks):
    """The statuses once one has failed."""
    while True:
        began = Clock.now
        statuses = blocks.poll(0.2)
        if any(status.error is not None for status in statuses):
            return statuses
        Clock.now = max(Clock.now, began + 0.2)  # as `watch` waits


def test_who_is_busy_is_waited_for():
    """A job can take minutes to be unpacked; the block answers meanwhile."""
    busy = Actor(start=100)
    played_group(busy, Actor()).start([None, None])
    assert busy.asked >= 1


@pytest.mark.parametrize("silent", [Actor(start=1e6, status=1e6), Gone()], ids=["frozen", "dead"])
def test_who_is_gone_is_not_waited_for_twice(silent):
    blocks = played_group(Actor(), silent)
    with pytest.raises(Lost, match="block 1 on worker tcp://1 does not answer") as lost:
        blocks.start([None, None])
    assert lost.value.workers == {"tcp://1"}
    begin = Clock.now
    blocks.abort("a block was lost")
    states = [status.state for status in blocks.status()]
    blocks.close()
    assert states == ["running", "failed"]
    assert Clock.now - begin < 20


@pytest.mark.parametrize("told", [{"step": 2}, {}], ids=["at work", "before its first word"])
def test_a_silent_process_is_lost_in_seconds_with_what_it_told_last(told):
    blocks = played_group(Actor(), Actor(status=1e6), silent=[1])
    blocks._statuses = [Status("running", told)] * 2
    begin = Clock.now
    statuses = polled(blocks)
    assert Clock.now - begin < 5
    assert [status.state for status in statuses] == ["running", "failed"]
    assert statuses[1].progress == told
    assert "no sign of life" in str(statuses[1].error)


def test_who_is_long_at_something_may_die_of_it():
    begin = Clock.now
    with pytest.raises(Lost, match=r"block 0 on worker tcp://0 .*no sign of life"):
        played_group(Actor(start=500, status=1e6), Actor(), silent=[0]).start([None, None])
    assert Clock.now - begin < 5


def test_a_busy_process_is_not_a_dead_one():
    """Its interpreter is held, say by a library that is loaded; its heart beats."""
    blocks = played_group(Actor(), Actor(status=20))
    for _ in range(50):
        assert [status.state for status in blocks.poll(0.2)] == ["running", "running"]


def test_but_an_hour_is_too_long():
    blocks = played_group(Actor(), Actor(status=3600))
    begin = Clock.now
    statuses = polled(blocks)
    assert CALL <= Clock.now - begin < CALL + LONG + 2
    assert [status.state for status in statuses] == ["running", "failed"]
    assert [status.progress["step"] for status in statuses] == [3, 2]
    assert blocks.blamed(statuses) == {"tcp://0", "tcp://1"}  # the other one did not end, either
    assert blocks.status()[1].failed_at == statuses[1].failed_at


def test_what_a_block_says_is_told_rather_than_what_others_miss():
    refused = Actor(value=BadInput("machine.device"))
    with pytest.raises(BadInput, match=r"machine\.device"):
        played_group(Actor(value=ChannelError("a message was lost")), refused).start([None, None])
    assert played_group(refused).blamed([Status("failed", {}, BadInput("no"))]) == set()


@pytest.mark.parametrize("channel", ["auto", "peer"])
@pytest.mark.parametrize("hosts", ["aaa", "aab"])
def test_blocks_offer_more_only_where_some_are_out_of_reach(hosts, channel):
    """What reaches other hosts is slow to load."""
    calls = []

    class Connected(Actor):
        def __init__(self, block):
            super().__init__()
            self.block = block

        def call(self, method, arguments=None, seconds=CALL):
            calls.append((method, self.block))
            offers = {"peer": PeerOffer(hosts[self.block], "door")}
            offers |= {"ucx": None} if method == "widen" else {}
            return Reply({self.block: Address("run", self.block, f"process {self.block}", offers)})

        def connect(self, addresses, seconds):
            calls.append(("connect", self.block, *("ucx" in address.offers for address in addresses.values())))
            return Reply({self.block: {}})

    group = played_group(*map(Connected, range(3)))

    class Line(tuple):
        neighbours = ({1}, {0, 2}, {1})

    group.plan = SimpleNamespace(partition=Line(range(3)), channel=channel)
    group.connect()
    far = hosts == "aab" and channel == "auto"
    assert [block for call, block, *_ in calls if call == "widen"] == [0, 1, 2] * far
    assert {peer for call, _, *peers in calls if call == "connect" for peer in peers} == {far}


def test_nobody_asks_again_at_once():
    """Not even where a block says without waiting that it is at work."""
    answers = iter([*["running"] * 3, "finished"])

    def answer(*_):
        return [Status(next(answers), {})]

    group = SimpleNamespace(start=answer, poll=answer)
    began = time.monotonic()
    statuses, came = watch(group, [None])
    assert (statuses[0].state, came) == ("finished", None)
    assert time.monotonic() - began >= 3 * PATIENCE
