"""Who lends the machines: this one, jobs of a batch system, or a cluster that is there already; and who gets which."""

from taskflow.cluster.connect import by_scheduler_file
from taskflow.cluster.counting import dask_messages
from taskflow.cluster.lending import held, lent
from taskflow.cluster.local import embedded
from taskflow.cluster.memory import shortage
from taskflow.cluster.mending import mended
from taskflow.cluster.placement import cut, ordinals, placed, processes, slabs, spread, threads_per_block
from taskflow.cluster.slurm import Slurm

__all__ = [
    "Slurm",
    "by_scheduler_file",
    "cut",
    "dask_messages",
    "embedded",
    "held",
    "lent",
    "mended",
    "ordinals",
    "placed",
    "processes",
    "shortage",
    "slabs",
    "spread",
    "threads_per_block",
]
