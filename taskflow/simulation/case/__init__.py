"""The case: everything a user says about a run, validated before anything starts.

It knows tables, and rules between them. It does not know how a model is made of them.
"""

from taskflow.simulation.case.boundaries import FACES, Boundaries, Boundary
from taskflow.simulation.case.case import Case
from taskflow.simulation.case.control import SCHEMES, Output, Time
from taskflow.simulation.case.grid import GridTable
from taskflow.simulation.case.physics import MODELS, FluidTable, Heat
from taskflow.simulation.case.pressure import PressureTable
from taskflow.simulation.case.probes import Probe, SurfaceTable
from taskflow.simulation.case.scalars import PassiveScalar
from taskflow.simulation.case.statistics import SpectrumTable

__all__ = [
    "FACES", "MODELS", "SCHEMES", "Boundaries", "Boundary", "Case", "FluidTable", "GridTable", "Heat", "Output",
    "PassiveScalar", "PressureTable", "Probe", "SpectrumTable", "SurfaceTable", "Time",
]  # fmt: skip
