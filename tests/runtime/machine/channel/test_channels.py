"""One suite for all transports: the same scenarios in threads, processes and Dask actors."""

from concurrent.futures import ThreadPoolExecutor

import channel_scenarios as scenarios
import numpy as np
import pytest
from channel_stages import ActorStage, ProcessStage, Stage, ThreadStage

from taskflow.common.errors import ChannelError, ChannelTimeout
from tests.speed import SOON


def played(results: list) -> list:
    """The results, after raising the first exception among them."""
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


@pytest.mark.fast("*-3")
@pytest.mark.parametrize("blocks", [2, 3])
def test_messages_of_every_size_both_ways_at_once(stage: Stage, blocks: int) -> None:
    played(stage.play(scenarios.every_size, blocks))


def test_large_sends_may_be_waited_for_before_the_receives(stage: Stage) -> None:
    played(stage.play(scenarios.sends_waited_first))


def test_messages_match_by_number_whatever_the_order_of_posting(stage: Stage) -> None:
    played(stage.play(scenarios.out_of_order))


def test_a_sent_buffer_is_free_after_its_wait(stage: Stage) -> None:
    played(stage.play(scenarios.late_receiver))


def test_many_messages_in_flight(stage: Stage) -> None:
    played(stage.play(scenarios.many))


def test_any_order_of_posting_and_waiting(stage: Stage) -> None:
    played(stage.play(scenarios.shuffled))


def test_a_receive_that_is_never_served_tells_when_the_peer_has_gone(stage: Stage) -> None:
    words, _ = played(stage.play(scenarios.lifeline))
    assert words.startswith("message ")
    assert "from block 1 to block 0" in words


def test_a_message_that_does_not_come_is_a_timeout_with_names(stage: Stage) -> None:
    late, _ = stage.play(scenarios.timeout)
    assert isinstance(late, ChannelTimeout)
    assert str(late).startswith("message 7 from block 1 to block 0 (")
    assert str(late).endswith("was not there after 0.3 s")


def test_stop_ends_a_wait_at_once_with_its_reason(stage: Stage) -> None:
    for seconds, words in played(stage.play(scenarios.stopped)):
        assert words == "Aborted: somebody pressed stop"
        assert seconds < SOON


def test_a_peer_that_closes_ends_the_wait_for_it(stage: Stage) -> None:
    (seconds, words), _ = played(stage.play(scenarios.closed_by_peer))
    assert words.startswith("ChannelError: message 7 from block 1 to block 0")
    assert seconds < SOON


def test_closing_ends_a_wait_of_the_same_block(stage: Stage) -> None:
    for seconds, words in played(stage.play(scenarios.closed_meanwhile)):
        assert words.startswith("ChannelError: message 7 from block ")
        assert seconds < SOON


def test_a_block_that_stops_amid_large_messages_closes_soon(stage: Stage) -> None:
    for seconds in played(stage.play(scenarios.stopped_while_sending)):
        assert seconds < SOON


def test_a_closed_channel_refuses_messages(stage: Stage) -> None:
    for result in stage.play(scenarios.closed_here):
        assert type(result) is ChannelError


def test_a_block_that_was_not_connected_is_refused(stage: Stage) -> None:
    for result in stage.play(scenarios.unknown_peer):
        assert type(result) is ChannelError
        assert "not connected to block 99" in str(result)


def test_a_message_longer_than_awaited_is_an_error(stage: Stage) -> None:
    _, receiver = stage.play(scenarios.too_long)
    assert type(receiver) is ChannelError
    assert "message 0 from block 0 to block 1" in str(receiver)


def test_runs_do_not_mix(stage: Stage) -> None:
    played(stage.play(scenarios.two_runs))
    played(stage.play(scenarios.two_runs))


@pytest.mark.fast("*-3")
@pytest.mark.parametrize("blocks", [2, 3])
def test_reductions_give_every_block_the_same_bits(stage: Stage, blocks: int) -> None:
    results = played(stage.play(scenarios.reductions, blocks))
    assert all(result == results[0] for result in results)
    assert np.isnan(np.frombuffer(results[0][2])[1])


@pytest.mark.fast("actor-lonely", "peer-talking_to_the_dead", "ucx-lonely")
@pytest.mark.parametrize("scenario", [scenarios.lonely, scenarios.talking_to_the_dead])
def test_the_death_of_a_peer_is_an_error_within_seconds(doomed: Stage, scenario: scenarios.Any) -> None:
    seconds, words = doomed.kill(scenario)
    assert words.startswith("ChannelError: message ")
    assert seconds < SOON


def test_actor_messages_between_blocks_of_one_process() -> None:
    """Workers as threads: Dask hands arrays over without a copy there, which a sender must not notice."""
    stage = ActorStage(processes=False)
    try:
        played(stage.play(scenarios.every_size))
        played(stage.play(scenarios.late_receiver))
    finally:
        stage.close()


def test_a_router_in_dask_actors() -> None:
    """Three blocks on two workers: one pair shares a process, the other pairs do not."""
    stage = ActorStage("auto")
    try:
        played(stage.play(scenarios.every_size, 3))
        results = played(stage.play(scenarios.reductions, 3))
        assert all(result == results[0] for result in results)
    finally:
        stage.close()


def test_a_wait_drives_every_transport(processes: dict[str, Stage]) -> None:
    stage = processes.setdefault("auto", ProcessStage("auto"))
    played(stage.play(scenarios.shared_progress, 3))


def test_two_runs_at_once_in_one_process() -> None:
    stages = [ThreadStage("local"), ThreadStage("local")]
    with ThreadPoolExecutor(2) as pool:
        for results in pool.map(lambda stage: stage.play(scenarios.two_runs), stages):
            played(results)
