"""Bodies in the flow: flags of cells, the operators beside them, forces.

They know grids and operators. They do not know shapes, which `taskflow.geometry` has, and no system of equations.
"""

from taskflow.flow.bodies.immersed import ImmersedObstacles
from taskflow.flow.bodies.moving import MovingObstacles
from taskflow.flow.bodies.obstacles import MOST, Body, Obstacles

__all__ = ["MOST", "Body", "ImmersedObstacles", "MovingObstacles", "Obstacles"]
