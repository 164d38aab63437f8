"""Lanes of a host that do what is enqueued later, in an order that chance chooses among those the rules allow.

A GPU takes one of these orders, mostly the same; here every seed takes another one.
"""

import random
import threading
import time
from collections import deque
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from taskflow.runtime.machine.device import Cpu
from taskflow.runtime.machine.trace.scalars import Scalars
from taskflow.runtime.machine.trace.traces import calls as replayed

LIMIT = 300.0  # seconds that a lane may wait for what another block has not enqueued
_current = threading.local()


class Event:
    """A point in a lane. `recorded` counts how often it was enqueued, `reached` how often it was done."""

    def __init__(self, lane):
        self.lane, self.recorded, self.reached = lane, 0, 0

    def synchronize(self):
        goal = self.recorded
        self.lane.world.work(self.lane, lambda: self.reached >= goal)


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
        """A call, or several of which each may be `ready` at some time, and then has calls to be done in any order."""
        with self.world.lock:
            for part in call if isinstance(call, list) else [call]:
                self.queue.append(("call", part, 0))
        self.world.chance()

    def recorder(self, event):
        def record():
            with self.world.lock:
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
        goal = event.recorded

        def ask():
            event.synchronize()
            return event.reached >= goal

        return ask

    @property
    def stuck(self):
        """Whether there is nothing that could be done now."""
        if not self.queue:
            return True
        kind, what, number = self.queue[0]
        if kind == "wait":
            return what.reached < number
        return kind == "call" and hasattr(what, "ready") and not what.ready()

    def step(self):
        kind, what, number = self.queue.popleft()
        if kind == "call":
            before, _current.busy = getattr(_current, "busy", False), True
            calls = list(getattr(what, "calls", (what,)))
            self.world.random.shuffle(calls)
            for call in calls:
                call()
            _current.busy = before
        elif kind == "record":
            what.reached = number


class World:
    """The lanes of a block, or, `shared`, of all blocks. `eagerness`: how much is done without need whenever something
    is enqueued. Whoever waits does what there is to do, on whatever lane.
    """

    def __init__(self, seed, *, shared=False):
        self.random, self.lanes, self.shared, self.lock = random.Random(seed), [], shared, threading.RLock()
        self.eagerness = self.random.choice((0.0, 0.3, 0.9))
        every = 2 * [lambda n: True], [lambda n: n % 2 == 0, lambda n: n % 2 == 1], [lambda n: n < 2, lambda n: n > 1]
        self.favourite = self.random.choice([one for some in every for one in some])  # the lanes that go first

    def chance(self):
        with self.lock:
            while self.random.random() < self.eagerness and self.step():
                pass

    def work(self, lane, done):
        limit = time.monotonic() + LIMIT
        while True:
            with self.lock:
                if done():
                    return
                moved = self.step(only=lane if self.eagerness == 0 and not lane.stuck else None)
            if moved:
                limit = time.monotonic() + LIMIT
            elif not self.shared or time.monotonic() > limit:
                raise AssertionError("lanes wait for each other in a circle")
            else:
                time.sleep(1e-4)  # another block's host has not enqueued it yet

    def step(self, only=None):
        """Do something that can be done now, on one lane only or on any; whether there is such a thing."""
        if only is not None:
            only.step()
            return True
        ready = [(n, lane) for n, lane in enumerate(self.lanes) if not lane.stuck]
        first = [lane for n, lane in ready if self.favourite(n)]
        if ready:
            self.random.choice(first or [lane for _, lane in ready]).step()
        return bool(ready)


class LazyCpu(Cpu):
    """A CPU whose arrays are read when the lane has got there, as those of a GPU are."""

    def to_host(self, array):
        if not getattr(_current, "busy", False):
            _current.lane.synchronize()
        return super().to_host(array)


def install(monkeypatch, seed, drop=lambda operation: False, shared=None):
    """From now on shards have lazy lanes, in a world of their own or a shared one. `drop`: operations that are left out
    of every trace.
    """

    def lanes(device):
        world = shared or World(f"{seed} {threading.current_thread().name}")
        with world.lock:
            return LazyLane(world), LazyLane(world)

    def calls(operations, pair, *, graphs):
        def later(operation):
            if operation.lane is None or operation.kind in ("record", "wait"):
                return operation
            return replace(operation, call=partial(pair[operation.lane].enqueue, operation.call))

        return replayed([later(op) for op in operations if not drop(op)], pair, graphs=False)

    def put(scalars, values):
        scalars._lane.enqueue(lambda: [scalars._memory.put(place, value) for place, value in values.items()])

    monkeypatch.setattr("taskflow.runtime.machine.shard.lanes", lanes)
    monkeypatch.setattr("taskflow.runtime.machine.trace.traces.calls", calls)
    monkeypatch.setattr(Scalars, "_put", put)
