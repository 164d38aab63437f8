"""Direct transfers between blocks of one process, without GPUs: all that stands in memory is where it is on GPUs, at
real addresses, and copies, flags and reductions are done by lazy lanes, in any order that the flags allow.

The exchange, its boards and inboxes, and everything above are those of a run; the launches are written anew.
"""

import ctypes
import operator
import time
from functools import reduce
from types import SimpleNamespace

import numpy as np

from taskflow.runtime.machine import Shard
from taskflow.runtime.machine.direct import exchange, flags
from taskflow.runtime.machine.direct.board import NUMBER, Board, Inboxes
from taskflow.runtime.machine.direct.exchange import DirectExchange, Neighbourhood
from taskflow.runtime.tasks import IDENTITY

FOLD = {"sum": operator.add, "max": max, "min": min}
MEMORY = SimpleNamespace(
    ndarray=np.ndarray,
    cuda=SimpleNamespace(
        UnownedMemory=lambda pointer, nbytes, owner, device: (ctypes.c_ubyte * nbytes).from_address(pointer),
        MemoryPointer=lambda memory, offset: memory,
    ),
)


def word(address):
    """The unsigned number at an address."""
    return ctypes.c_uint32.from_address(address)


def number(address):
    """The real number at an address."""
    return ctypes.c_double.from_address(address)


class Parts:
    """What a launch does at the same time, as several calls in any order; it begins when it is `ready`."""

    def __init__(self, *calls, ready=lambda: True):
        self.calls, self.ready = calls, ready


class Near(Neighbourhood):
    """The blocks that `meeting` has, by number, as far as this one sees them."""

    def __init__(self, shard, meeting, sees, gather):
        self.partition, self.block, self.instances = shard.partition, shard.block, shard.instances
        self.device = SimpleNamespace(kind="cpu", threads=1, ordinal=0, xp=MEMORY)
        blocks, self.inboxes = len(self.partition), Inboxes(self.partition)
        self._keep = np.zeros((Board(blocks).nbytes + self.inboxes.nbytes(self.block)) // NUMBER + 1)
        self.board = Board(blocks, self._keep.ctypes.data)
        meeting[self.block] = self
        gather(np.zeros(1, np.uint8))  # all are there
        mine = [n for n in range(blocks) if n == self.block or sees(n, self.block)]
        self.boards = {n: meeting[n].board for n in mine}
        self.fields = {n: meeting[n].instances for n in mine if n != self.block}
        whole = all(sees(m, n) for m in range(blocks) for n in range(m))
        self._links = SimpleNamespace(complete=whole, close=lambda: None)
        self.watch = SimpleNamespace(argument=None, name=lambda what: 0, check=lambda: None, wait=wait)

    def exchange(self, messages):
        return LazyExchange(self, messages)


def wait(done):
    """Until it is done."""
    while not done():
        time.sleep(0)


class LazyExchange(DirectExchange):
    """The reductions of a trace; all else is that of a run."""

    def fold(self, node, values, contributes, lane):
        near, fold = self._near, self._folds
        self._folds += 1
        boards, blocks = [near.boards[n] for n in range(len(near.partition))], range(len(near.partition))
        mine, count = near.board, word(near.board.folded(fold))

        def place(n):
            return NUMBER * len(blocks) * (2 * n + ((count.value + 1) & 1))

        def share(board):
            for n, (value, how) in enumerate(zip(values, node.scalars.values(), strict=True)):
                share = value[0] if contributes else IDENTITY[how]
                number(board.share(fold, near.block) + place(n)).value = share
            word(board.shared(fold, near.block)).value = count.value + 1

        def result():
            for n, (value, how) in enumerate(zip(values, node.scalars.values(), strict=True)):
                first, *others = (number(mine.share(fold, block) + place(n)).value for block in blocks)
                value[0] = reduce(FOLD[how], others, first) + 0.0
            count.value += 1

        shared = Parts(result, ready=lambda: all(word(mine.shared(fold, n)).value > count.value for n in blocks))
        return [Parts(*(lambda board=board: share(board) for board in boards)), shared]


def post(posted, lane):
    """Each flag once more."""

    def one(flag):
        word(flag.count).value += 1
        word(flag.address).value = word(flag.count).value

    return [Parts(*(lambda flag=flag: one(flag) for flag in posted))]


def await_flags(posted, watch, lane):
    """Nothing, once all have been posted once more."""

    def seen():
        for flag in posted:
            word(flag.count).value += 1

    return [Parts(seen, ready=lambda: all(word(flag.address).value > word(flag.count).value for flag in posted))]


def copy(pairs, device, lane):
    """All copies of a launch."""

    def one(target, source):
        target[...] = source

    return [Parts(*(lambda pair=pair: one(*pair) for pair in pairs))]


def install(monkeypatch, sees):
    """From now on blocks that see each other, as `sees` tells of two, fill each other's ghost cells."""
    meeting = {}
    monkeypatch.setattr(Shard, "_neighbourhood", lambda shard, channel: Near(shard, meeting, sees, shard.gather))
    monkeypatch.setattr(flags, "post", post)
    monkeypatch.setattr(flags, "await_flags", await_flags)
    monkeypatch.setattr(flags, "copy_and_post", lambda *_, **__: [])
    monkeypatch.setattr(exchange, "copiers", lambda device, pairs, lane: copy(list(pairs), device, lane))
