"""What eddies must have in common with the rest of a case."""

from collections.abc import Iterator

from taskflow.simulation.case.boundaries import FACES, Boundaries
from taskflow.simulation.case.physics import Grid
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.case.rules.grid import cells_fit
from taskflow.simulation.case.turbulence import Turbulence


def _rough_walls_are_resolved(grid: Grid, boundaries: Boundaries, turbulence: Turbulence | None) -> Iterator[Problem]:
    for face in FACES:
        roughness = getattr(getattr(boundaries, face), "roughness", None)
        if roughness is None or any(cells_fit(grid)):
            continue
        key = ("boundaries", face, "roughness")
        most = grid.staggered((False, False, False)).constants.beside(face) / 2
        if turbulence is None:
            yield wrong(key, roughness, "the law of the wall is one of turbulent flow; add a [turbulence] table")
        elif roughness > most:
            remedy = f"the first cell is not as far from the wall; give at most {most:g}, or fewer cells in {face[0]}"
            yield wrong(key, roughness, remedy)


RULES = ((_rough_walls_are_resolved, ("grid", "boundaries", "turbulence")),)
