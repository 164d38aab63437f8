"""Bodies in the flow: flags of cells, operators at their surfaces, and forces.

They know grids and operators, but neither shapes, which `taskflow.geometry` has, nor systems of equations.
"""

from taskflow.flow.bodies.immersed import ImmersedObstacles
from taskflow.flow.bodies.moving import MovingObstacles
from taskflow.flow.bodies.obstacles import MOST, Body, Obstacles

__all__ = ["MOST", "Body", "ImmersedObstacles", "MovingObstacles", "Obstacles"]
