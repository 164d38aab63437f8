"""Fields in a precision of their own, and private ones: what is stored in single is computed with in double."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel import Layout
from taskflow.runtime.machine.kernel.call import private_field
from taskflow.runtime.machine.kernel.instance import tile_order
from taskflow.runtime.machine.needs import MemoryCount
from taskflow.runtime.regions import ROTATIONS, Box, Field, Partition, charted, region
from taskflow.runtime.tasks import Read, ReadWrite, Reduce, Sweep, Swept, Write, task

from ..regions.turned import pieces, turned

TEXT = """
#include "strips.h"
TASK factorise(Range range, In a, OutPrivate<4, Real_f> f, OutOf<Real_d> d, OutValuesOf<2, Real_e> e) {
  for_cells(range, CELL(c) {
    for (int n = 0; n < 4; ++n) f(c, n) = 1 / (a[c] + n);
    d[c] = 1 / a[c];
    for (int n = 0; n < 2; ++n) e(c, n) = n / a[c];
  });
}
TASK apply(Range range, InPrivate<4, Real_f> f, InOf<Real_d> d, InValuesOf<2, Real_e> e, InOut a) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    const auto m = f.four(c, 0);
    a[c] = m[0] + 2 * m[1] + 3 * m[2] + 4 * m[3] + d[c + X] - d[c - Z];
    a[c] += e(c, 1, 0, 1, 0) - e(c, 0, 0, 0, -1);
  });
}
TASK twice(Range range, InOutPrivate<1, Real_g> g, Out a) {
  for_cells(range, CELL(c) { g(c) *= 2; a[c] = g(c); });
}
TASK gather(Range range, InPrivate<1, Real_g> g, InOut a, Sweep sweep) {
  sweep_cells(range, sweep, UP, CELL(c) { a[c] += g(c); });
}
TASK largest(Range range, InOutPrivateRows<3, Real_h> h, Out a, Partial most) {
  reduce_strips(range, most, MAX, CELLS(c, cells, double* values) {
    for (int n = 0; n < 3; ++n) side_by_side(cells, BESIDE(l) { h(beside(c, l), n) *= n + 1; });
    side_by_side(cells, BESIDE(l) {
      const Cell d = beside(c, l);
      values[l] = a[d] = h(d, 0) + h(d, 1) + h(d, 2);
    });
  });
}
"""


@task(kernel=TEXT)
def factorise(a: Read, f: Write.private * 4, d: Write.any, e: Write.any * 2):
    """f_n = 1 / (a + n), d = 1 / a, e_n = n / a"""


@task(kernel=TEXT)
def apply(f: Read.private * 4, d: Read[1].any, e: Read[1].any * 2, a: ReadWrite):
    """a = f_0 + 2 f_1 + 3 f_2 + 4 f_3 + d_e - d_b + e_1,n - e_0,b"""


@task(kernel=TEXT)
def twice(g: ReadWrite.private, a: Write):
    """a = g = 2 g"""


@task(kernel=TEXT)
def largest(h: ReadWrite.private.rows * 3, a: Write, *, most: Reduce[max]):
    """h_n = (n + 1) h_n, a = h_0 + h_1 + h_2, most = max a"""


@task(kernel=TEXT)
def gather(g: Read.private, a: Swept["up"], *, sweep: Sweep):
    """a = a + g"""


@task
def twice_in_numpy(g: ReadWrite.private, a: Write):
    """The same"""
    g[...] *= 2
    a[...] = g[...]


def fields(precision):
    own = [Field("f", precision, values=4, private=True), Field("g", precision, private=True)]
    return [Field("a"), *own, Field("d", precision), Field("e", precision, values=2)]


def program(over):
    def steps(r):
        yield factorise(r.a, r.f, r.d, r.e, over=over)
        yield apply(r.f, r.d, r.e, r.a, over=over)

    return steps


def oracle(a, precision):
    f = [(1 / (a + n)).astype(precision).astype("f8") for n in range(4)]
    d = (1 / a).astype(precision).astype("f8")
    return f[0] + 2 * f[1] + 3 * f[2] + 4 * f[3] + np.roll(d, -1, 2) - np.roll(d, 1, 0) + np.roll(d, -1, 1)


@pytest.mark.parametrize("precision", ["f4", "f8"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 2, 2)])
def test_a_field_in_a_precision_of_its_own_is_computed_with_in_that_of_the_kernel(precision, blocks):
    space = region((6, 5, 4), fields(precision), periodic="xyz")
    partition = Partition(space, blocks)
    start = 1 + np.random.default_rng(2).random((4, 5, 6))
    whole, held = np.empty_like(start), np.empty((4, 5, 4, 6), precision)

    def job(shard):
        mine = shard.cells.slices((0, 0, 0))
        shard.write({"a": np.ascontiguousarray(start[mine])})
        shard.run(program(space.cells))
        whole[mine], held[mine] = shard.read("a"), shard.read("f")
        return {name: shard.instances.arrays[name, shard.block].dtype for name in "afde"}

    types = run_threads(partition, job, cpu(1))[0]
    assert types == {"a": np.float64, "f": np.dtype(precision), "d": np.dtype(precision), "e": np.dtype(precision)}
    np.testing.assert_array_equal(whole, oracle(start, precision))
    np.testing.assert_array_equal(held, np.stack([(1 / (start + n)).astype(precision) for n in range(4)], axis=2))


def test_a_private_field_has_no_ghost_cells_and_its_values_lie_behind_each_other():
    space = region((6, 5, 4), fields("f4"))
    partition = Partition(space, (1, 1, 2))
    assert partition.allocated("f", 1) == Box((0, 0, 2), (6, 5, 4))
    assert partition.nbytes(0) == 6 * 5 * 2 * (4 + 1) * 4 + 8 * 7 * 4 * (8 + 3 * 4)

    def job(shard):
        return shard.instances.nbytes, shard.instances.arrays["f", shard.block].strides

    assert run_threads(partition, job, cpu(1)) == [(partition.nbytes(0), (6 * 5 * 16, 6 * 16, 4, 16))] * 2
    assert MemoryCount(partition, "cpu", []).of(0).fields == partition.nbytes(0)


@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 2, 1)])
def test_values_of_a_private_field_in_rows_lie_behind_those_of_the_cell_before(blocks):
    """Rows of 70 and 71 cells are more than a strip of those that are done side by side."""
    space = region((141, 4, 3), [Field("a"), Field("h", "f4", values=3, private=True, rows=True)], periodic="xyz")
    partition = Partition(space, blocks)
    start = np.random.default_rng(2).random((3, 4, 3, 141)).astype("f4")
    whole = np.empty((3, 4, 141))

    def job(shard):
        nx, ny, _ = shard.cells.shape
        assert shard.instances.arrays["h", shard.block].strides == (12 * nx * ny, 12 * nx, 4 * nx, 4)
        mine = shard.cells.slices((0, 0, 0))
        shard.write({"h": start[mine]})
        shard.run(lambda r: [largest(r.h, r.a, over=space.cells, most="most")])
        whole[mine] = shard.read("a")
        return shard.scalars["most"], shard.read("h")

    made = run_threads(partition, job, cpu(1))
    h = np.stack([((n + 1) * start[:, :, n].astype("f8")).astype("f4") for n in range(3)]).astype("f8")
    np.testing.assert_array_equal(whole, h[0] + h[1] + h[2])
    assert {most for most, _ in made} == {whole.max()}
    assert sum(kept.size for _, kept in made) == start.size


@pytest.mark.parametrize("item", [twice, twice_in_numpy])
def test_a_private_field_of_charts_keeps_its_values(item):
    space = charted(turned((6, 4, 3), ((3,), (), ()), [ROTATIONS[0], ROTATIONS[7]])[0], fields("f4"))
    partition = pieces(space, 2)

    def job(shard):
        mine = partition.cells_of(shard.block)
        shard.write_parts(["g"], [(box, {"g": np.full(box.shape[::-1], 3.0)}) for box in mine])
        for _ in range(3):
            shard.run(lambda r: [item(r.g, r.a, over=space.charts)])
        return [np.unique(shard.read("a", box)).tolist() for box in mine]

    assert run_threads(partition, job, cpu(1)) == [[[24.0]], [[24.0]]]


def test_what_a_private_field_cannot_do_is_refused():
    space = region((4, 4, 4), [*fields("f4"), Field("h", private=True, rows=True)])
    partition = Partition(space, (1, 1, 1))

    @task
    def plain(g: Write):
        """g = 0"""

    @task
    def alone(a: Write.private):
        """a = 0"""

    @task
    def far(g: ReadWrite.private):
        """g = g"""

    for launch, text in [
        (plain("g", over=space.cells), "uses 'g', which is private: declare it Write.private"),
        (alone("a", over=space.cells), "takes 'a' as a private field: declare the field with private=True"),
        (far("g", over=space.bounds), "'g', which is private, has no cells"),
        (far("h", over=space.cells), "uses 'h', which is private, in rows: declare it ReadWrite.private.rows"),
    ]:
        with pytest.raises(BadInput, match=text):
            run_threads(partition, lambda shard, launch=launch: shard.run(lambda r: [launch]), cpu(1))
    with pytest.raises(TypeError, match="no neighbours"):
        getattr(Read[1], "private")  # noqa: B009
    with pytest.raises(ValueError, match="constant, which neighbours may read, and private"):
        Field("q", constant=True, private=True)
    with pytest.raises(ValueError, match="rows=True, which only private fields have"):
        Field("q", rows=True)
    with pytest.raises(TypeError, match=r"Read\.private\.rows"):
        getattr(Read, "rows")  # noqa: B009


def test_pieces_that_begin_anywhere_have_private_memory_of_their_own():
    """A kernel finds their cells from the first one on; those of fields in rows from the cell (0, 0, 0) on."""
    layout = Layout((5, 3, 2), (4, 6, 7)).of(4)
    assert layout.offset() == 5 + 4 * 7 * (3 + 6 * 2)
    assert layout.offset(together=True) == 4 * (5 + 7 * (3 + 6 * 2))
    private = private_field(4096, layout)
    assert private["field"] == 4096
    assert (private["lo"].tolist(), private["size"].tolist()) == ([5, 3, 2], [7, 6, 4])


@pytest.mark.parametrize("tile", [(8, 8, 8), (4, 2, 1), (16, 1, 2)])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 2, 2)])
def test_a_field_in_tiles_is_what_it_is_in_rows(tile, blocks):
    """Tiles at high ends are smaller; a piece has tiles of its own. The host reads and writes cells wherever they lie.
    """
    plain = Partition(region((13, 9, 5), fields("f4"), periodic="xyz"), blocks)
    tiled = [replace(field, tile=tile) if field.private else field for field in fields("f4")]
    start = 1 + np.random.default_rng(2).random((5, 9, 13))

    def done(partition):
        kept = {"a": np.empty_like(start), "g": np.empty_like(start, "f4"), "f": np.empty((5, 9, 4, 13), "f4")}

        def job(shard):
            mine = shard.cells.slices((0, 0, 0))
            shard.write({"a": np.ascontiguousarray(start[mine]), "g": start[mine].astype("f4")})
            shard.run(program(shard.partition.region.cells))
            shard.run(lambda r: [twice(r.g, r.a, over=shard.partition.region.cells)])
            for name, values in kept.items():
                values[mine] = shard.read(name)
            return shard.instances.nbytes

        return run_threads(partition, job, cpu(1)), kept

    sizes, expected = done(plain)
    assert sizes == [plain.nbytes(block) for block in range(len(plain))]
    more, actual = done(Partition(region((13, 9, 5), tiled, periodic="xyz"), blocks))
    assert more == sizes
    for name, values in expected.items():
        np.testing.assert_array_equal(actual[name], values, err_msg=name)


def test_the_memory_of_a_field_in_tiles_goes_through_one_tile_after_the_other():
    numbers = tile_order((5, 3, 2), (2, 2, 1))
    assert numbers[0].tolist() == [[0, 1, 4, 5, 8], [2, 3, 6, 7, 9], [10, 11, 12, 13, 14]]
    assert numbers[1].tolist() == (15 + numbers[0]).tolist()


def test_what_a_field_in_tiles_cannot_do_is_refused():
    with pytest.raises(ValueError, match="which private fields have that are not in rows"):
        Field("q", tile=(8, 8, 8))
    with pytest.raises(ValueError, match=r"tile = \(8, 6, 8\); give three powers of two"):
        Field("q", private=True, tile=(8, 6, 8))
    space = region((4, 4, 4), [Field("a"), Field("g", private=True, tile=(2, 2, 2))])
    launches = {
        "only kernels read and write it": lambda r: [twice_in_numpy(r.g, r.a, over=space.cells)],
        r"tiles of \(4, 4, 4\), and 'g' is stored by tiles of \(2, 2, 2\)": lambda r: [
            gather(r.g, r.a, over=space.cells, sweep=Sweep((4, 4, 4)))
        ],
    }
    for text, launched in launches.items():
        with pytest.raises(BadInput, match=text):
            run_threads(Partition(space, (1, 1, 1)), lambda shard, one=launched: shard.run(one), cpu(1))


SUMMED = """
#ifdef TENFOLD
#define WEIGHT 10
#else
#define WEIGHT 1
#endif
#include "cell.h"
TASK count(Range range, OutPrivate<VALUES_f, Real_f> f) {
  for_cells(range, CELL(c) { for (int n = 0; n < VALUES_f; ++n) f(c, n) = WEIGHT * n; });
}
TASK total(Range range, InPrivate<VALUES_f, Real_f> f, Out a) {
  for_cells(range, CELL(c) {
    a[c] = 0;
    const auto all = f.several<VALUES_f>(c, 0);
    for (int n = 0; n < VALUES_f; ++n) a[c] += all[n];
  });
}
"""


@dataclass(frozen=True)
class Width:
    """Four values in a cell."""


class Wider(Width):
    """Five, of ten times the weight."""

    defines: ClassVar[tuple[str, ...]] = ("TENFOLD",)
    values: ClassVar[dict[str, int]] = {"f": 5, "a": 5}


@task(kernel=SUMMED)
def count(f: Write.private * 4, *, width: Width):
    """f_n = n, times 10 if wider"""


@task(kernel=SUMMED)
def total(f: Read.private * 4, a: Write, *, width: Width):
    """a = sum of f_n"""


@pytest.mark.parametrize(("width", "values", "expected"), [(Width(), 4, 6), (Wider(), 5, 100)])
def test_a_choice_decides_how_many_values_a_field_has(width, values, expected):
    space = region((6, 5, 4), [Field("a"), Field("f", "f4", values=values, private=True)])

    def job(shard):
        of = {"over": space.cells, "width": width}
        shard.run(lambda r: iter([count(r.f, **of), total(r.f, r.a, **of)]))
        return shard.read("a")

    assert (run_threads(Partition(space, (1, 1, 1)), job, cpu(1))[0] == expected).all()


def test_a_field_with_another_number_of_values_is_refused():
    space = region((6, 5, 4), [Field("a"), Field("f", "f4", values=4, private=True)])
    launch = count("f", over=space.cells, width=Wider())
    with pytest.raises(BadInput, match="'f' has 4 values per cell, but the task takes 5"):
        run_threads(Partition(space, (1, 1, 1)), lambda shard: shard.run(lambda r: iter([launch])), cpu(1))
