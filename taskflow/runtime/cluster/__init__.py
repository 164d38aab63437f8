"""Clusters: who lends the machines, who gets which, and the blocks of a run as one group, seen from the client.

Knows this machine, jobs of a batch system, clusters that are there already, and regions on blocks, for programs of
one's own. Does not know what is computed, nor where the words of a case file come from.
"""

from taskflow.runtime.cluster.block_group import BlockGroup, cause
from taskflow.runtime.cluster.lending import by_scheduler_file, held, lent
from taskflow.runtime.cluster.local import embedded
from taskflow.runtime.cluster.placement import (
    cut,
    ordinals,
    placed,
    processes,
    shortage,
    slabs,
    spread,
    threads_per_block,
)
from taskflow.runtime.cluster.slurm import Slurm
from taskflow.runtime.cluster.watch import Progress, unwatched, watch

__all__ = [
    "BlockGroup",
    "Progress",
    "Slurm",
    "by_scheduler_file",
    "cause",
    "cut",
    "embedded",
    "held",
    "lent",
    "ordinals",
    "placed",
    "processes",
    "shortage",
    "slabs",
    "spread",
    "threads_per_block",
    "unwatched",
    "watch",
]
