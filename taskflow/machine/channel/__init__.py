"""Byte messages between the blocks of a run: one interface, several transports, chosen for each pair of blocks."""

from taskflow.machine.channel.actor import Home
from taskflow.machine.channel.allreduce import BlockReducer, Gather, partners
from taskflow.machine.channel.base import Address, Channel, Deadline, Pending
from taskflow.machine.channel.peer_ring import segment_bytes
from taskflow.machine.channel.select import PREFERENCE, Router, channel_problem, check_request, choose, within_reach
from taskflow.machine.channel.stop import Stop

__all__ = [
    "PREFERENCE",
    "Address",
    "BlockReducer",
    "Channel",
    "Deadline",
    "Gather",
    "Home",
    "Pending",
    "Router",
    "Stop",
    "channel_problem",
    "check_request",
    "choose",
    "partners",
    "segment_bytes",
    "within_reach",
]
