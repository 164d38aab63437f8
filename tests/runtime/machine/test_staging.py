"""Ways to pack messages have the same cells on the other side: on the device, through host memory, row by row."""

import numpy as np
import pytest

from taskflow.runtime.machine.device import cpu, lanes
from taskflow.runtime.machine.trace.staging import STAGINGS, rows_of

CELLS = (slice(1, 3), slice(0, 4), slice(2, 5))


@pytest.mark.parametrize("way", STAGINGS)
@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 2, 1), (2, 1, 0)], ids=["straight", "turned in a plane", "turned"])
def test_cells_arrive(way, axes):
    """Of two fields of different precision, whose cells the other chart may see turned."""
    staging, device = STAGINGS[way], cpu()
    lane, random = lanes(device)[0], np.random.default_rng(4)
    fields = [random.normal(size=(5, 4, 6)), random.normal(size=(5, 4, 6)).astype("f4")]
    cells = [field[CELLS].transpose(axes) for field in fields]
    sent, received = (staging.buffer(device, sum(part.nbytes for part in cells)) for _ in range(2))
    assert (sent.inner is sent.outer) == (way != "host")

    def parts(buffer):
        begin = 0
        for part in cells:
            yield buffer.inner[begin : begin + part.nbytes].view(part.dtype).reshape(part.shape)
            begin += part.nbytes

    for call in staging.copies(device, list(zip(parts(sent), cells, strict=True)), sent, lane, packs=True):
        call()
    received.outer[:] = sent.outer  # what a channel does
    arrived = [np.zeros((4, 6, 6), part.dtype)[tuple(slice(1, 1 + n) for n in part.shape)] for part in cells]
    for call in staging.copies(device, list(zip(arrived, parts(received), strict=True)), received, lane, packs=False):
        call()
    for part, there in zip(cells, arrived, strict=True):
        assert (there == part).all()
        assert np.count_nonzero(there.base) == part.size, "nothing beyond"


def test_rows_are_as_long_as_memory_permits():
    """A row along x of both views is one copy; of a turned source each value is one."""
    target, source = np.zeros((2, 3, 4)), np.arange(120.0).reshape(4, 5, 6)
    straight = rows_of(target, source[1:3, 1:4, 1:5])
    assert straight.shape == (6, 3)
    assert set(straight[:, 2]) == {32}
    assert straight[0, 0] == target.ctypes.data
    assert straight[0, 1] == source[1, 1, 1:].ctypes.data
    turned = rows_of(target, source[:4, 1:4, 1:3].transpose(2, 1, 0))
    assert turned.shape == (24, 3)
    assert set(turned[:, 2]) == {8}
