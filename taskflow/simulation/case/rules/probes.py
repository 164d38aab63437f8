"""What probes, planes and surfaces must have in common with the rest of a case."""

from collections.abc import Iterator
from itertools import islice

from taskflow.simulation.case.boundaries import AXES, Boundaries
from taskflow.simulation.case.integrals import Isosurface, Isosurfaces, Surface, Surfaces
from taskflow.simulation.case.obstacles import Obstacles
from taskflow.simulation.case.physics import Grid, Heat
from taskflow.simulation.case.probes import Across, Plane, Planes, Probe, Probes
from taskflow.simulation.case.problems import Key, Problem, wrong
from taskflow.simulation.case.rules.defaults import all_fields
from taskflow.simulation.case.rules.domain import beyond, ends, inside
from taskflow.simulation.case.rules.fields import missing
from taskflow.simulation.case.rules.grid import sound
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.case.spectra import Spectra
from taskflow.simulation.case.turbulence import Turbulence

TAKEN = ("statistics", "time", "grid", "solid", *(f"{axis}_{place}" for axis in AXES for place in "cf"))


def _tables(probes: Probes, planes: Planes) -> Iterator[tuple[Key, Probe | Plane]]:
    """Each table with its key."""
    yield from ((("probes", f"[{n}]"), probe) for n, probe in enumerate(probes, start=1))
    yield from ((("planes", f"[{n}]"), plane) for n, plane in enumerate(planes, start=1))


def _areas(surfaces: Surfaces, isosurfaces: Isosurfaces) -> Iterator[tuple[Key, Surface | Isosurface]]:
    yield from ((("surfaces", f"[{n}]"), surface) for n, surface in enumerate(surfaces, start=1))
    yield from ((("isosurfaces", f"[{n}]"), surface) for n, surface in enumerate(isosurfaces, start=1))


def _fields_exist(
    heat: Heat | None, scalars: Scalars, turbulence: Turbulence | None, probes: Probes, planes: Planes
) -> Iterator[Problem]:
    fields = all_fields(heat, scalars, turbulence)
    for key, one in _tables(probes, planes):
        yield from missing((*key, "fields"), one.fields, fields)


def _names_differ(
    heat: Heat | None,
    scalars: Scalars,
    turbulence: Turbulence | None,
    probes: Probes,
    planes: Planes,
    surfaces: Surfaces,
    isosurfaces: Isosurfaces,
    spectra: Spectra,
) -> Iterator[Problem]:
    seen = {*TAKEN, *all_fields(heat, scalars, turbulence)}
    waves = ((("spectra", f"[{n}]"), spectrum) for n, spectrum in enumerate(spectra, start=1))
    for key, one in (*_tables(probes, planes), *_areas(surfaces, isosurfaces), *waves):
        if one.name in seen:
            yield wrong((*key, "name"), one.name, "something in the store has this name; give another one")
        seen.add(one.name)


def _places_are_inside(grid: Grid, probes: Probes, planes: Planes) -> Iterator[Problem]:
    for n, probe in enumerate(probes, start=1):
        key = ("probes", f"[{n}]", "points" if probe.line is None else "line")
        outside = (place for place in probe.places if not inside(grid, [place]))
        yield from (beyond(grid, key, place) for place in islice(outside, 1))
    for n, plane in enumerate(planes, start=1):
        yield from _plane_is_inside(grid, ("planes", f"[{n}]"), plane)


def _surfaces_are_inside(grid: Grid, surfaces: Surfaces) -> Iterator[Problem]:
    for n, surface in enumerate(surfaces, start=1):
        key = ("surfaces", f"[{n}]")
        if surface.box is None:
            yield from _plane_is_inside(grid, key, surface)
        elif not inside(grid, surface.box):
            yield beyond(grid, (*key, "box"), surface.box)


def _plane_is_inside(grid: Grid, key: Key, plane: Across) -> Iterator[Problem]:
    (low, high), axis = ends(grid)[plane.axis], AXES[plane.axis]
    if not low <= plane.position <= high:
        remedy = f"beyond the domain, where {axis} goes from {low:g} to {high:g}; move it inside"
        yield wrong((*key, axis), plane.position, remedy)


def _boxes_have_cells(grid: Grid, boundaries: Boundaries, surfaces: Surfaces) -> Iterator[Problem]:
    staggered = sound(grid, boundaries)
    if staggered is None:
        return
    for n, surface in enumerate(surfaces, start=1):
        for axis, places in enumerate(zip(*surface.box, strict=True) if surface.box else ()):
            low, high = (staggered.nearest_face(axis, place) for place in places)
            if low == high:
                remedy = f"both ends are nearest to the same face across {AXES[axis]}; give a larger box, or more cells"
                yield wrong(("surfaces", f"[{n}]", "box"), surface.box, remedy)
                break


def _isosurfaces_are_of_what_is_carried(
    heat: Heat | None, scalars: Scalars, obstacles: Obstacles, isosurfaces: Isosurfaces
) -> Iterator[Problem]:
    carried = (*(("T",) if heat else ()), *(scalar.name for scalar in scalars))
    for n, surface in enumerate(isosurfaces, start=1):
        key = ("isosurfaces", f"[{n}]", "field")
        if surface.field not in carried:
            choice = f"give {' or '.join(carried)}" if carried else "this case has neither heat nor scalars"
            yield wrong(key, surface.field, f"a surface is of T or a scalar; {choice}")
        elif obstacles:
            yield wrong(key, surface.field, "not available around obstacles in this version; leave isosurfaces out")


RULES = (
    (_fields_exist, ("heat", "scalars", "turbulence", "probes", "planes")),
    (_names_differ, ("heat", "scalars", "turbulence", "probes", "planes", "surfaces", "isosurfaces", "spectra")),
    (_surfaces_are_inside, ("grid", "surfaces")),
    (_boxes_have_cells, ("grid", "boundaries", "surfaces")),
    (_isosurfaces_are_of_what_is_carried, ("heat", "scalars", "obstacles", "isosurfaces")),
    (_places_are_inside, ("grid", "probes", "planes")),
)
