"""Variants of a task: one text, compiled for the precision of a field, and without what a launch leaves out."""

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel import KernelError, compiled
from taskflow.runtime.machine.kernel.text import complete
from taskflow.runtime.proof import Hardware, prove
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Foreign, ForeignAny, Read, Reduce, Variant, Write, analyse, siblings, task

CELLS = Box.of((6, 5, 8))
TEXT = """
TASK add(Range range, ForeignOf<Real_z> z, Foreign y, Out p) {
  for_cells(range, CELL(c) { p[c] = (at(z, c.i, c.j, c.k - 1) + at(z, c.i, c.j, c.k + 1)) + at(y, c); });
}

TASK largest(Range range, ForeignOf<Real_z> z, Foreign p, Out q, Partial most) {
  reduce_cells(range, most, MAX, CELL(c) { q[c] = at(z, c); return q[c] * at(p, c); });
}
"""


@task(kernel=TEXT)
def add(z: ForeignAny[1], y: Foreign, p: Write):
    """p = the two neighbours of z along z, and y"""


@task(kernel=TEXT)
def largest(z: ForeignAny, p: Foreign, q: Write, *, most: Reduce[max]):
    """q = z; most = the largest of q p"""


def partition(real, other, blocks):
    """p, q and y in one precision, and beside them z in another."""
    own = Region(CELLS, FieldSpace(Field(name, real) for name in "pqy"), (True,) * 3)
    beside = Region(CELLS, FieldSpace([Field("z", other)]), (True,) * 3)
    return Partition(own, blocks, beside=(Partition(beside, blocks),))


def program(f):
    yield add(f.z, f.y, f.p, over=CELLS)
    yield largest(f.z, f.p, f.q, over=CELLS, most="most")


@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2)])
@pytest.mark.parametrize(("real", "other"), [("f4", "f4"), ("f4", "f8"), ("f8", "f4"), ("f8", "f8")])
def test_a_text_is_compiled_for_the_precision_of_the_field(real, other, blocks):
    where, rng = partition(real, other, blocks), np.random.default_rng(0)
    z, y = rng.random(CELLS.shape[::-1]).astype(other), rng.random(CELLS.shape[::-1]).astype(real)
    p, q = np.empty_like(y), np.empty_like(y)

    def job(shard):
        mine = shard.cells.slices((0, 0, 0))
        shard.write({"z": z[mine], "y": y[mine]})
        shard.run(program)
        p[mine], q[mine] = shard.read("p"), shard.read("q")
        return shard.scalars["most"]

    most = run_threads(where, job, cpu(1), Mapper("full", debug=True))
    below, above = (np.roll(z, shift, 0).astype(real) for shift in (1, -1))
    np.testing.assert_array_equal(p, (below + above) + y)
    np.testing.assert_array_equal(q, z.astype(real))
    assert {*most} == {float((q * p).max())}


def test_templates_with_two_precisions_are_proved():
    proof = prove(partition("f8", "f4", (1, 1, 2)), {program: ()}, Mapper("full"), Hardware(True, (0, 0)))
    proof.hold()
    assert proof.reads > 100


def test_a_variant_is_one_task_with_its_siblings():
    single = add.precise({"z": "f4"})
    assert single is add.of(Variant(precisions=frozenset({("z", "f4")}))) is single.precise({"z": "f4"})
    assert (single.precise({}), single.name, single.fields["z"].precision) == (add, "add", "f4")
    assert siblings(single) == (single, largest.precise({"z": "f4"}))
    for variant, number in ((single, "float"), (add, "double")):
        assert f"typedef {number} Real_z;" in complete(variant, np.dtype("f8"), "")


def test_a_launch_with_another_kind_of_number_is_refused():
    with pytest.raises(BadInput, match=r"'z' is int32, but the task takes it as float32 or float64"):
        analyse([add("z", "y", "p", over=CELLS)], partition("f8", "i4", (1, 1, 1)))


def test_a_text_has_to_take_the_field_as_it_is_declared():
    @task(kernel="TASK wrong(Range range, Foreign z, Out p) {}")
    def wrong(z: ForeignAny, p: Write):
        """Takes z in the precision of the kernel."""

    with pytest.raises(KernelError, match="takes its parameter z as Foreign z, but it was declared ForeignAny"):
        compiled(wrong, "f8", cpu(1))


# Without a there is no c either: `both` is not defined for one of them alone.
APART = """
FN real both(None, None, Index) { return 0; }
FN real both(In a, In c, Index n) { return a[n] * c[n]; }
FN real one(None, Index) { return 1; }
FN real one(In a, Index n) { return a[n]; }

TASK first(Range range OPTIONAL(a), Out q) { for_cells(range, CELL(n) { q[n] = one(a, n); }); }

TASK second(Range range OPTIONAL(a) OPTIONAL(c), Out q) { for_cells(range, CELL(n) { q[n] = both(a, c, n); }); }

TASK third(Range range, Out q OPTIONAL(a)) { for_cells(range, CELL(n) { q[n] = 2 * one(a, n); }); }
"""


@task(kernel=APART)
def first(a: Read | None, q: Write):
    """q = a, or 1"""


@task(kernel=APART)
def second(a: Read | None, c: Read | None, q: Write):
    """q = a c, or 0"""


@task(kernel=APART)
def third(q: Write, a: Read | None):
    """q = 2 a, or 2"""


def test_a_task_is_compiled_without_siblings_that_leave_out_something_else():
    where = Region(CELLS, FieldSpace(Field(name) for name in "acq"), (True,) * 3)
    launches = {
        first(None, "q", over=CELLS): 1, first("a", "q", over=CELLS): 3, third("q", None, over=CELLS): 2,
        second(None, None, "q", over=CELLS): 0, second("a", "c", "q", over=CELLS): 15,
    }  # fmt: skip

    def job(shard):
        shard.write({"a": np.full(CELLS.shape[::-1], 3.0), "c": np.full(CELLS.shape[::-1], 5.0)})
        for launch, value in launches.items():
            shard.run(lambda f, launch=launch: [launch])
            assert (shard.read("q") == value).all()

    run_threads(Partition(where, (1, 1, 1)), job, cpu(1))


@pytest.mark.parametrize(("of", "absent"), [(first, ""), (first, "a"), (second, "a c"), (third, "a")])
def test_a_task_is_compiled_alone(of, absent):
    text = complete(of.of(Variant(absent=frozenset(absent.split()))), np.dtype("f8"), "")
    assert {name for name in ("first", "second", "third") if f"TASK {name}" in text} == {of.name}


def test_settings_of_a_text_may_depend_on_what_is_there():
    plain = second.of(Variant(absent=frozenset({"a", "c"})))
    text, shorter = (complete(item, np.dtype("f8"), "") for item in (second, plain))
    assert text.startswith("#define HAS_a\n#define HAS_c\n")
    assert "HAS_" not in shorter
