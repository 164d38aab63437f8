"""How often a run goes on by itself: in a row from one step, and anew after each checkpoint."""

import time

import psutil
import pytest

from taskflow.common.errors import BadInput, ChannelTimeout, Lost, RunFailed, TaskflowError
from taskflow.runs.attempt import Recovery
from taskflow.runs.block.job import RunLoop
from taskflow.runs.run import run
from taskflow.runtime.cluster import cause, embedded
from taskflow.runtime.machine import Status
from tests.runs.going_on import assert_same_run
from tests.runs.test_restart import stirred


def lost(worker="tcp://a"):
    error = Lost(f"block 1 on worker {worker} does not answer")
    error.workers = frozenset([worker])
    return error


def test_as_often_as_allowed_from_one_step():
    recovery = Recovery(2, "")
    recovery.note(lost("tcp://a"), 40)
    recovery.note(lost("tcp://b"), 40)
    assert recovery.lost == {"tcp://b"}
    with pytest.raises(RunFailed, match=r"tcp://c does not answer; .* from step 40 .*machine.restarts = 2") as failed:
        recovery.note(lost("tcp://c"), 40)
    assert not isinstance(failed.value, Lost)


def test_a_newer_checkpoint_counts_anew():
    recovery = Recovery(1, "")
    for step in range(0, 1000, 10):
        recovery.note(lost(), step)
    assert [restart["step"] for restart in recovery.restarts] == [*range(0, 1000, 10)]
    with pytest.raises(RunFailed):
        recovery.note(lost(), 990)


def test_never():
    with pytest.raises(RunFailed, match=r"; go on by hand; machine\.restarts"):
        Recovery(0, "go on by hand").note(lost(), 40)


@pytest.mark.parametrize(("error", "goes_on"), [
    (lost(), True), (ChannelTimeout("message 3 was not there after 60 s"), True),
    (RunFailed("the run diverged"), False), (BadInput("no"), False),
])  # fmt: skip
def test_what_would_happen_again_is_no_loss(error: TaskflowError, goes_on):
    """Nor is it hidden by those who only miss messages because of it."""
    missed = Status("failed", {}, ChannelTimeout("a message is missing"), failed_at=1.0)
    assert isinstance(cause([missed, Status("failed", {}, error, failed_at=2.0)]), Lost) == goes_on


@pytest.mark.slow
def test_on_a_cluster_that_is_given_the_nanny_brings_a_worker_back(tmp_path):
    """The workers that live go on to be used."""
    case = stirred(
        time={"steps": 400}, checkpoint__every={"steps": 20}, output__every={"steps": 100}, machine__blocks=[1, 1, 2]
    )
    struck = []

    def strike(told):
        if told.get("step", 0) >= 60 and not struck:
            children = psutil.Process().children(recursive=True)
            struck.append(next(child for child in children if "spawn_main" in " ".join(child.cmdline())))
            struck[0].kill()

    with embedded(2, gpu=False) as client:
        before = set(client.scheduler_info(n_workers=-1)["workers"])
        with pytest.warns(UserWarning, match=r"block \d on worker .* the run restarts from step"):
            result = run(case, tmp_path / "run", client, progress=strike)
        after = {place["worker"] for place in result.report["hardware"]}
        run(case, tmp_path / "whole", client)
    assert struck
    assert len(before & after) == len(after - before) == 1
    assert len(result.report["restarts"]) == 1
    assert_same_run(tmp_path / "run", tmp_path / "whole")


@pytest.mark.slow
def test_a_block_that_hangs_is_missed_by_its_neighbours_and_the_run_goes_on(tmp_path, monkeypatch):
    """Its process lives, and answers: only that its messages do not come shows it, after machine.patience."""
    machine = {"device": "cpu", "threads": 1, "blocks": [1, 1, 2], "workers": 1, "patience": 10.0}
    case = stirred(checkpoint__every={"steps": 2}, machine=machine)
    agreed, hung = RunLoop._agreed, []

    def hang(loop, tick, *taken):
        if tick.step == 5 and loop.shard.block == 1 and not hung:
            hung.append(time.monotonic())
            time.sleep(25.0)
        return agreed(loop, tick, *taken)

    monkeypatch.setattr(RunLoop, "_agreed", hang)
    words = r"message \d+ from block 1 to block 0 .* after 10 s; the run restarts from step \d"
    with pytest.warns(UserWarning, match=words):
        result = run(case, tmp_path / "run")
    assert [restart["step"] in (2, 4) for restart in result.report["restarts"]] == [True]
    run(case, tmp_path / "whole")
    assert_same_run(tmp_path / "run", tmp_path / "whole")
