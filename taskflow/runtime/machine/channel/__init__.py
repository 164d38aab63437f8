"""Byte messages between the blocks of a run: one interface, several transports, chosen for each pair of blocks."""

from taskflow.runtime.machine.channel.allreduce import BlockReducer, Gather, partners
from taskflow.runtime.machine.channel.base import Address, Channel, Deadline, Pending
from taskflow.runtime.machine.channel.home import DaskHome, Home, run_on
from taskflow.runtime.machine.channel.peer_ring import segment_bytes
from taskflow.runtime.machine.channel.select import (
    PREFERENCE,
    Router,
    channel_problem,
    check_request,
    choose,
    within_reach,
)
from taskflow.runtime.machine.channel.stop import FEW, SPIN, Stop
