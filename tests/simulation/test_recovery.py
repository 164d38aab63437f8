"""How often a run goes on by itself: in a row from one step, and anew after each checkpoint."""

import pytest

from taskflow.errors import BadInput, ChannelTimeout, Lost, RunFailed, TaskflowError
from taskflow.machine import Status, cause
from taskflow.simulation.recovery import Recovery


def lost(worker="tcp://a"):
    error = Lost(f"block 1 on worker {worker} does not answer")
    error.workers = frozenset([worker])
    return error


def test_as_often_as_allowed_from_one_step():
    recovery = Recovery(2)
    recovery.note(lost("tcp://a"), 40)
    recovery.note(lost("tcp://b"), 40)
    assert recovery.lost == {"tcp://b"}
    with pytest.raises(RunFailed, match=r"tcp://c does not answer; .* from step 40 .*machine.restarts = 2") as failed:
        recovery.note(lost("tcp://c"), 40)
    assert not isinstance(failed.value, Lost)


def test_a_newer_checkpoint_counts_anew():
    recovery = Recovery(1)
    for step in range(0, 1000, 10):
        recovery.note(lost(), step)
    assert [restart["step"] for restart in recovery.restarts] == [*range(0, 1000, 10)]
    with pytest.raises(RunFailed):
        recovery.note(lost(), 990)


def test_never():
    with pytest.raises(RunFailed, match=r"--resume, or give machine\.restarts"):
        Recovery(0).note(lost(), 40)


@pytest.mark.parametrize(("error", "goes_on"), [
    (lost(), True), (ChannelTimeout("message 3 was not there after 60 s"), True),
    (RunFailed("the run diverged"), False), (BadInput("no"), False),
])  # fmt: skip
def test_what_would_happen_again_is_no_loss(error: TaskflowError, goes_on):
    """Nor is it hidden by those who only miss messages because of it."""
    missed = Status("failed", {}, ChannelTimeout("a message is missing"), failed_at=1.0)
    assert isinstance(cause([missed, Status("failed", {}, error, failed_at=2.0)]), Lost) == goes_on
