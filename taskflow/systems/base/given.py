"""The ranges of temperature and scalars given by a case: on sides, in bodies, by sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from taskflow.cases import Case, PassiveScalar
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.measures.extremes import Extremes, Range
from taskflow.output.store.metadata import GIVEN
from taskflow.runtime.regions import Box

ANY = (-math.inf, math.inf)
SMOOTH = 2.0  # cell Peclet number up to which central differences make no waves


@dataclass(frozen=True)
class GivenRanges:
    """The ranges of quantities on sides, in bodies and by sources, and remedies for values outside, by name. Initial
    values are not included: `measured` finds them in the first state. Picklable.
    """

    ranges: Mapping[str, Range]
    remedies: Mapping[str, str]
    measured: Extremes

    @property
    def attributes(self) -> dict[str, list[float]]:
        """Return the attributes of a store; infinite ends become null."""
        return {f"{GIVEN}{name}": list(ends) for name, ends in self.ranges.items()}

    @classmethod
    def of(
        cls, case: Case, remedies: Mapping[str, str], cells: tuple[Box, ...], *, bodies: bool = False
    ) -> GivenRanges:  # fmt: skip
        """Return the ranges of the quantities that have remedies."""
        tables = {scalar.name: scalar for scalar in case.scalars}
        ranges = {name: _heat(case) if name == "T" else _scalar(case, tables[name]) for name in remedies}
        for force in case.forcing:  # a formula may do anything
            ranges |= {force.on: ANY} if force.on in ranges else {}
        return cls(ranges, remedies, Extremes(tuple(ranges), cells, bodies))


NOTHING = GivenRanges({}, {}, Extremes((), ()))


def given(case: Case, model: FlowModel) -> GivenRanges:
    """Return the ranges of a flow on a Cartesian grid."""
    remedies = {}
    for q in model.quantities:
        key = "heat.scheme" if q.name == "T" else f"the scheme of scalar {q.name}"
        bounded = f'give {key} = "koren", which keeps the bounds, or more cells'
        remedies[q.name] = "give a smaller time.cfl" if q.bounded else bounded
    return GivenRanges.of(case, remedies, (model.staggered.box,), bodies=model.obstacles is not None)


def _sides(case: Case) -> dict[str, Any]:
    return dict(case.table("boundaries").sides)


def _heat(case: Case) -> Range:
    heat, values, pushes = case.table("heat"), list[Any](), list[Any]()
    for side in [*_sides(case).values(), *case.openings]:
        values += [side.temperature, side.outside_temperature if side.heat_transfer else None]
        pushes.append(side.heat_flux)
        if side.kind.enters and side.temperature is None:
            values.append(heat.reference)
    values += [body.temperature for body in case.obstacles]
    if any(heat.background_gradient):
        return ANY
    return _range(values, [*pushes, heat.source, *(source.rate for source in heat.sources)])


def _scalar(case: Case, scalar: PassiveScalar) -> Range:
    faces = scalar.boundaries.sides
    values: list[Any] = [0.0 for name, side in _sides(case).items() if side.kind.enters and name not in faces]
    opened = ((opening.scalars or {}, opening.kind.enters) for opening in case.openings)
    values += [given.get(scalar.name, 0.0 if enters else None) for given, enters in opened]
    values += [face.value for face in faces.values()]
    pushes = [face.flux for face in faces.values()]
    return _range(values, [*pushes, scalar.source, *(source.rate for source in scalar.sources)])


def _range(values: Iterable[Any], pushes: Iterable[Any]) -> Range:
    """Return the range of values, unbounded where a source or a flux pushes, and on both sides if one varies."""
    known, rates = ([value for value in some if value is not None] for some in (values, pushes))
    if not all(isinstance(value, int | float) for value in (*known, *rates)):
        return ANY
    low, high = min(known, default=math.inf), max(known, default=-math.inf)
    return -math.inf if any(rate < 0 for rate in rates) else low, math.inf if any(rate > 0 for rate in rates) else high


def coarse(given: GivenRanges, peclet: Mapping[str, float]) -> Iterator[str]:
    """Warn of cells in which differences without a limiter oscillate, by the cell Peclet number of each quantity."""
    for name, number in peclet.items():
        if number > SMOOTH:
            yield (
                f"{name}: the cell Peclet number is up to {number:.3g}, and above {SMOOTH:g} values may leave the range"
                f" of everything that is given; {given.remedies[name]}"
            )
