"""The transport of each pair of blocks, and the single channel that a block uses."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

import numpy as np

from taskflow.common.errors import BadArgument, ChannelError
from taskflow.runtime.machine.channel.actor import ActorChannel
from taskflow.runtime.machine.channel.base import PROCESS, Address, Buffer, Channel, Pending
from taskflow.runtime.machine.channel.home import Home
from taskflow.runtime.machine.channel.local import LocalChannel
from taskflow.runtime.machine.channel.peer import PeerChannel, peer_problem
from taskflow.runtime.machine.channel.stop import Stop
from taskflow.runtime.machine.channel.ucx import UCXChannel, ucx_problem

PREFERENCE = ("local", "peer", "ucx", "actor")
"""Fastest first; `auto` selects the first that both blocks of a pair offer and that connects them."""

REACH: Mapping[str, Callable[[Address], str]] = {
    "local": lambda address: address.process,
    "peer": lambda address: address.offers["peer"].host,
}
"""What two blocks must share to use a transport with limited reach."""

SLOW = ("ucx",)
"""Transports that take 0.4 s of CPU time to load. `auto` offers them only if blocks need them."""


def check_request(requested: str) -> None:
    """Raises BadInput unless `requested` is "auto" or a transport."""
    names = ("auto", *PREFERENCE)
    if requested in names:
        return
    known = ", ".join(f'"{name}"' for name in names)
    close = difflib.get_close_matches(requested, names, 1)
    remedy = f'did you mean "{close[0]}"?' if close else f"use one of {known}"
    raise _refused(requested, " is not a channel", remedy)


def channel_problem(name: str) -> str | None:
    """Return why this process cannot use a transport, or None if it can. (`actor` also needs an actor.)"""
    if name == "peer":
        return peer_problem()
    return ucx_problem() if name == "ucx" else None


def choose(requested: str, mine: Address, theirs: Address) -> str:
    """Return the transport between two blocks. Symmetric in them.

    "auto": `local` within a process, `peer` on one host, else `ucx` if both have it, else `actor`. Raises BadInput if a
    requested transport cannot connect the two.
    """
    check_request(requested)
    for name in _usable(mine, theirs):
        if requested in ("auto", name):
            return name
    pair = f"blocks {min(mine.block, theirs.block)} and {max(mine.block, theirs.block)}"
    if requested == "local":
        raise _refused(requested, f", but {pair} live in different processes", 'use "auto", or one process for all')
    if requested in mine.offers and requested in theirs.offers:
        raise _refused(requested, f", but {pair} live on different hosts", 'use "auto"')
    reasons = [f"block {end.block}: {reason}" for end in (mine, theirs) for reason in end.refusals.values()]
    raise _refused(requested, f" cannot connect {pair} ({'; '.join(reasons) or 'not offered'})", 'use "auto"')


def _refused(requested: str, problem: str, remedy: str) -> BadArgument:
    return BadArgument("channel", f'"{requested}"', problem, remedy)


def within_reach(mine: Address, theirs: Address) -> bool:
    """Return whether two blocks can use a transport within their process or host."""
    return any(name in REACH for name in _usable(mine, theirs))


def _usable(mine: Address, theirs: Address) -> list[str]:
    """Return the transports that both offer and that connect them, fastest first."""
    offered = [name for name in PREFERENCE if name in mine.offers and name in theirs.offers]
    return [name for name in offered if name not in REACH or REACH[name](mine) == REACH[name](theirs)]


class Router(Channel):
    """All transports of one block as one channel: each message takes the transport that `choose` returns for its pair.

    Opens the transports that `requested` may need ("auto": all that this process can offer, slow ones only after
    `widen`). `connect` closes unused ones. `home` is the home of the actor, or None outside of one. A caller with
    all blocks in one process requests "local".
    """

    name = "auto"

    def __init__(self, requested: str, run: str, block: int, stop: Stop, home: Home | None = None) -> None:
        super().__init__(run, block, stop)
        check_request(requested)
        self._requested, self._home = requested, home
        self.direct = requested in ("auto", "peer")
        self._channels: dict[str, Channel] = {}
        self._refusals: dict[str, str] = {}
        for name in [fast for fast in PREFERENCE if fast not in SLOW] if requested == "auto" else (requested,):
            self._open(name)

    def widen(self) -> None:
        """With "auto", also offer transports that are slow to load: some blocks cannot reach others within a host."""
        if self._requested == "auto":
            for name in SLOW:
                if name not in self._channels:
                    self._open(name)

    def _open(self, name: str) -> None:
        lonely = name == "actor" and self._home is None
        problem = "it does not live in an actor" if lonely else channel_problem(name)
        if problem is not None:
            self._refusals[name] = problem
        elif name == "actor" and self._home is not None:
            self._channels[name] = ActorChannel(self.run, self.block, self.stop, self._home)
        elif name == "ucx":
            alone = self._home is None or self._home.alone
            self._channels[name] = UCXChannel(self.run, self.block, self.stop, alone=alone)
        else:
            kinds: dict[str, type[LocalChannel | PeerChannel]] = {"local": LocalChannel, "peer": PeerChannel}
            self._channels[name] = kinds[name](self.run, self.block, self.stop)

    @property
    def routes(self) -> dict[int, str]:
        return {peer: channel.name for peer, channel in self._peers.items()}

    def address(self) -> Address:
        offers = {name: channel.address().offers[name] for name, channel in self._channels.items()}
        return Address(self.run, self.block, PROCESS, offers, dict(self._refusals))

    def connect(self, peers: Mapping[int, Address]) -> None:
        mine = self.address()
        chosen = {peer: choose(self._requested, mine, address) for peer, address in peers.items()}
        for name, channel in list(self._channels.items()):
            group = {peer: peers[peer] for peer in peers if chosen[peer] == name}
            if group:
                channel.connect(group)
                self._peers.update(dict.fromkeys(group, channel))
            else:
                self._channels.pop(name).close()

    def greeting(self, peer: int) -> int:
        return int(self._known(peer).greeting(peer))

    def send(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        return self._known(peer).send(peer, sequence, buffer)

    def receive(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        return self._known(peer).receive(peer, sequence, buffer)

    async def deliver(self, run: str, source: int, sequence: int, payload: np.ndarray) -> None:
        """Accept a message for the actor, see `ActorChannel.deliver`."""
        channel = self._channels.get("actor")
        if not isinstance(channel, ActorChannel):
            raise ChannelError(f"block {self.block} takes no actor messages")
        await channel.deliver(run, source, sequence, payload)

    def close(self) -> None:
        self._peers.clear()
        while self._channels:
            self._channels.popitem()[1].close()
