"""The physics: grids, operators, boundary conditions, models made of them. No stream, message, rank or thread."""

from taskflow.flow.boundary import Boundaries, Boundary, ConvectiveOutflow, Inflow, PressureOutflow, Slip, Wall
from taskflow.flow.driving import Driving
from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.heat import Heat
from taskflow.flow.momentum import Buoyancy, Fluid
from taskflow.flow.navier_stokes import NavierStokes

__all__ = [
    "Boundaries",
    "Boundary",
    "Buoyancy",
    "ConvectiveOutflow",
    "Driving",
    "Fluid",
    "Grid",
    "Heat",
    "Inflow",
    "NavierStokes",
    "PressureOutflow",
    "Slip",
    "StaggeredGrid",
    "Wall",
]
