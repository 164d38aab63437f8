"""Direct transfers: GPUs of one host that see each other's memory, and wait for each other on the device."""

from taskflow.runtime.machine.direct.board import Board
from taskflow.runtime.machine.direct.exchange import DirectExchange, Neighbourhood
from taskflow.runtime.machine.direct.inbox import Inboxes

__all__ = ["Board", "DirectExchange", "Inboxes", "Neighbourhood"]
