"""Incompressible flow on many GPUs: a task runtime for structured grids on Dask, and the solvers written in it.

Importing the package does no work: a public name loads its module when it is first used (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Case": "taskflow.simulation.case",
    "Run": "taskflow.simulation.run",
    "run": "taskflow.simulation.run",
    "BadInput": "taskflow.errors",
    "RunFailed": "taskflow.errors",
    "TaskflowError": "taskflow.errors",
}

__all__ = ["BadInput", "Case", "Run", "RunFailed", "TaskflowError", "__version__", "run"]

if TYPE_CHECKING:
    from taskflow.errors import BadInput, RunFailed, TaskflowError
    from taskflow.simulation.case import Case
    from taskflow.simulation.run import Run, run


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
