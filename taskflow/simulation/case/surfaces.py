"""Integrals over surfaces: [[surfaces]], [[isosurfaces]]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from taskflow.flow import StaggeredGrid
from taskflow.simulation.case.control import Interval
from taskflow.simulation.case.grid import AXES, Grid
from taskflow.simulation.case.obstacles import Obstacles
from taskflow.simulation.case.physics import Heat
from taskflow.simulation.case.probes import Across, GroupName, named, plane_is_inside
from taskflow.simulation.case.problems import Problem, exclusive, missing, numbered, wrong
from taskflow.simulation.case.scalars import Corners, Scalars
from taskflow.simulation.case.table import Number, Table, Text, entry, listed, reads
from taskflow.simulation.schedule import Every

PLACE = "a plane through the whole domain, along one of them; the nearest faces are taken"
OFTEN = "as `output.every`; cuts no step. Time 0 is always there"


class Surface(Across):
    """A plane, or the sides of a box, through which fluxes are integrated."""

    x: Number | None = entry(PLACE, None)
    y: Number | None = entry(PLACE, None)
    z: Number | None = entry(PLACE, None)
    box: Corners | None = entry(
        "in place of a plane: the six sides of a box, by its lowest and its highest corner; the nearest faces", None
    )
    every: Interval = entry(OFTEN, Every(steps=10))

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        needed = missing("z", "give x, y or z, where a plane is, or a box")
        return exclusive(values, "x", "y", "z", "box", needed=needed)


class Isosurface(Table):
    """The surface on which a quantity has a value."""

    name: GroupName = named()
    field: Text = entry("`T` or the name of a scalar", remedy="give the field, T or the name of a scalar")
    value: Number = entry("what it is on the surface", remedy="give the value on the surface, a number")
    every: Interval = entry(OFTEN, Every(steps=10))


surfaces = listed(Surface, "tables, each under [[surfaces]]")
isosurfaces = listed(Isosurface, "tables, each under [[isosurfaces]]")
Surfaces = Annotated[tuple[Surface, ...], reads(surfaces)]
Isosurfaces = Annotated[tuple[Isosurface, ...], reads(isosurfaces)]


def _surfaces_are_inside(grid: Grid, surfaces: Surfaces) -> Iterator[Problem]:
    for key, surface in numbered(surfaces=surfaces):
        if surface.box is None:
            yield from plane_is_inside(grid, key, surface)
        elif not grid.contains(*surface.box):
            yield grid.beyond((*key, "box"), surface.box)


def _boxes_have_cells(staggered: StaggeredGrid, surfaces: Surfaces) -> Iterator[Problem]:
    for key, surface in numbered(surfaces=surfaces):
        for axis, places in enumerate(zip(*surface.box, strict=True) if surface.box else ()):
            low, high = (staggered.nearest_face(axis, place) for place in places)
            if low == high:
                remedy = f"both ends are nearest to the same face across {AXES[axis]}; give a larger box, or more cells"
                yield wrong((*key, "box"), surface.box, remedy)
                break


def _isosurfaces_are_of_what_is_carried(
    heat: Heat | None, scalars: Scalars, obstacles: Obstacles, isosurfaces: Isosurfaces
) -> Iterator[Problem]:
    carried = (*(("T",) if heat else ()), *(scalar.name for scalar in scalars))
    for table, surface in numbered(isosurfaces=isosurfaces):
        key = (*table, "field")
        if surface.field not in carried:
            choice = f"give {' or '.join(carried)}" if carried else "this case has neither heat nor scalars"
            yield wrong(key, surface.field, f"a surface is of T or a scalar; {choice}")
        elif obstacles:
            yield wrong(key, surface.field, "not available around obstacles in this version; leave isosurfaces out")


RULES = (_surfaces_are_inside, _boxes_have_cells, _isosurfaces_are_of_what_is_carried)
