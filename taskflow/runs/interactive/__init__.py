"""A simulation as an object: advance, inspect, steer, record.

It knows runs that pause, and Python functions. It does not know equations.
"""

from taskflow.runs.interactive.simulation import Simulation

__all__ = ["Simulation"]
