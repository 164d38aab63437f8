"""Bodies of a case on its grid: which cells are solid, and what is to be said of them before a run.

They know shapes and cells. They do not know the equations that are solved around them.
"""

from taskflow.simulation.bodies.bodies import Bodies
from taskflow.simulation.bodies.masks import Masks
from taskflow.simulation.bodies.movement import Movement, placement
from taskflow.simulation.bodies.moving import Moving
from taskflow.simulation.bodies.paths import Surroundings
from taskflow.simulation.bodies.survey import BodyPart, Survey, survey
