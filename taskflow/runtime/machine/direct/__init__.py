"""Direct transfers: GPUs of one host that access each other's memory, and wait for each other on the device."""

from taskflow.runtime.machine.direct.board import Board, Inboxes
from taskflow.runtime.machine.direct.exchange import DirectExchange, Neighbourhood
