"""The case: everything a user says about a run, validated before anything starts."""

from taskflow.simulation.case.boundaries import FACES, Boundaries, Boundary
from taskflow.simulation.case.case import Case
from taskflow.simulation.case.control import SCHEMES, Monitor, Output, Time
from taskflow.simulation.case.grid import Grid
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.obstacles import Obstacle
from taskflow.simulation.case.physics import Fluid, Forcing, Heat
from taskflow.simulation.case.pressure import Pressure
from taskflow.simulation.case.probes import Line, Plane, Probe
from taskflow.simulation.case.scalars import PassiveScalar, ScalarBoundaries, ScalarFace, Source
from taskflow.simulation.case.spectra import Spectrum
from taskflow.simulation.case.statistics import Statistics
from taskflow.simulation.case.surfaces import Isosurface, Surface
from taskflow.simulation.case.turbulence import MODELS, Turbulence

__all__ = [
    "FACES",
    "MODELS",
    "SCHEMES",
    "Boundaries",
    "Boundary",
    "Case",
    "Fluid",
    "Forcing",
    "Grid",
    "Heat",
    "Initial",
    "Isosurface",
    "Line",
    "Machine",
    "Monitor",
    "Obstacle",
    "Output",
    "PassiveScalar",
    "Plane",
    "Pressure",
    "Probe",
    "ScalarBoundaries",
    "ScalarFace",
    "Source",
    "Spectrum",
    "Statistics",
    "Surface",
    "Time",
    "Turbulence",
]
