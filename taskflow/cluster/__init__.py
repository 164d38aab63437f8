"""Who lends the machines: an embedded cluster on this machine, or one that is running already."""

from taskflow.cluster.connect import by_scheduler_file
from taskflow.cluster.local import embedded, gpus

__all__ = ["by_scheduler_file", "embedded", "gpus"]
