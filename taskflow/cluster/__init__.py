"""Who lends the machines: an embedded cluster on this machine, or one that is running already; and who gets which."""

from taskflow.cluster.connect import by_scheduler_file
from taskflow.cluster.counting import dask_messages
from taskflow.cluster.lending import lent
from taskflow.cluster.local import embedded, gpus
from taskflow.cluster.memory import shortage
from taskflow.cluster.placement import cut, ordinals, placed, processes, slabs, spread, threads_per_block

__all__ = [
    "by_scheduler_file",
    "cut",
    "dask_messages",
    "embedded",
    "gpus",
    "lent",
    "ordinals",
    "placed",
    "processes",
    "shortage",
    "slabs",
    "spread",
    "threads_per_block",
]
