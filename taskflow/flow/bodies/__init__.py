"""Bodies in the flow: flags of cells, the operators beside them, forces."""

from taskflow.flow.bodies.immersed import ImmersedObstacles
from taskflow.flow.bodies.moving import MovingObstacles
from taskflow.flow.bodies.obstacles import MOST, Body, Obstacles

__all__ = ["MOST", "Body", "ImmersedObstacles", "MovingObstacles", "Obstacles"]
