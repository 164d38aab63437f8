"""Bodies in the flow: flags of cells, the operators beside them, forces."""

from taskflow.flow.bodies.immersed import ImmersedObstacles
from taskflow.flow.bodies.obstacles import MOST, Body, Obstacles
from taskflow.flow.bodies.pressure import ConvergedObstructedJacobi, ObstructedJacobi

__all__ = ["MOST", "Body", "ConvergedObstructedJacobi", "ImmersedObstacles", "Obstacles", "ObstructedJacobi"]
