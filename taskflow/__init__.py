"""Incompressible flow on many GPUs: a task runtime for structured grids on Dask, and the solvers written in it.

Importing the package does no work: a public name loads its module when it is first used (PEP 562), and datasets of
xarray get their `flow` when xarray is imported.
"""

from typing import TYPE_CHECKING

from taskflow.accessor import registration
from taskflow.common.lazy import attributes
from taskflow.common.namesake import PROBLEM, mixed

if mixed():
    raise ImportError(PROBLEM)

registration.register()

_ROOMS = {
    "taskflow.cases": ("Case",),
    "taskflow.systems.two_phase": ("TwoPhase",),
    "taskflow.runs.interactive": ("Simulation",),
    "taskflow.runs.results": ("Run",),
    "taskflow.runs.run": ("run",),
    "taskflow.runs.study": ("Study",),
    "taskflow.runs.sweep": ("sweep",),
    "taskflow.common.release": ("__version__",),
    "taskflow.common.errors": ("BadInput", "Interrupted", "RunFailed", "Stopped", "TaskflowError"),
    "taskflow.runtime.regions": ("Atlas", "Box", "Field", "Partition", "Region", "Seam", "Turn", "charted", "region"),
    "taskflow.runtime.cluster.blocks": ("Blocks",),
    "taskflow.runtime.cluster.jobs": ("Ran",),
    "taskflow.runtime.cluster.session": ("distribute",),
    "taskflow.runtime.cluster.slurm": ("Slurm",),
}

__all__ = [
    "Atlas",
    "Axis",
    "BadInput",
    "Blocks",
    "Box",
    "Case",
    "Coloured",
    "Components",
    "Face",
    "Field",
    "Foreign",
    "Interrupted",
    "Partition",
    "Ran",
    "Read",
    "ReadWrite",
    "Reduce",
    "Region",
    "Run",
    "RunFailed",
    "Scalar",
    "Seam",
    "Simulation",
    "Slurm",
    "Stopped",
    "Study",
    "Sweep",
    "Swept",
    "TaskflowError",
    "Turn",
    "TwoPhase",
    "Write",
    "__version__",
    "box",
    "charted",
    "derive",
    "distribute",
    "facing",
    "lines",
    "offsets",
    "region",
    "repeat",
    "run",
    "star",
    "sweep",
    "sweeps",
    "task",
]
_HOME = dict.fromkeys(__all__, "taskflow.runtime.tasks")  # the words of tasks, but for those of other rooms
_HOME |= {name: room for room, names in _ROOMS.items() for name in names}

if TYPE_CHECKING:
    from taskflow.cases import Case
    from taskflow.common.errors import BadInput, Interrupted, RunFailed, Stopped, TaskflowError
    from taskflow.common.release import __version__
    from taskflow.runs.interactive import Simulation
    from taskflow.runs.results import Run
    from taskflow.runs.run import run
    from taskflow.runs.study import Study
    from taskflow.runs.sweep import sweep
    from taskflow.runtime.cluster.blocks import Blocks
    from taskflow.runtime.cluster.jobs import Ran
    from taskflow.runtime.cluster.session import distribute
    from taskflow.runtime.regions import Atlas, Box, Field, Partition, Region, Seam, Turn, charted, region
    from taskflow.runtime.tasks import (
        Axis,
        Coloured,
        Components,
        Face,
        Foreign,
        Read,
        ReadWrite,
        Reduce,
        Scalar,
        Sweep,
        Swept,
        Write,
        box,
        derive,
        facing,
        lines,
        offsets,
        repeat,
        star,
        sweeps,
        task,
    )
    from taskflow.systems.two_phase import TwoPhase

__getattr__, __dir__ = attributes(__name__, _HOME, __all__)
