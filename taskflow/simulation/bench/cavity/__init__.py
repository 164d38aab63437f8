"""The papers' campaign, with the real step of the flow solver: scaling, memory, pressure solvers, energy and price."""

from taskflow.simulation.bench.cavity.campaign import measure_cavity, measure_step
from taskflow.simulation.bench.cavity.cases import Flow, Pressure
from taskflow.simulation.bench.cavity.convergence import Comparison, measure_convergence
from taskflow.simulation.bench.cavity.memory import measure_memory
from taskflow.simulation.bench.cavity.methods import METHODS

__all__ = [
    "METHODS",
    "Comparison",
    "Flow",
    "Pressure",
    "measure_cavity",
    "measure_convergence",
    "measure_memory",
    "measure_step",
]
