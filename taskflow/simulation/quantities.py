"""What the flow of a case carries: the temperature and passive scalars."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.flow import Fixed, Flux, Quantity, Source, StaggeredGrid, Transport
from taskflow.simulation.case import FACES, Case, PassiveScalar
from taskflow.simulation.case import Source as CaseSource


def temperature(case: Case, grid: StaggeredGrid) -> Quantity | None:
    """T, where the case has heat."""
    heat = case.heat
    if heat is None:
        return None
    sources = tuple(_sources(heat.sources, grid))
    return Quantity("T", Transport(heat.diffusivity, heat.source), heat.scheme != "central", sources)


def passive(case: Case, grid: StaggeredGrid) -> tuple[Quantity, ...]:
    """The passive scalars of the case."""
    return tuple(_passive(case, scalar, grid) for scalar in case.scalars)


def _passive(case: Case, scalar: PassiveScalar, grid: StaggeredGrid) -> Quantity:
    faces: dict[str, Fixed | Flux] = {}
    for face in FACES:
        if not case.periodic["xyz".index(face[0])]:
            side, enters = getattr(scalar.boundaries, face), case.boundary(face).type == "inflow"
            if side is None:
                faces[face] = Fixed(0.0) if enters else Flux(0.0)
            else:
                faces[face] = Flux(side.flux or 0.0) if side.value is None else Fixed(side.value)
    sources = tuple(_sources(scalar.sources, grid))
    transport = Transport(scalar.diffusivity, scalar.source)
    return Quantity(scalar.name, transport, scalar.scheme != "central", sources, faces)


def _sources(sources: tuple[CaseSource, ...], grid: StaggeredGrid) -> Iterator[Source]:
    for source in sources:
        if source.box is not None:
            yield Source(*source.box, source.rate)
        elif source.point is not None:
            yield Source.at(source.point, source.rate, grid)
