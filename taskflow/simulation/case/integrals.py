"""What is integrated over surfaces: [[surfaces]], [[isosurfaces]]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from taskflow.simulation.case.control import Interval
from taskflow.simulation.case.probes import GroupName, named
from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.scalars import Corners
from taskflow.simulation.case.table import Number, Table, Text, entry, listed, reads
from taskflow.simulation.schedule import Every

PLACE = "a plane through the whole domain, along one of them; the nearest faces are taken"
OFTEN = "as `output.every`; cuts no step. Time 0 is always there"


class Surface(Table):
    """What passes through a plane, or through the sides of a box."""

    name: GroupName = named()
    x: Number | None = entry(PLACE, None)
    y: Number | None = entry(PLACE, None)
    z: Number | None = entry(PLACE, None)
    box: Corners | None = entry(
        "in place of a plane: the six sides of a box, by its lowest and its highest corner; the nearest faces", None
    )
    every: Interval = entry(OFTEN, Every(steps=10))

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        where = present(given, "x", "y", "z", "box")
        if not where:
            yield missing("z", "give x, y or z, where a plane is, or a box")
        for key in where[1:]:
            yield wrong(key, given[key], f"{where[0]} is given as well; give one of them")

    @property
    def axis(self) -> int:
        """Which direction is across the plane: 0, 1 or 2."""
        return next(n for n, place in enumerate((self.x, self.y, self.z)) if place is not None)

    @property
    def position(self) -> float:
        """Where the plane is along that."""
        return next(place for place in (self.x, self.y, self.z) if place is not None)


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
