"""Numbers of states mean the same on all blocks, although each block knows only some of the ghost cells."""

import threading
import time
from dataclasses import dataclass

import numpy as np

from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.trace.traces import GhostStates
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Derive, LookupTable, Read, Write, task

SPACE = Region(Box.of((4, 4, 8)), FieldSpace([Field("p"), Field("q")]), (True, True, True))


class Blocks:
    """A gather between threads that ends where one of them does not take part."""

    def __init__(self, blocks):
        self._barrier, self._rows = threading.Barrier(blocks, timeout=600), [None] * blocks

    def gather(self, block):
        def gather(row):
            self._rows[block] = np.array(row)
            self._barrier.wait()
            result = np.stack(self._rows)
            self._barrier.wait()
            return result

        return gather


def together(count, job):
    """What `job(states, block)` returns on every block."""
    blocks, result = Blocks(count), [None] * count

    def main(block):
        result[block] = job(GhostStates(blocks.gather(block)), block)

    threads = [threading.Thread(target=main, args=(block,)) for block in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return result


def valid(*widths):
    """Valid ghost cells of some fields."""
    return {(0, f"f{n}"): (Box.of((width, 1, 1)),) for n, width in enumerate(widths) if width}


def test_a_state_that_one_block_tells_from_another_is_another_on_all():
    """Block 0 sees the same twice; block 1 does not, and later sees again what it saw first."""
    views = ([valid(1), valid(1), valid(1), valid(1)], [valid(2), valid(3), valid(2), valid(3)])
    result = together(2, lambda states, block: [states.number(view) for view in views[block]])
    assert result == [[1, 2, 1, 2]] * 2


def test_the_first_state_has_no_valid_cell():
    result = together(3, lambda states, block: [states.number({}), states.valid(0), states.number(valid(1))])
    assert result == [[0, {}, 1]] * 3
    views = ({}, valid(1), {})
    assert together(3, lambda states, block: states.number(views[block])) == [1, 1, 1]


def test_what_is_written_is_valid_no_more():
    def job(states, block):
        first = states.number(valid(1, 2) if block else valid(3))
        one, other = states.after_writing(first, ["f0"]), states.after_writing(first, ["f1", "f1"])
        again = states.after_writing(first, ("f0",))
        return first, one, other, again, states.valid(one), states.number(states.valid(one)), states.valid(first)

    zero, one = together(2, job)
    assert zero[:4] == one[:4] == (1, 2, 3, 2)
    assert zero[4] == {}
    assert one[4] == {(0, "f1"): (Box.of((2, 1, 1)),)}
    assert zero[5] == one[5] == 2, "block 0 alone would take it for the first state"
    assert one[6] == valid(1, 2), "a state never changes"


def test_numbers_do_not_grow_with_the_passes():
    def job(states, block):
        state, seen = 0, set()
        for turn in range(40):
            state = states.number(valid(1 + turn % 3, block))
            seen.add(state)
            state = states.after_writing(state, ["f0"])
            seen.add(state)
        return seen

    assert together(2, job) == [set(range(1, 7))] * 2


@dataclass(frozen=True)
class Weights:
    of: LookupTable


@task
def shifted(p: Read[1], q: Write, *, by: Weights) -> None:
    q[...] = by.of[0] * p[1, 0, 0]


class Remembering:
    """Works its weights out when they are first asked for, which takes a while, and without a lock."""

    weights = None

    def __call__(self, f):
        for _ in range(3):
            yield shifted("p", "q", over=SPACE.cells, by=self.worked_out())
            yield Derive(lambda scalars: {"n": 1.0}, ("n",))

    def worked_out(self):
        if self.weights is not None:
            return self.weights
        made = Weights(LookupTable(0, (2.0,)))
        time.sleep(0.1)
        self.weights = made
        time.sleep(0.1)  # another block puts its own in place of these
        return made


def test_blocks_agree_on_what_is_the_same_where_a_program_remembers():
    """Of the objects that two blocks would make, one would see the first twice, the other both."""
    program = Remembering()

    def job(shard):
        shard.meet()
        for _ in range(3):
            shard.run(program)

    run_threads(Partition(SPACE, (1, 1, 2)), job, cpu(1), Mapper("none"), patience=5)
