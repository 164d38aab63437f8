"""The physics: grids, operators, boundary conditions, models made of them.

It knows tasks and the regions that they are launched over. It does not know cases, files, streams, messages or ranks.
"""

from taskflow.flow.boundaries.condition import Boundaries, BoundaryCondition
from taskflow.flow.boundaries.inflow import Inflow
from taskflow.flow.boundaries.outflow import AdvectedOutflow, ConvectiveOutflow, PressureOutflow
from taskflow.flow.boundaries.slip import Slip
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.closures.eddy_viscosity import Smagorinsky, Turbulence, Vreman, Wale
from taskflow.flow.forcing.driving import Driving
from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.measures.monitor import Monitor
from taskflow.flow.models.projection.navier_stokes import NavierStokes
from taskflow.flow.operators.momentum import CENTRAL, QUICK, Advection, Buoyancy, Fluid
from taskflow.flow.scalars.conditions import Fixed, Flux
from taskflow.flow.scalars.quantity import Quantity, Source
from taskflow.flow.scalars.transport import Transport

__all__ = [
    "CENTRAL",
    "QUICK",
    "AdvectedOutflow",
    "Advection",
    "Boundaries",
    "BoundaryCondition",
    "Buoyancy",
    "ConvectiveOutflow",
    "Driving",
    "Fixed",
    "Fluid",
    "Flux",
    "Grid",
    "Inflow",
    "Monitor",
    "NavierStokes",
    "PressureOutflow",
    "Quantity",
    "Slip",
    "Smagorinsky",
    "Source",
    "StaggeredGrid",
    "Transport",
    "Turbulence",
    "Vreman",
    "Wale",
    "Wall",
]
