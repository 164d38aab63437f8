"""Profiles: timelines of replays on hosts and devices, what they say, and files for viewers."""

from taskflow.machine.profile.chrome import chrome, write_chrome
from taskflow.machine.profile.nvtx import Ranges
from taskflow.machine.profile.profiler import Profiler, profiled
from taskflow.machine.profile.summary import summarise
from taskflow.machine.profile.timeline import Timeline

__all__ = ["Profiler", "Ranges", "Timeline", "chrome", "profiled", "summarise", "write_chrome"]
