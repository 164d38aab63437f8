"""Bodies of a case on its grid: solid cells, and checks before a run.

They know shapes and cells. They do not know the equations that are solved around them.
"""

from taskflow.systems.bodies.bodies import Bodies
from taskflow.systems.bodies.masks import Masks
from taskflow.systems.bodies.movement import Movement, placement
from taskflow.systems.bodies.moving import MovingBodies
from taskflow.systems.bodies.paths import BodyPaths, MovingGeometry, Surroundings
from taskflow.systems.bodies.survey import BodyPart, Survey, survey
