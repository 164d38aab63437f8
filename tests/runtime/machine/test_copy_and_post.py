"""Which launches copy a message, where a GPU would do them: noted, not done."""

from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.runtime.machine.direct import flags
from taskflow.runtime.machine.direct.flags import FLAGS, Flag
from taskflow.runtime.machine.direct.link import WATCH
from taskflow.runtime.machine.kernel.copying import HIDDEN, word

DEVICE = SimpleNamespace(allocate=lambda shape, dtype: None, pointer=lambda array: 1)


def cells(*shape, dtype="f8"):
    """What looks like cells of a field on a GPU."""
    result = np.broadcast_to(np.zeros(1, dtype), shape)
    size = result.dtype.itemsize
    strides = (size * shape[1] * shape[2], size * shape[2], size)
    return SimpleNamespace(
        ndim=3, shape=shape, size=result.size, dtype=result.dtype, strides=strides, data=SimpleNamespace(ptr=64)
    )


@pytest.fixture
def launched(monkeypatch):
    """(kernel, thread blocks, bytes of arguments) of every launch."""
    result = []

    def launch(kernel, grid, block, values, stream, keep):
        result.append((kernel, int(np.prod(grid)), sum(np.asarray(value).nbytes for value in values)))
        return lambda: None

    monkeypatch.setattr(flags, "launch", launch)
    monkeypatch.setattr(flags, "cuda_function", lambda file, name, size: SimpleNamespace(kernel=name))
    return result


def copied(*shapes, claims=1, dtype="f8", **how):
    pairs, expected = [(cells(*shape, dtype=dtype), cells(*shape, dtype=dtype)) for shape in shapes], [Flag(3, 4)]
    lane, watch = SimpleNamespace(stream=None), np.zeros((), WATCH)
    return flags.copy_and_post([Flag(1, 2)] * claims, watch, pairs, expected, DEVICE, lane, **how)


def test_a_small_copy_waits_itself(launched):
    assert len(copied((7, 64, 64))) == 1
    ((kernel, blocks, size),) = launched
    assert (kernel, blocks) == ("copy_and_post", 28)
    assert size <= 4096, "what every driver takes for arguments"


def test_of_a_large_one_nothing_waits_that_could_keep_others_from_starting(launched):
    assert len(copied((4, 256, 256))) == 2
    assert [(kernel, blocks) for kernel, blocks, _ in launched] == [("await", 1), ("copy_and_post", 256)]


def test_a_copy_behind_another_launch_leaves_that_its_room(launched):
    assert len(copied((4, 256, 256), hidden=True)) == 1
    ((_, blocks, _),) = launched
    assert blocks == HIDDEN


@pytest.mark.parametrize(
    ("dtype", "start", "row", "nx", "together"),
    [
        ("f4", 0, 40, 16, 8),
        ("f4", 0, 40, 15, 4),
        ("f4", 4, 40, 16, 4),
        ("f4", 0, 41, 16, 4),
        ("f8", 8, 41, 15, 8),
        ("u1", 0, 48, 16, 8),
        ("u1", 0, 48, 12, 1),
    ],
)
def test_values_side_by_side_are_copied_together_where_all_begin_at_whole_words(dtype, start, row, nx, together):
    real = np.dtype(dtype)
    strides = 4 * row * real.itemsize, row * real.itemsize, real.itemsize
    ours, theirs = (
        SimpleNamespace(dtype=real, shape=(2, 3, nx), strides=strides, data=SimpleNamespace(ptr=512 + begin))
        for begin in (0, start)
    )
    assert word([(ours, theirs)]) == together


def test_boxes_of_which_not_all_are_whole_words_are_one_launch_nonetheless(launched):
    assert len(copied((2, 32, 64), (2, 32, 1), dtype="f4")) == 1
    assert [kernel for kernel, *_ in launched] == ["copy_and_post"]


def test_without_claims_nothing_waits(launched):
    assert len(copied((4, 256, 256), claims=0)) == 1
    assert [kernel for kernel, *_ in launched] == ["copy_and_post"]


def test_more_flags_than_a_launch_takes_are_left_to_others(launched):
    assert copied((7, 64, 64), claims=FLAGS + 1) == []
    assert launched == []
