"""Programs on several regions do what one processor would do, bit for bit, on any blocks, and are proved."""

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu, gpu
from taskflow.runtime.proof import Hardware, prove
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import (
    Coloured,
    Foreign,
    Read,
    Reduce,
    Roles,
    Write,
    analyse,
    exchange,
    lines,
    offsets,
    record,
    serial,
    task,
)
from tests.runtime.machine.levels import Levels, partition, reference, restrict

PERIODIC = [(False, False, False), (True, False, True), (True, True, True)]
BLOCKS = [(1, 1, 1), (1, 1, 2), (1, 1, 3), (2, 1, 2), (2, 2, 1)]
PASSES = 3


def on_blocks(cells, blocks, periodic, overlap="none", device=None, debug=False):
    """p after some passes, from the cells of all blocks."""
    where = partition(cells, blocks, periodic)
    start = np.random.default_rng(1).random(cells[::-1])
    whole = np.empty_like(start)

    def job(shard):
        mine = shard.cells.slices((0, 0, 0))
        shard.write({"p": start[mine]})
        for _ in range(PASSES):
            shard.run(Levels(where))
        whole[mine] = shard.read("p")

    run_threads(where, job, device or cpu(1), Mapper(overlap, debug=debug))
    return start, whole


@pytest.mark.parametrize("periodic", PERIODIC)
@pytest.mark.parametrize("cells", [(6, 4, 8), (5, 7, 9)])
def test_one_block_does_what_is_written(cells, periodic):
    start, result = on_blocks(cells, (1, 1, 1), periodic)
    np.testing.assert_array_equal(result, reference(start, periodic, PASSES))


@pytest.mark.fast(
    "blocks0-periodic2-full", "blocks1-periodic1-full", "blocks2-periodic0-none", "blocks2-periodic2-full",
    "blocks3-periodic1-none",
)  # fmt: skip
@pytest.mark.parametrize("overlap", ["none", "full"])
@pytest.mark.parametrize("periodic", PERIODIC)
@pytest.mark.parametrize("blocks", BLOCKS[1:])
def test_blocks_change_no_bit(blocks, periodic, overlap):
    cells = (6, 7, 12) if periodic[0] else (7, 6, 11)
    alone, cut = on_blocks(cells, (1, 1, 1), periodic), on_blocks(cells, blocks, periodic, overlap)
    np.testing.assert_array_equal(cut[1], alone[1])


@pytest.mark.gpu
@pytest.mark.parametrize("periodic", PERIODIC)
@pytest.mark.parametrize("blocks", BLOCKS)
def test_a_gpu_changes_no_bit(blocks, periodic):
    cells = (36, 8, 12)
    host, device = on_blocks(cells, (1, 1, 1), periodic), on_blocks(cells, blocks, periodic, "full", gpu())
    np.testing.assert_array_equal(device[1], host[1])


@pytest.mark.multigpu
@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 1)])
def test_gpus_that_see_each_other_change_no_bit(blocks, overlap):
    cells, periodic = (132, 8, 12), (True, False, True)
    host, device = (
        on_blocks(cells, (1, 1, 1), periodic),
        on_blocks(cells, blocks, periodic, overlap, [gpu(0), gpu(1)]),
    )
    np.testing.assert_array_equal(device[1], host[1])


@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 2)])
def test_nothing_is_read_that_was_not_filled(blocks):
    cells, periodic = (6, 4, 8), (True, False, True)
    np.testing.assert_array_equal(
        on_blocks(cells, blocks, periodic, debug=True)[1], on_blocks(cells, (1, 1, 1), periodic)[1]
    )


@pytest.mark.fast("blocks0-near1-full", "blocks1-None-comm", "blocks1-near1-none")
@pytest.mark.parametrize("overlap", ["none", "comm", "full"])
@pytest.mark.parametrize("near", [None, (0, 0)])
@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 1)])
def test_the_templates_are_proved(blocks, near, overlap):
    where = partition((6, 4, 8), blocks, (False, True, True))
    proof = prove(where, {Levels(where): ()}, Mapper(overlap), Hardware(True, near))
    proof.hold()
    assert proof.reads > 1000


def test_a_replicated_launch_gathers_and_its_readers_find_everything_at_home():
    where = partition((8, 8, 8), (1, 1, 2), (False, False, False))
    launches, _ = record(Levels(where), Roles.of(tuple(where.fields)))
    messages = [m for moment in exchange(launches, where).messages.values() for m in moment if m.source != m.target]
    moved = dict.fromkeys(where.fields, 0)
    for name, copy in (item for message in messages for item in message.copies):
        moved[name] += copy.source_box.volume
    assert moved["c"] == 2 * 4 * 4 * 2  # either half to the other block
    assert moved["r"] == moved["s"] == moved["q"] == 0
    # a plane each way per colour; for `restrict` the same with boundary layers; half of each column for `line`
    assert moved["p"] == 2 * (64 + 64) + 2 * 10 * 10 + 8 * 8 * 4
    assert moved["q_new"] == 8 * 8


@task
def total(r: Read, *, whole: Reduce["sum"], top: Reduce["max"]) -> None:
    """The sum of r and its largest value"""
    whole.fold(r[...])
    top.fold(r[...])


@task(
    kernel="""
TASK total_of(Range range, In r, Partial whole) {
  reduce_cells(range, whole, SUM, CELL(c) { return r[c]; });
}
"""
)
def total_of(r: Read, *, whole: Reduce["sum"]) -> None:
    """The sum of r"""


def totals(cells):
    """A program that folds a field which all blocks have, and one that is spread over them."""

    def program(f):
        for name in (f.r, f.c):
            yield total(name, over=cells, whole=f"sum of {name}", top=f"top of {name}")
            yield total_of(name, over=cells, whole=f"kernel's sum of {name}")

    return program


@pytest.mark.parametrize("blocks", BLOCKS)
def test_what_all_blocks_have_is_reduced_once(blocks):
    where = partition((6, 7, 12), blocks, (False, False, False))
    cells = where.beside[1].region.cells

    def job(shard):
        for name in ("r", "c"):
            shard.write({name: np.ones(shard.partition.homes[name].blocks[shard.block].shape[::-1])})
        shard.run(totals(cells))
        return dict(shard.scalars)

    expected = {f"{kind} of {name}": cells.volume for name in "rc" for kind in ("sum", "kernel's sum")}
    for result in run_threads(where, job, cpu(1)):
        assert result == expected | {"top of r": 1, "top of c": 1}


def test_what_all_blocks_have_is_reduced_once_in_any_order_of_the_graph():
    where = partition((6, 7, 12), (1, 1, 3), (False, False, False))
    cells = where.beside[1].region.cells
    launches = [total(name, over=cells, whole=f"sum of {name}", top=f"top of {name}") for name in "rc"]
    graph, memory = analyse(launches, where).graph, {name: np.ones((8, 6, 5)) for name in "rc"}
    scalars = [{} for _ in range(3)]
    serial.run_graph(graph, graph.order(lambda _: 0), where, serial.scatter(where, memory), scalars)
    assert scalars == [{"sum of r": 72, "top of r": 1, "sum of c": 72, "top of c": 1}] * 3


@pytest.mark.parametrize("near", [None, (0, 0)])
def test_reductions_over_what_all_blocks_have_are_proved(near):
    where = partition((6, 4, 8), (1, 1, 2), (False, False, False))
    prove(where, {totals(where.beside[1].region.cells): ()}, Mapper("full"), Hardware(True, near)).hold()


@task
def beside(p: Foreign[offsets(x=(0, 9))], c: Write) -> None:
    """Reaches beyond the memory of a block."""
    c[...] = p[...][0, 0, 0]


@task
def across(p: Read, c: Write) -> None:
    """Two regions without saying so."""
    c[...] = p[...]


@task
def along(p: Read[lines("x")], q: Write) -> None:
    """Whole lines of a field of its own region."""
    q[...] = p[...]


def narrow():
    fine = Region(Box.of((8, 4, 4)), FieldSpace([Field("p"), Field("q")]))
    return Partition(
        fine, (2, 1, 1), beside=(Partition(Region(Box.of((8, 4, 4)), FieldSpace([Field("c")])), (2, 1, 1)),)
    )


@pytest.mark.parametrize(("launch", "message"), [
    (lambda p: beside("p", "c", over=p.region.cells), "which has memory for .*: let the field's partition reach there"),
    (lambda p: across("p", "c", over=p.region.cells), "'c' is of another region than 'p'.*declared Foreign"),
    (lambda p: along("p", "q", over=p.region.cells), "along whole lines; only fields declared Foreign"),
])  # fmt: skip
def test_what_cannot_be_is_refused(launch, message):
    where = narrow()
    with pytest.raises(BadInput, match=message):
        analyse([launch(where)], where)


def test_a_task_needs_a_region_of_its_own():
    with pytest.raises(TypeError, match="foreign fields only"):

        @task
        def nowhere(p: Foreign, q: Foreign) -> None:
            """No cells to be launched over."""


def test_a_colour_is_declared():
    assert Coloured[1].stencil == Read[1].stencil
    assert not restrict.fields["p"].writes


def test_partitions_that_do_not_fit_together_are_refused():
    space = Region(Box.of((4, 4, 4)), FieldSpace([Field("a")]))
    other = Region(Box.of((4, 4, 4)), FieldSpace([Field("b")]))
    with pytest.raises(ValueError, match="same number of blocks"):
        Partition(space, (1, 1, 2), beside=(Partition(other, (1, 1, 1)),))
    with pytest.raises(ValueError, match="two regions have a field of one name among a, a; rename"):
        Partition(space, (1, 1, 2), beside=(Partition(space, (1, 1, 2)),))
    with pytest.raises(ValueError, match="do not cut"):
        Partition(space, (1, 1, 2), at=((0, 4), (0, 4), (0, 5)))
