"""Reductions over any number of blocks, against a fold in the order of the blocks (other transports: test_channels)."""

import channel_scenarios as scenarios
import numpy as np
import pytest
from channel_stages import ThreadStage

from taskflow.common.errors import BadInput
from taskflow.runtime.machine.channel import BlockReducer, Deadline, Stop, partners
from taskflow.runtime.machine.channel.local import LocalChannel


@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5, 7, 8, 12])
def test_every_block_gets_the_bits_of_the_ordered_fold(blocks: int) -> None:
    results = ThreadStage("local").play(scenarios.reductions, blocks)
    assert all(result == results[0] for result in results)
    values = [np.random.default_rng(block).standard_normal(4) * 10.0 ** (block % 5) for block in range(blocks)]
    total = values[0].copy()
    for more in values[1:]:
        total += more
    mixed = np.array([max(v[0] for v in values), min(v[1] for v in values), total[2], total[3]])
    assert results[0][:2] == [mixed.tobytes(), total.tobytes()]
    last = np.frombuffer(results[0][2])
    assert last[0] == total[0]
    assert np.isnan(last[1])
    assert last[2] == min(v[2] for v in values)


@pytest.mark.parametrize("blocks", range(1, 20))
def test_partners_are_mutual_and_few(blocks: int) -> None:
    for block in range(blocks):
        others = partners(block, blocks)
        assert block not in others
        assert len(others) <= 2 * (blocks - 1).bit_length()
        assert all(block in partners(other, blocks) for other in others)


def test_zeros_come_back_positive_and_nan_wins_everywhere() -> None:
    channel = LocalChannel("one block", 0, Stop())
    values = np.array([-0.0, np.nan, np.nan, np.nan])
    result = BlockReducer(channel, 1)(values, ("max", "max", "min", "sum"), Deadline.after(1))
    assert not np.signbit(result[0])
    assert np.isnan(result[1:]).all()
    channel.close()


@pytest.mark.parametrize(("values", "ops"), [(np.zeros(2), ("max",)), (np.zeros(1), "mean"), (np.zeros((2, 2)), "max")])
def test_what_cannot_be_reduced_is_refused(values: np.ndarray, ops: str | tuple[str, ...]) -> None:
    channel = LocalChannel("one block", 0, Stop())
    with pytest.raises(BadInput, match="allreduce of shape"):
        BlockReducer(channel, 1)(values, ops, Deadline.after(1))
    channel.close()
