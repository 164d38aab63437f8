"""Several numbers under one name, and exact sums, in Python."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskflow.runtime.regions import Partition, region
from taskflow.runtime.tasks import (
    MOST_REDUCTIONS,
    LookupTable,
    Read,
    ReadWrite,
    Reduce,
    Scalar,
    combine,
    reduced,
    serial,
    task,
    together,
)
from taskflow.runtime.tasks.numbers import cut

LIMIT = 15.999  # times the bound: the largest magnitude of a term


@task
def measure(q: Read, *, flux: Reduce["exact sum", 2], range_: Reduce["max", 2], count: Reduce["sum"], bound: Scalar):
    """flux = sums of q and q^2, range_ = max of q and -q, count = number of cells"""
    flux.fold(q[...], q[...] ** 2, bound=(bound, bound**2))
    range_.fold(q[...], -q[...])
    count.fold(np.ones_like(q[...]))


@task
def centre(q: ReadWrite, *, flux: Scalar["exact sum", 2], range_: Scalar["max", 2], count: Scalar):
    """q = (q - mean) / (max - min)"""
    q[...] = (q[...] - flux[0] / count) / (range_[0] + range_[1])


def test_numbers_of_one_name_are_scalars_one_by_one():
    launch = measure("q", over=region((2, 2, 2), ["q"]).cells, flux="f", range_="r", count="n", bound="b")
    parts = [f"f.{n}.{part}" for n in range(2) for part in ("total", "rest", "last")]
    assert [name for name, _ in launch.reductions.values()] == [*parts, "r.0", "r.1", "n"]
    assert [operator for _, operator in launch.reductions.values()] == ["sum"] * 6 + ["max"] * 2 + ["sum"]
    launch = centre("q", over=launch.over, flux="f", range_="r", count="n")
    assert [*launch.scalars.values()] == [*parts, "r.0", "r.1", "n"]


def test_a_python_body_folds_and_takes_them_by_one_name():
    box, scalars = region((5, 4, 3), ["q"]), {"b": 2.0}
    memory = serial.allocate(box)
    memory["q"][...] = np.random.default_rng(2).uniform(-9, 9, memory["q"].shape)
    inside = box.cells.slices(box.cells.grow(box.ghost).lo)
    q = memory["q"][inside].copy()
    launch = measure("q", over=box.cells, flux="f", range_="r", count="n", bound="b")
    serial.run_program(box, memory, [launch], scalars)
    assert reduced(scalars, "f") == pytest.approx((math.fsum(q.flat), math.fsum((q**2).flat)), rel=1e-15)
    assert reduced(scalars, "r") == (q.max(), -q.min())
    assert reduced(scalars, "n") == (q.size,)
    serial.run_program(box, memory, [centre("q", over=box.cells, flux="f", range_="r", count="n")], scalars)
    np.testing.assert_allclose(memory["q"][inside], (q - q.mean()) / np.ptp(q), rtol=0, atol=1e-15)


def test_scalars_are_read_together_from_any_mapping():
    assert together({"a": 1.0, "b": 2.0}, ("b", "a", "b")) == [2.0, 1.0, 2.0]
    with pytest.raises(KeyError, match="c"):
        together({"a": 1.0}, ("a", "c"))


def test_what_was_not_reduced_has_no_value():
    with pytest.raises(KeyError, match="flux"):
        reduced({"flux": 1.0}, "fluxes")


@given(
    terms=st.lists(st.floats(-LIMIT, LIMIT, allow_subnormal=False), min_size=1, max_size=60),
    bound=st.floats(1e-3, 1e3),
    random=st.randoms(use_true_random=False),
    cuts=st.lists(st.integers(0, 60), max_size=4),
)
def test_an_exact_sum_depends_neither_on_the_order_nor_on_the_cut(terms, bound, random, cuts):
    """Its parts have the same bits however the terms are arranged and dealt out to blocks."""
    terms = [term * bound for term in terms]
    expected = [combine("sum", part) for part in cut(np.array(terms), bound)]
    random.shuffle(terms)
    ends = [0, *sorted(min(n, len(terms)) for n in cuts), len(terms)]
    blocks = [cut(np.array(terms[a:b]), bound) for a, b in pairwise(ends)]
    folded = [combine("sum", [float(block[n].sum()) for block in blocks]) for n in range(3)]
    assert folded == expected
    sum_of_parts = folded[0] + (folded[1] + folded[2])
    assert sum_of_parts == pytest.approx(math.fsum(terms), rel=1e-15, abs=len(terms) * bound * 2.0**-58)


@pytest.mark.parametrize("blocks", [(2, 1, 1), (3, 2, 1), (2, 2, 3)])
def test_an_exact_sum_has_the_same_parts_for_any_blocks(blocks):
    box = region((7, 6, 5), ["q"])
    memory = serial.allocate(box)
    memory["q"][...] = np.random.default_rng(4).normal(size=memory["q"].shape)

    def measured(over):
        scalars = {"b": 1.0}
        serial.run_program(box, memory, [measure("q", over=over, flux="f", range_="r", count="n", bound="b")], scalars)
        return [scalars[name] for name in measure.numbers["flux"].of("f")]

    shares = [measured(cells) for cells in Partition(box, blocks).blocks]
    assert [combine("sum", parts) for parts in zip(*shares, strict=True)] == measured(box.cells)


# --------------------------------------------------------------------------------------------------------------- errors


def declare(annotation):
    """A task that reduces what the annotation says."""

    def body(q: Read, *, m: annotation):
        """m = something of q"""

    return task(body)


@pytest.mark.parametrize(
    ("largest", "reason"),
    [
        (lambda n: Reduce["max", n], "task body reduces 33 numbers; at most 32 can be: make it two tasks"),
        (
            lambda n: Reduce["exact sum", n // 3],
            "task body reduces 33 numbers, three for each exact sum; at most 32 can be: make it two tasks",
        ),
    ],
)
def test_a_task_has_as_many_numbers_as_an_all_reduce_has_places(largest, reason):
    declare(largest(MOST_REDUCTIONS))
    with pytest.raises(TypeError, match=reason):
        declare(largest(MOST_REDUCTIONS + 1))


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", True])
def test_numbers_are_counted(count):
    with pytest.raises(TypeError, match=r'Reduce\["exact sum", .*give their number, 1 or more'):
        Reduce["exact sum", count]


@pytest.mark.parametrize("word", ["sum", "mean", ("mean", 2), ("exact", 2)])
def test_scalars_that_are_several_say_how_many(word):
    with pytest.raises(TypeError, match="give the number of values, as for Reduce: Scalar"):
        Scalar[word]


def test_numbers_are_always_there():
    with pytest.raises(TypeError, match=r'Reduce\["sum", 2\] \| None: numbers are never optional'):
        Reduce["sum", 2] | None


def test_numbers_have_one_name():
    with pytest.raises(TypeError, match="measure: flux=0 has to be the name of a scalar"):
        measure("q", over=region((2, 2, 2), ["q"]).cells, flux=0, range_="r", count="n", bound="b")
    with pytest.raises(TypeError, match="measure: two reductions have the same result among"):
        measure("q", over=region((2, 2, 2), ["q"]).cells, flux="f", range_="r", count="f.0.total", bound="b")


@pytest.mark.parametrize(
    ("fold", "reason"),
    [
        (lambda q, m: m.fold(q, q), r"folded with 2 arrays and no bound; give 2 arrays and bound=\.\.\."),
        (lambda q, m: m.fold(q, bound=1.0), r"folded with 1 arrays and a bound; give 2 arrays and bound=\.\.\."),
    ],
)
def test_a_fold_gets_what_was_declared(fold, reason):
    @task
    def wrong(q: Read, *, m: Reduce["exact sum", 2]):
        """m = something"""
        fold(q[...], m)

    box = region((2, 2, 2), ["q"])
    with pytest.raises(TypeError, match=reason):
        serial.run_program(box, serial.allocate(box), [wrong("q", over=box.cells, m="m")], {})


def test_a_table_begins_with_any_number():
    """Python bodies read it by the numbers that kernels use; one before the first is an error, not the last one."""
    table = LookupTable(-1, (10.0, 20.0, 30.0))
    assert [table[n] for n in (-1, 0, 1)] == [10.0, 20.0, 30.0]
    for number in (-2, 2):
        with pytest.raises(IndexError):
            table[number]
    assert table == LookupTable(-1, (10.0, 20.0, 30.0))
    assert hash(table) == hash(LookupTable(-1, (10.0, 20.0, 30.0)))
    assert len({table, LookupTable(0, (10.0, 20.0, 30.0))}) == 2
