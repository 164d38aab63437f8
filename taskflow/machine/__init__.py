"""Where it happens: devices, kernels, channels, and the actors that execute an analysed program block by block."""

from taskflow.machine.actor import Control, Job, Plan, Status
from taskflow.machine.everywhere import everywhere, known_workers
from taskflow.machine.gang import Gang, cause
from taskflow.machine.kernel import copy_bandwidth
from taskflow.machine.mapper import Mapper
from taskflow.machine.pulse import Pulses
from taskflow.machine.shard import Limits, Shard
from taskflow.machine.signals import terminable
from taskflow.machine.survey import Place, choose_device, cores_per_block, look, look_at, survey
from taskflow.machine.threads import run_threads
from taskflow.machine.watch import Progress, unwatched, watch

__all__ = [
    "Control",
    "Gang",
    "Job",
    "Limits",
    "Mapper",
    "Place",
    "Plan",
    "Progress",
    "Pulses",
    "Shard",
    "Status",
    "cause",
    "choose_device",
    "copy_bandwidth",
    "cores_per_block",
    "everywhere",
    "known_workers",
    "look",
    "look_at",
    "run_threads",
    "survey",
    "terminable",
    "unwatched",
    "watch",
]
