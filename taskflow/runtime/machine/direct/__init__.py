"""Direct transfers: blocks that access each other's memory, on GPUs of one host or on cores of one process."""

from taskflow.runtime.machine.direct.board import Board, Inboxes
from taskflow.runtime.machine.direct.exchange import DirectExchange, Neighbourhood
from taskflow.runtime.machine.direct.host import HostExchange, HostNeighbourhood, share_process
