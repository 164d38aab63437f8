"""A simulation as an object: stepped, looked into, steered, recorded."""

from taskflow.simulation.interactive.simulation import Simulation

__all__ = ["Simulation"]
