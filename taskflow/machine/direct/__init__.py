"""Direct transfers: GPUs of one host that see each other's memory, and wait for each other on the device."""

from taskflow.machine.direct.board import Board
from taskflow.machine.direct.exchange import DirectExchange, Neighbourhood
from taskflow.machine.direct.inbox import Inboxes

__all__ = ["Board", "DirectExchange", "Inboxes", "Neighbourhood"]
