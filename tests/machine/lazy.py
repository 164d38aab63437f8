"""Lanes of a host that do what is enqueued later, in an order that chance chooses among those the rules allow.

A GPU takes one of these orders, mostly the same; here every seed takes another one.
"""

import random
import threading
from collections import deque
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from taskflow.machine.device import Cpu
from taskflow.machine.trace import replay
from taskflow.machine.trace.scalars import Scalars

_current = threading.local()


class Event:
    """A point in a lane. `recorded` counts how often it was enqueued, `reached` how often it was done."""

    def __init__(self, lane):
        self.lane, self.recorded, self.reached = lane, 0, 0

    def synchronize(self):
        wanted = self.recorded
        self.lane.world.work(self.lane, lambda: self.reached >= wanted)


class LazyLane:
    """A queue of calls, records (event) and waits (event, number of the record)."""

    asynchronous = True
    stream = None

    def __init__(self, world):
        self.world, self.queue = world, deque()
        world.lanes.append(self)

    def activate(self):
        _current.lane = self

    def active(self):
        return nullcontext()

    def event(self):
        return Event(self)

    def enqueue(self, call):
        self.queue.append(("call", call, 0))
        self.world.chance()

    def recorder(self, event):
        def record():
            event.recorded += 1
            event.lane = self
            self.queue.append(("record", event, event.recorded))

        return record

    def waiter(self, event):
        return lambda: self.queue.append(("wait", event, event.recorded))

    def synchronize(self):
        self.world.work(self, lambda: not self.queue)

    def reached(self):
        event = self.event()
        self.recorder(event)()
        wanted = event.recorded

        def ask():
            event.synchronize()
            return event.reached >= wanted

        return ask

    @property
    def stuck(self):
        """Whether there is nothing that could be done now."""
        return not self.queue or (self.queue[0][0] == "wait" and self.queue[0][1].reached < self.queue[0][2])

    def step(self):
        kind, what, number = self.queue.popleft()
        if kind == "call":
            before, _current.busy = getattr(_current, "busy", False), True
            what()
            _current.busy = before
        elif kind == "record":
            what.reached = number


class World:
    """The lanes of a block. `eagerness`: how much is done without need whenever something is enqueued."""

    def __init__(self, seed):
        self.random, self.lanes = random.Random(seed), []
        self.eagerness = self.random.choice((0.0, 0.3, 0.9))
        self.favourite = self.random.choice((None, 0, 1))  # the lane that goes first, if any

    def chance(self):
        while self.random.random() < self.eagerness and self.step():
            pass

    def work(self, lane, done):
        while not done():
            if self.eagerness == 0 and not lane.stuck:
                lane.step()  # no more than is needed
            elif not self.step():
                raise AssertionError("lanes wait for each other in a circle")

    def step(self):
        ready = [lane for lane in self.lanes if not lane.stuck]
        if self.favourite is not None and len(self.lanes) > 1 and not self.lanes[self.favourite].stuck:
            ready = [self.lanes[self.favourite]]
        if ready:
            self.random.choice(ready).step()
        return bool(ready)


class LazyCpu(Cpu):
    """A CPU whose arrays are read when the lane has got there, as those of a GPU are."""

    def to_host(self, array):
        if not getattr(_current, "busy", False):
            _current.lane.synchronize()
        return super().to_host(array)


def install(monkeypatch, seed, drop=lambda operation: False):
    """From now on shards have lazy lanes. `drop`: operations that are left out of every trace."""

    def lanes(device):
        world = World(f"{seed} {threading.current_thread().name}")
        return LazyLane(world), LazyLane(world)

    def calls(operations, pair, *, graphs):
        def later(operation):
            if operation.lane is None or operation.kind in ("record", "wait"):
                return operation
            return replace(operation, call=partial(pair[operation.lane].enqueue, operation.call))

        return replay.calls([later(op) for op in operations if not drop(op)], pair, graphs=False)

    def give(scalars, values):
        values = dict(values)
        for name in values:
            scalars.array(name)
            scalars._known[name] = None
        scalars._lane.enqueue(lambda: [scalars.array(name).fill(value) for name, value in values.items()])

    monkeypatch.setattr("taskflow.machine.shard.lanes", lanes)
    monkeypatch.setattr("taskflow.machine.shard.calls", calls)
    monkeypatch.setattr(Scalars, "set", give)
