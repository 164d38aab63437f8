"""Who talks to whom over what."""

import re

import pytest

from taskflow.common.errors import BadInput, ChannelError
from taskflow.runtime.machine.channel import Address, Router, Stop, check_request, choose, within_reach
from taskflow.runtime.machine.channel.peer import PeerOffer, peer_problem
from taskflow.runtime.machine.channel.ucx import ucx_problem

ALL = ("local", "peer", "ucx", "actor")
NO_UCX = "ucxx cannot be loaded (No module named 'ucxx')"


def address(block: int, process: str, offers: tuple[str, ...] = ALL) -> Address:
    """A block in a process of a host: "a1" and "a2" are two processes on host a."""
    refusals = {} if "ucx" in offers else {"ucx": NO_UCX}
    details = {"peer": PeerOffer(process[0], "door")}
    return Address("run", block, process, {name: details.get(name) for name in offers}, refusals)


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (address(0, "a"), address(1, "a"), "local"),
        (address(0, "a1"), address(1, "a2"), "peer"),
        (address(0, "a1"), address(1, "a2", ("local", "ucx")), "ucx"),
        (address(0, "a"), address(1, "b"), "ucx"),
        (address(0, "a"), address(1, "b", ("local", "peer", "actor")), "actor"),
        (address(0, "a", ("local", "actor")), address(1, "a"), "local"),
    ],
)
def test_auto_takes_the_fastest_that_both_have(mine: Address, theirs: Address, expected: str) -> None:
    assert choose("auto", mine, theirs) == choose("auto", theirs, mine) == expected


@pytest.mark.parametrize("name", ALL)
def test_a_forced_transport_is_taken_within_a_process_too(name: str) -> None:
    assert choose(name, address(0, "a"), address(1, "a")) == name


@pytest.mark.parametrize(
    ("requested", "words"),
    [
        ("pear", 'channel = "pear" is not a channel; did you mean "peer"?'),
        ("uxc", 'channel = "uxc" is not a channel; did you mean "ucx"?'),
        ("mpi", 'channel = "mpi" is not a channel; use one of "auto", "local", "peer", "ucx", "actor"'),
    ],
)
def test_a_request_that_is_none(requested: str, words: str) -> None:
    with pytest.raises(BadInput, match=re.escape(words)):
        check_request(requested)


def test_local_between_processes_is_bad_input_with_a_remedy() -> None:
    with pytest.raises(BadInput, match='blocks 0 and 1 live in different processes; use "auto"'):
        choose("local", address(1, "b"), address(0, "a"))


def test_peer_between_hosts_is_bad_input_with_a_remedy() -> None:
    with pytest.raises(BadInput, match='blocks 0 and 1 live on different hosts; use "auto"'):
        choose("peer", address(1, "b"), address(0, "a"))


def test_a_forced_transport_that_one_side_lacks_says_why() -> None:
    lacking = address(1, "b", ("local", "actor"))
    with pytest.raises(BadInput, match=re.escape(f"cannot connect blocks 0 and 1 (block 1: {NO_UCX})")):
        choose("ucx", address(0, "a"), lacking)


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        (address(1, "a1"), True),
        (address(1, "a2"), True),
        (address(1, "a2", ("local", "ucx")), False),
        (address(1, "b"), False),
        (address(1, "a1", ("ucx", "actor")), False),
    ],
)
def test_who_is_within_reach(theirs: Address, expected: bool) -> None:
    mine = address(0, "a1")
    assert within_reach(mine, theirs) == within_reach(theirs, mine) == expected


def test_what_is_slow_to_load_is_left_alone_until_blocks_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr("taskflow.runtime.machine.channel.select.ucx_problem", lambda: loaded.append("ucx") or NO_UCX)
    for requested, before, after in (("auto", 0, 1), ("local", 0, 0), ("ucx", 1, 1)):
        loaded.clear()
        router = Router(requested, "select test", 0, Stop())
        assert len(loaded) == before
        router.widen()
        assert len(loaded) == after
        assert ("ucx" in router.address().refusals) == bool(after)
        router.close()


def test_a_router_offers_what_it_can_and_closes_what_it_does_not_need() -> None:
    routers = [Router("auto", "select test", block, Stop()) for block in range(2)]
    for router in routers:
        router.widen()
    addresses = {router.block: router.address() for router in routers}
    problems = {"peer": peer_problem(), "ucx": ucx_problem(), "actor": "it does not live in an actor"}
    assert set(addresses[0].offers) == {"local"} | {name for name, problem in problems.items() if problem is None}
    assert addresses[0].refusals == {name: problem for name, problem in problems.items() if problem is not None}
    for router in routers:
        router.connect({block: theirs for block, theirs in addresses.items() if block != router.block})
        assert router.routes == {1 - router.block: "local"}
        assert set(router.address().offers) == {"local"}
    for router in routers:
        router.close()
        router.close()


@pytest.mark.parametrize(("name", "problem"), [("ucx", NO_UCX), ("peer", "there is no C++ compiler")])
def test_a_router_that_lacks_a_transport_says_why(name: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"taskflow.runtime.machine.channel.select.{name}_problem", lambda: problem)
    router = Router("auto", "select test", 0, Stop())
    router.widen()
    assert name not in router.address().offers
    assert router.address().refusals[name] == problem
    router.close()


def test_a_router_outside_dask_cannot_be_forced_to_use_actors() -> None:
    router = Router("actor", "select test", 0, Stop())
    with pytest.raises(BadInput, match="does not live in an actor"):
        router.connect({1: address(1, "b")})
    router.close()


def test_a_router_without_an_actor_takes_no_actor_messages() -> None:
    import asyncio

    import numpy as np

    router = Router("local", "select test", 0, Stop())
    with pytest.raises(ChannelError, match="takes no actor messages"):
        asyncio.run(router.deliver("select test", 1, 0, np.zeros(1, np.uint8)))
    router.close()
