"""The case: everything a user says about a run, validated before anything starts.

It knows tables, and rules between them. It does not know how models are built from them.
"""

from taskflow.cases.case import Case
from taskflow.cases.tables.boundaries import FACES, Boundaries, Boundary
from taskflow.cases.tables.control import SCHEMES, Output, Time
from taskflow.cases.tables.grid import GridTable
from taskflow.cases.tables.physics import FluidTable, Heat
from taskflow.cases.tables.pressure import PressureTable
from taskflow.cases.tables.probes import Probe, SurfaceTable
from taskflow.cases.tables.scalars import PassiveScalar
from taskflow.cases.tables.statistics import SpectrumTable

__all__ = [
    "FACES", "SCHEMES", "Boundaries", "Boundary", "Case", "FluidTable", "GridTable", "Heat", "Output",
    "PassiveScalar", "PressureTable", "Probe", "SpectrumTable", "SurfaceTable", "Time",
]  # fmt: skip
