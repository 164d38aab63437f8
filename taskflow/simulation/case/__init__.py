"""The case: everything a user says about a run, validated before anything starts."""

from taskflow.simulation.case.boundaries import FACES, Boundaries, Boundary
from taskflow.simulation.case.case import Case
from taskflow.simulation.case.control import SCHEMES, Output, Time
from taskflow.simulation.case.grid import Grid
from taskflow.simulation.case.obstacles import Obstacle
from taskflow.simulation.case.physics import Fluid, Heat
from taskflow.simulation.case.pressure import Pressure
from taskflow.simulation.case.scalars import PassiveScalar, Source
from taskflow.simulation.case.spectra import Spectrum
from taskflow.simulation.case.surfaces import Surface
from taskflow.simulation.case.turbulence import MODELS

__all__ = [
    "FACES", "MODELS", "SCHEMES", "Boundaries", "Boundary", "Case", "Fluid", "Grid", "Heat", "Obstacle", "Output",
    "PassiveScalar", "Pressure", "Source", "Spectrum", "Surface", "Time",
]  # fmt: skip
