"""Hosts: the resources of a computer for blocks, and whether they are still available.

Knows GPUs, InfiniBand, compilers, signals, and the processes of a cluster that can be asked. Does not know who lends
them, nor what runs there.
"""

from taskflow.runtime.host.heartbeat import Heartbeats
from taskflow.runtime.host.here import Here
from taskflow.runtime.host.signals import SYSTEM, interruptible, terminable
from taskflow.runtime.host.survey import Place, choose_device, look, look_at, survey
from taskflow.runtime.host.workers import known_workers, remaining_workers, run_on_workers
