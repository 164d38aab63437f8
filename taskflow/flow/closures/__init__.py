"""Models of turbulence: eddy viscosities of large-eddy simulation. They know walls, and no system of equations."""

from taskflow.flow.closures.closure import CLOSURES, Closure, register_closure

__all__ = ["CLOSURES", "Closure", "register_closure"]
