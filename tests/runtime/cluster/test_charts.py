"""A program of one's own on two charts: heat along a bent bar, against the same on a straight one."""

import numpy as np
import pytest

import taskflow as tf
from taskflow.runtime.cluster import embedded

CPU = {"device": "cpu", "threads": 1}

HEAT = """
TASK heat(Range range, In T, In k, Out T_new, real a) {
  STRIDES(range)
  for_cells(range, CELL(c) {
    real sum = T[c - X] + T[c + X] + T[c - Y] + T[c + Y] + T[c - Z] + T[c + Z];
    T_new[c] = T[c] + a * k[c] * (sum - 6 * T[c]);
  });
}
TASK hold(Range range, Out T, real value) { for_cells(range, CELL(c) { T[c] = value; }); }
TASK total(Range range, In T, Partial mass) { reduce_cells(range, mass, SUM, CELL(c) { return T[c]; }); }
"""


@tf.task(kernel=HEAT)
def heat(T: tf.Read[1], k: tf.Read[1], T_new: tf.Write, *, a: float) -> None: ...


@tf.task(kernel=HEAT)
def hold(T: tf.Write, *, value: float) -> None: ...


@tf.task(kernel=HEAT)
def total(T: tf.Read, *, mass: tf.Reduce[sum]) -> None: ...


def bent():
    """A bar of 8 x 4 x 4 cells in two halves. The x axis of the first goes on along the y axis of the second, which
    runs against y of the first with its x.
    """
    one, other = tf.Box.of((4, 4, 4)), tf.Box.of((4, 4, 4)).shift((10, 0, 0))
    present = tf.Turn((2, -1, 3), (13, -4, 0))
    ahead, back = one.layer(0, 1, -1, 0), other.layer(1, 0, -1, 0)
    return tf.Atlas((one, other), (tf.Seam(0, ahead, present), tf.Seam(1, back, present.inverse)), ghost=1)


BAR = tf.charted(bent(), [tf.Field("T"), tf.Field("T_new"), tf.Field("k", constant=True)])
ENDS = [box for own in BAR.own for box in own[1:]]


def step(f):
    yield hold(f.T, over=ENDS, value=0.5)
    yield heat(f.T, f.k, f.T_new, over=BAR.charts, a=0.1)
    f.swap("T", "T_new")


def look(f):
    yield total(f.T, over=BAR.charts, mass="mass")


def expected(T: np.ndarray, times: int) -> np.ndarray:
    for _ in range(times):
        wide = np.pad(T, 1, constant_values=0.5)
        near = [np.roll(wide, shift, axis) for axis in range(3) for shift in (1, -1)]
        T = (wide + 0.1 * 2.0 * (sum(near) - 6 * wide))[1:-1, 1:-1, 1:-1]
    return T


def halves(T: np.ndarray) -> list[np.ndarray]:
    """A straight bar as the arrays of both charts."""
    return [T[:, :, :4], T[:, ::-1, 4:].transpose(0, 2, 1)]


@pytest.fixture(scope="module")
def clients():
    with embedded(2, gpu=False) as client:
        yield client


@pytest.mark.fast("2")
@pytest.mark.parametrize("blocks", [1, 2])
def test_a_program_on_two_charts(clients, blocks):
    start = np.random.default_rng(3).random((4, 4, 8))
    with tf.distribute(BAR, blocks=blocks, client=clients, **CPU) as bar:
        bar.fill(T=halves(start), k=2.0)
        ran = bar.run(step, times=5)
        for mine, right in zip(bar.read("T"), halves(expected(start, 5)), strict=True):
            np.testing.assert_allclose(mine, right, rtol=1e-13)
        assert (bar.read("T", ENDS[0]) == 0.5).all()
        bar.run(look)
        assert bar.scalars["mass"] == pytest.approx(expected(start, 5).sum(), rel=1e-13)
        assert ran.passes == 5
        assert ran.rate > 0
        assert len(bar.partition) == blocks
        assert str(blocks) in repr(bar)
        assert "2 charts" in repr(bar)


def test_pieces_functions_and_constant_ghost_cells(clients, tmp_path):
    """Indices are those of the index space; constant fields have values in all ghost cells, beyond the seam too."""
    with tf.distribute(BAR, blocks=2, cuts={0: (2, 1, 2)}, debug=True, client=clients, **CPU) as bar:
        assert len(bar.partition.parts) == 5
        bar.fill(T=lambda i, j, k: i + 100.0 * j + 1e4 * k, k=lambda i, j, k: 2.0 + 0 * (i + j + k))
        first = bar.read("T")[1]
        np.testing.assert_array_equal(first, sum(np.ogrid[:4e4:1e4, :400:100, 10:14]))
        assert (bar.read("k", BAR.charts[0].grow(1)) == 2).all()
        straight = np.concatenate([bar.read("T")[0], first.transpose(0, 2, 1)[:, ::-1]], axis=2)
        bar.run(step, times=3)
        for mine, right in zip(bar.read("T"), halves(expected(straight, 3)), strict=True):
            np.testing.assert_allclose(mine, right, rtol=1e-13)
        bar.draw(step, tmp_path / "step.png")
        assert (tmp_path / "step.png").stat().st_size > 10_000
        summary = bar.profile(step, times=2, path=tmp_path / "profile.json")
        assert "heat" in str(summary)
        wide = np.arange(6.0**3).reshape(6, 6, 6)
        bar.fill(k=[wide, wide])
        np.testing.assert_array_equal(bar.read("k", BAR.charts[1].grow(1)), wide)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"blocks": (1, 1, 2)}, "the region has charts: use an integer"),
        ({"blocks": 0}, "the region has charts: use an integer"),
        ({"blocks": 200}, "2 charts make pieces for"),
        ({"cuts": {2: (1, 1, 1)}}, "the region has charts 0 to 1"),
        ({"cuts": {0: (1, 2)}}, "use three integers, of pieces"),
        ({"cuts": {0: (1, 9, 1)}}, "does not cut 4 x 4 x 4 cells"),
    ],
)
def test_what_cannot_be_obeyed_is_refused(clients, arguments, message):
    with pytest.raises(tf.BadInput, match=message):
        tf.distribute(BAR, client=clients, **CPU, **arguments)


def test_a_box_has_no_cuts_and_no_number_of_blocks(clients):
    space = tf.region((4, 4, 4), ["a"])
    with pytest.raises(tf.BadInput, match="the region has no charts"):
        tf.distribute(space, cuts={0: (1, 1, 2)}, client=clients, **CPU)
    with pytest.raises(tf.BadInput, match="blocks = 2; use three integers"):
        tf.distribute(space, blocks=2, client=clients, **CPU)


def test_values_of_other_shapes_are_refused(clients):
    with tf.distribute(BAR, client=clients, **CPU) as bar:
        with pytest.raises(tf.BadInput, match="the region has 2 charts: give a list"):
            bar.fill(T=np.zeros((4, 4, 4)))
        with pytest.raises(tf.BadInput, match=r"chart 1 has \(4, 4, 4\), \[z, y, x\]"):
            bar.fill(T=[np.zeros((4, 4, 4)), np.zeros((4, 4, 5))])
        with pytest.raises(tf.BadInput, match="with all ghost layers"):
            bar.fill(k=[np.zeros((4, 4, 4))] * 2)
        with pytest.raises(tf.BadInput, match="there are values in"):
            bar.read("T", BAR.charts[0].grow(1))
