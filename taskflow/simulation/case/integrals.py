"""What is integrated over surfaces: [[surfaces]], [[isosurfaces]]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from taskflow.simulation.case.control import Interval
from taskflow.simulation.case.probes import Across, GroupName, named, one_place
from taskflow.simulation.case.problems import Problem
from taskflow.simulation.case.scalars import Corners
from taskflow.simulation.case.table import Number, Table, Text, entry, listed, reads
from taskflow.simulation.schedule import Every

PLACE = "a plane through the whole domain, along one of them; the nearest faces are taken"
OFTEN = "as `output.every`; cuts no step. Time 0 is always there"


class Surface(Across):
    """What passes through a plane, or through the sides of a box."""

    x: Number | None = entry(PLACE, None)
    y: Number | None = entry(PLACE, None)
    z: Number | None = entry(PLACE, None)
    box: Corners | None = entry(
        "in place of a plane: the six sides of a box, by its lowest and its highest corner; the nearest faces", None
    )
    every: Interval = entry(OFTEN, Every(steps=10))

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        yield from one_place(given, ("x", "y", "z", "box"), "give x, y or z, where a plane is, or a box")


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
