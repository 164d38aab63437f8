"""Profiles: timelines of replays on hosts and devices, their summaries, and files and pictures for viewers.

Knows the traces of a shard, which it marks, and the task graphs that it draws. Does not know what is computed, nor who
asked for it.
"""

from taskflow.runtime.profile.chrome import chrome, write_chrome
from taskflow.runtime.profile.profiler import Profiler, Ranges, profiled
from taskflow.runtime.profile.summary import summarise
from taskflow.runtime.profile.timeline import Timeline

__all__ = ["Profiler", "Ranges", "Timeline", "chrome", "profiled", "summarise", "write_chrome"]
