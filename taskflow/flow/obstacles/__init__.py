"""Bodies in the flow: flags of cells, the operators beside them, forces."""

from taskflow.flow.obstacles.immersed import ImmersedObstacles
from taskflow.flow.obstacles.obstacles import MOST, Body, Obstacles
from taskflow.flow.obstacles.pressure import ConvergedObstructedJacobi, ObstructedJacobi

__all__ = ["MOST", "Body", "ConvergedObstructedJacobi", "ImmersedObstacles", "Obstacles", "ObstructedJacobi"]
