"""What bodies must have in common with the rest of a case."""

from collections.abc import Iterator

from taskflow.flow.obstacles import MOST
from taskflow.simulation.case.obstacles import Bodies, Obstacle
from taskflow.simulation.case.physics import Heat
from taskflow.simulation.case.pressure import Pressure
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.case.rules.boundaries import NO_HEAT


def _obstacles_have_heat(heat: Heat | None, obstacles: tuple[Obstacle, ...]) -> Iterator[Problem]:
    for n, obstacle in enumerate(obstacles, start=1):
        if heat is None and obstacle.temperature is not None:
            yield wrong(("obstacles", f"[{n}]", "temperature"), obstacle.temperature, NO_HEAT)


def _forces_can_be_followed(obstacles: tuple[Obstacle, ...]) -> Iterator[Problem]:
    names = list(dict.fromkeys(obstacle.name for obstacle in obstacles if obstacle.name))
    if len(names) > MOST:
        remedy = f"the forces on at most {MOST} bodies are followed; leave out names, or give several parts one name"
        yield wrong(("obstacles",), f"{len(names)} names", remedy)


def _forcing_is_for_obstacles(pressure: Pressure, obstacles: tuple[Obstacle, ...]) -> Iterator[Problem]:
    if pressure.forcing is not None and not obstacles:
        yield wrong(("pressure", "forcing"), pressure.forcing, "this case has no [[obstacles]]; leave it out")


def _treatment_is_for_obstacles(bodies: Bodies, obstacles: tuple[Obstacle, ...]) -> Iterator[Problem]:
    if bodies.treatment != "flagged" and not obstacles:
        yield wrong(("bodies", "treatment"), bodies.treatment, "this case has no [[obstacles]]; leave it out")


RULES = (
    (_obstacles_have_heat, ("heat", "obstacles")),
    (_forces_can_be_followed, ("obstacles",)),
    (_forcing_is_for_obstacles, ("pressure", "obstacles")),
    (_treatment_is_for_obstacles, ("bodies", "obstacles")),
)
