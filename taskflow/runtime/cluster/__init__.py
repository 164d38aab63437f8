"""Clusters: machines, their assignment to blocks, and the blocks of a run as one group, controlled by the client.

Knows this machine, jobs of a batch system, existing clusters, and regions on blocks, for user programs. Does not know
the physics, nor the origin of the values in a case file.
"""

from taskflow.runtime.cluster.block_group import BlockGroup
from taskflow.runtime.cluster.local import embedded
from taskflow.runtime.cluster.placement import (
    by_scheduler_file,
    cluster_client,
    copying,
    crowding,
    cut,
    host_numbers,
    lasting_client,
    ordinals,
    placed,
    processes,
    shortage,
    slabs,
    spread,
    threads_per_block,
)
from taskflow.runtime.cluster.slurm import Slurm
from taskflow.runtime.cluster.watch import Progress, cause, unwatched, watch
