"""What heat, scalars and their sources must have in common with the rest of a case."""

from collections.abc import Iterator

from taskflow.simulation.case.boundaries import AXES, Boundaries
from taskflow.simulation.case.physics import Grid, Heat
from taskflow.simulation.case.problems import Key, Problem, wrong
from taskflow.simulation.case.rules.domain import beyond, inside
from taskflow.simulation.case.scalars import Scalars, Sources


def _background_is_central(heat: Heat | None) -> Iterator[Problem]:
    if heat and heat.scheme != "central" and any(heat.background_gradient):
        remedy = "a departure from a background has no bounds to keep; leave it out, or background_gradient"
        yield wrong(("heat", "scheme"), heat.scheme, remedy)


def _names_differ(scalars: Scalars) -> Iterator[Problem]:
    names = [scalar.name for scalar in scalars]
    for n, name in enumerate(names):
        if name in names[:n]:
            yield wrong(("scalars", f"[{n + 1}]", "name"), name, "another scalar has this name; give each its own")


def _scalars_have_faces(grid: Grid, boundaries: Boundaries, scalars: Scalars) -> Iterator[Problem]:
    for n, scalar in enumerate(scalars, start=1):
        for face, side in scalar.boundaries:
            if side is None:
                continue
            axis, key = face[0], ("scalars", f"[{n}]", "boundaries", face)
            if getattr(boundaries, axis) is not None:
                yield wrong(key, side.written(), f"{axis} is periodic; leave {face} out")
            elif side.value is not None and grid.cells[AXES.index(axis)] == 1:
                yield wrong(key, side.written(), f"one cell in {axis} has no room for a value; leave it out")
            elif side.flux and scalar.diffusivity == 0:
                yield wrong((*key, "flux"), side.flux, "nothing diffuses without diffusivity; give one, or a source")


def _sources_are_inside(grid: Grid, heat: Heat | None, scalars: Scalars) -> Iterator[Problem]:
    tables: dict[Key, Sources] = {("heat",): heat.sources} if heat else {}
    tables |= {("scalars", f"[{n}]"): scalar.sources for n, scalar in enumerate(scalars, start=1)}
    for key, sources in tables.items():
        for n, source in enumerate(sources, start=1):
            name = "box" if source.box else "point"
            if not inside(grid, source.box or (source.point or (),)):
                yield beyond(grid, (*key, "sources", f"[{n}]", name), getattr(source, name))


RULES = (
    (_background_is_central, ("heat",)),
    (_names_differ, ("scalars",)),
    (_scalars_have_faces, ("grid", "boundaries", "scalars")),
    (_sources_are_inside, ("grid", "heat", "scalars")),
)
