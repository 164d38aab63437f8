"""What probes and planes must have in common with the rest of a case."""

from collections.abc import Iterator

from taskflow.simulation.case.boundaries import AXES
from taskflow.simulation.case.physics import Grid, Heat
from taskflow.simulation.case.probes import Plane, Planes, Probe, Probes
from taskflow.simulation.case.problems import Key, Problem, shown, wrong
from taskflow.simulation.case.rules.defaults import all_fields
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.case.turbulence import Turbulence

TAKEN = ("statistics", "time", "grid", "solid", *(f"{axis}_{place}" for axis in AXES for place in "cf"))


def _tables(probes: Probes, planes: Planes) -> Iterator[tuple[Key, Probe | Plane]]:
    """Each table with its key."""
    yield from ((("probes", f"[{n}]"), probe) for n, probe in enumerate(probes, start=1))
    yield from ((("planes", f"[{n}]"), plane) for n, plane in enumerate(planes, start=1))


def _fields_exist(
    heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None, probes: Probes, planes: Planes
) -> Iterator[Problem]:
    fields = all_fields(heat, scalars, turbulence)
    for key, one in _tables(probes, planes):
        for name in one.fields or ():
            if name not in fields:
                message = f"this case has no field {shown(name)}; it has {', '.join(fields)}"
                yield wrong((*key, "fields"), one.fields, message)


def _names_differ(
    heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None, probes: Probes, planes: Planes
) -> Iterator[Problem]:
    seen = {*TAKEN, *all_fields(heat, scalars, turbulence)}
    for key, one in _tables(probes, planes):
        if one.name in seen:
            yield wrong((*key, "name"), one.name, "something in the store has this name; give another one")
        seen.add(one.name)


def _places_are_inside(grid: Grid, probes: Probes, planes: Planes) -> Iterator[Problem]:
    ends = [(low, low + length) for low, length in zip(grid.origin, grid.lengths, strict=True)]
    for n, probe in enumerate(probes, start=1):
        for place in probe.places:
            if not all(low <= x <= high for x, (low, high) in zip(place, ends, strict=True)):
                domain = shown([[low for low, _ in ends], [high for _, high in ends]])
                key = ("probes", f"[{n}]", "points" if probe.line is None else "line")
                yield wrong(key, place, f"beyond the domain {domain}; move it inside")
                break
    for n, plane in enumerate(planes, start=1):
        low, high = ends[plane.axis]
        if not low <= plane.position <= high:
            axis = AXES[plane.axis]
            remedy = f"beyond the domain, where {axis} goes from {low:g} to {high:g}; move it inside"
            yield wrong(("planes", f"[{n}]", axis), plane.position, remedy)


RULES = (
    (_fields_exist, ("heat", "scalars", "turbulence", "probes", "planes")),
    (_names_differ, ("heat", "scalars", "turbulence", "probes", "planes")),
    (_places_are_inside, ("grid", "probes", "planes")),
)
