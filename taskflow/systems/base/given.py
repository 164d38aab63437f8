"""The ranges of temperature and scalars given by a case: on sides, in bodies, by sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from taskflow.cases import Case, PassiveScalar
from taskflow.cases.tables.timed import Timed, at_times
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.measures.extremes import Extremes, Range
from taskflow.output.store.metadata import GIVEN
from taskflow.runtime.regions import Box
from taskflow.systems.base.timed import times
from taskflow.systems.initial.inflow import Inflows

FEW = 32  # faces along each direction at which values that change in time are looked at
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
        cls, case: Case, remedies: Mapping[str, str], cells: tuple[Box, ...], *, bodies: bool = False,
        inflows: Inflows | None = None,
    ) -> GivenRanges:  # fmt: skip
        """Return the ranges of the quantities that have remedies. `inflows`, of a box, have values by place."""
        tables = {scalar.name: scalar for scalar in case.scalars}
        ranges = {name: _heat(case, inflows) if name == "T" else _scalar(case, tables[name]) for name in remedies}
        for force in case.forcing:  # a formula may do anything
            ranges |= {force.on: ANY} if force.on in ranges else {}
        return cls(ranges, remedies, Extremes(tuple(ranges), cells, bodies))


NOTHING = GivenRanges({}, {}, Extremes((), ()))


def given(case: Case, model: FlowModel, inflows: Inflows) -> GivenRanges:
    """Return the ranges of a flow on a Cartesian grid."""
    remedies = {}
    for q in model.quantities:
        key = "heat.scheme" if q.name == "T" else f"the scheme of scalar {q.name}"
        bounded = f'give {key} = "koren", which keeps the bounds, or more cells'
        remedies[q.name] = "give a smaller time.cfl" if q.bounded else bounded
    cells, bodies = (model.staggered.box,), model.obstacles is not None
    return GivenRanges.of(case, remedies, cells, bodies=bodies, inflows=inflows)


def _sides(case: Case) -> dict[str, Any]:
    return dict(case.table("boundaries").sides)


def _heat(case: Case, inflows: Inflows | None) -> Range:
    heat, pushes = case.table("heat"), list[Any]()
    placed = _placed(case, inflows) if inflows else {}
    conditions = [(key, side) for key, *_, side in case.conditions] if inflows else [*_sides(case).items()]
    values = [value for temperatures in placed.values() for value in temperatures]
    for key, side in conditions:
        values.append(side.outside_temperature if side.heat_transfer else None)
        pushes.append(side.heat_flux)
        if key not in placed:
            entering = side.kind.enters and side.temperature is None
            values.append(heat.reference if entering else side.temperature)
    values += [body.temperature for body in case.obstacles]
    if any(heat.background_gradient):
        return ANY
    pushes += [heat.source, *(source.rate for source in heat.sources)]
    return _range(_numbers(case, values), _numbers(case, pushes))


def _placed(case: Case, inflows: Inflows) -> dict[str, list[Any]]:
    """Return the least and largest temperature on sides that have it by place, at times of the run. Without a known end
    it is the value itself if it changes.
    """
    ranges = dict[str, list[Any]]()
    for key, side in inflows.all_profiles.items():
        if (profile := side.get("T")) is None:
            continue
        ranges[key] = [profile]
        if not profile.varies or case.end_time:
            moments = times(case) if profile.varies else [0.0]
            found = [inflows.all_at(key, "T", float(time), FEW if profile.varies else None) for time in moments]
            ranges[key] = [min(float(v.min()) for v in found), max(float(v.max()) for v in found)]
    return ranges


def _numbers(case: Case, values: Iterable[Any]) -> Iterator[Any]:
    """Yield values, instead of one that changes uniformly those at times of the run, if its end is known."""
    for value in values:
        if isinstance(value, Timed) and case.end_time:
            yield from at_times(value, times(case)).tolist()
        else:
            yield value


def _scalar(case: Case, scalar: PassiveScalar) -> Range:
    faces = scalar.boundaries.sides
    values: list[Any] = [0.0 for name, side in _sides(case).items() if side.kind.brings and name not in faces]
    opened = ((opening.scalars or {}, opening.kind.brings) for opening in case.openings)
    values += [given.get(scalar.name, 0.0 if brings else None) for given, brings in opened]
    values += [face.value for face in faces.values()]
    pushes = [*(face.flux for face in faces.values()), scalar.source, *(source.rate for source in scalar.sources)]
    return _range(_numbers(case, values), _numbers(case, pushes))


def _range(values: Iterable[Any], pushes: Iterable[Any]) -> Range:
    """Return the range of values, unbounded where a source or a flux pushes, and on both sides if one is unknown."""
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
