"""Time-dependent numbers of a case, as steps read them: on sides at the end of each stage, forces at its start, sources
as its mean. Every block computes them from the time, without communication.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from taskflow.cases import Case
from taskflow.cases.tables.boundaries import Boundaries, Boundary
from taskflow.cases.tables.physics import Forcing
from taskflow.cases.tables.timed import Timed, Value, Values, at_time, changes, placed
from taskflow.common.errors import BadInput, named
from taskflow.flow.boundaries.boundary import timed
from taskflow.flow.boundaries.wall_supply import END
from taskflow.flow.forcing.driving import angular_velocity, applied_force, body_force
from taskflow.flow.grid import Vector
from taskflow.flow.scalars.quantity import release_rate
from taskflow.flow.time.schemes import TimeScheme
from taskflow.runtime.regions import triple

SAMPLES = 257  # moments at which numbers are tried
UNKNOWN = np.geomspace(1e-6, 1e6, SAMPLES)  # if the end of the run is unknown


Drive = Literal["velocity", "pressure", "force", "temperature", "heat flux", "heat source"]


@dataclass(frozen=True)
class Term:
    """A value of the case by its key, such as "boundaries.z_max.velocity[1]", and its factor. `drive` is the way in
    which it can set a fluid in motion, None if it cannot. `number` is its axis, or the number of a source, from 0.
    """

    key: str
    value: Value
    factor: float = 1.0
    drive: Drive | None = None
    number: int = 0


@dataclass(frozen=True)
class TimedNumber:
    """A sum of terms in scalars whose names begin with `stem`, for each stage: at its "begin" or "end", as its "mean"
    by Simpson's rule, or as a "force", which is extrapolated like tendencies if the stage has a ratio, else the
    mean. The scalar `applied`, if it has a name, is what a step adds, per time, of numbers at the "begin" of stages.
    """

    stem: str
    terms: tuple[Term, ...]
    of: Literal["begin", "end", "mean", "force"] = "end"
    applied: str = ""

    def at(self, time: float, instead: Mapping[str, Value]) -> float:
        """Return the number at a time, with values `instead` by key. Raises BadInput, with the key, if invalid."""
        total = 0.0
        for term in self.terms:
            with named(term.key):
                total += term.factor * at_time(instead.get(term.key, term.value), time)
        return total

    def over(self, start: float, end: float, instead: Mapping[str, Value]) -> float:
        """Return the number of a stage from `start` to `end`."""
        if self.of in ("begin", "end") or start == end:
            return self.at(end if self.of == "end" else start, instead)
        first, middle, last = (self.at(time, instead) for time in (start, (start + end) / 2, end))
        return (first + 4 * middle + last) / 6


@dataclass(frozen=True)
class TimedNumbers:
    """All time-dependent numbers of a case. `instead` are values set by the user, by key. Picklable."""

    numbers: tuple[TimedNumber, ...]
    scheme: TimeScheme
    instead: dict[str, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.numbers)

    @property
    def keys(self) -> dict[str, Value]:
        """The time-dependent values, by key."""
        terms = (term for number in self.numbers for term in number.terms)
        return {term.key: self.instead.get(term.key, term.value) for term in terms}

    def begin(self, time: float) -> dict[str, float]:
        """Return the scalars in the boundary values of a state."""
        return self._scalars([time] * len(self.scheme.ends), [time] * len(self.scheme.ends))

    def advance(self, time: float, dt: float, ratio: float = 0.0) -> dict[str, float]:
        """Return the scalars of a step from `time` to time + dt, `ratio` times as long as the last one, or 0."""
        ends = self.scheme.ends
        starts = [time + dt * part for part in (0.0, *ends[:-1])]
        before = time - dt / ratio if ratio else time
        applied = {n.applied: self._applied(n, before, starts, ratio) for n in self.numbers if n.applied}
        return self._scalars(starts, [time + dt * part for part in ends]) | applied

    def _applied(self, number: TimedNumber, before: float, starts: list[float], ratio: float) -> float:
        """Return what a step adds per time, with the weights of its stages and of the step `before`."""
        old, total = number.at(before, self.instead), 0.0
        for stage, start in zip(self.scheme.stages, starts, strict=True):
            part = (ratio if stage.ratio is None else stage.ratio) / 2
            now = number.at(start, self.instead)
            total += stage.share * ((1 + part) * now - part * old)
            old = now
        return total

    def check(self, times: np.ndarray) -> None:
        """Raise BadInput, with the key, if a value is invalid at one of these times."""
        for time in times:
            for number in self.numbers:
                number.at(float(time), self.instead)

    def _scalars(self, starts: list[float], ends: list[float]) -> dict[str, float]:
        scalars = {}
        for number in self.numbers:
            before = 0.0
            for stage, ending, start, end in zip(self.scheme.stages, self.scheme.endings, starts, ends, strict=True):
                value = number.over(start, end, self.instead)
                if number.of == "force" and stage.ratio is not None:
                    now = number.at(start, self.instead)
                    value, before = (1 + stage.ratio / 2) * now - stage.ratio / 2 * before, now
                scalars[f"{number.stem}{ending}"] = value
        return scalars


def timed_numbers(case: Case) -> tuple[TimedNumber, ...]:
    """Return all time-dependent numbers except inflow values."""
    return (*_of_sides(case), *_of_scalars(case), *_of_sources(case), *_of_forces(case))


def _of_sides(case: Case) -> Iterator[TimedNumber]:
    if not isinstance(case.table("boundaries"), Boundaries):
        return
    for name, face, key, side in case.conditions:
        if side.kind.fixes_velocity():
            continue
        across = "xyz".index(face[0])
        if isinstance(side.pressure, float | Timed) and side.pressure != 0:
            term = Term(f"{key}.pressure", side.pressure, drive="pressure", number=across)
            yield TimedNumber(timed(name, "p", ""), (term,), "force")
        velocity = side.velocity or (0.0, 0.0, 0.0)
        if changes(*velocity) and not placed(*velocity):
            for axis, part in enumerate(velocity):
                if axis != across:
                    term = Term(f"{key}.velocity[{axis + 1}]", part, drive="velocity", number=axis)
                    yield from _on(side, timed(name, "uvw"[axis], ""), term)
        if side.temperature is not None and changes(side.temperature) and not placed(side.temperature):
            term = Term(f"{key}.temperature", side.temperature, drive="temperature")
            yield from _on(side, timed(name, "T", ""), term)
        outside, flux = side.outside_temperature, side.heat_flux
        if changes(flux, outside):
            fluxes = (("heat_flux", flux, 1.0), ("outside_temperature", outside, side.heat_transfer or 0.0))
            terms = (Term(f"{key}.{of}", part, factor, "heat flux", across)
                     for of, part, factor in fluxes if part is not None)  # fmt: skip
            yield from _on(side, timed(name, "heat", ""), *terms)


def _on(side: Boundary, stem: str, *terms: Term) -> Iterator[TimedNumber]:
    """Yield a number on a side, or in the face of a body, where it is at both ends of each stage."""
    if getattr(side, "obstacle", None) is None:
        yield TimedNumber(stem, terms)
    else:
        yield TimedNumber(stem, terms, "begin")
        yield TimedNumber(stem + END, terms)


def _of_scalars(case: Case) -> Iterator[TimedNumber]:
    for n, scalar in enumerate(case.scalars, start=1):
        for face, side in getattr(scalar, "boundaries", ()):
            for kind in ("value", "flux"):
                value: Value | None = getattr(side, kind, None)
                if value is not None and changes(value):
                    term = Term(f"scalars[{n}].boundaries.{face}.{kind}", value)
                    yield TimedNumber(timed(face, scalar.name, ""), (term,))
    for n, opening in enumerate(case.openings, start=1):
        for name, value in (opening.scalars or {}).items():
            if changes(value):
                yield from _on(opening, timed(f"opening{n}", name, ""), Term(f"openings[{n}].scalars.{name}", value))


def _of_sources(case: Case) -> Iterator[TimedNumber]:
    heated = [("T", "heat", case.heat)] if case.heat else []
    for name, key, table in (*heated, *((s.name, f"scalars[{n}]", s) for n, s in enumerate(case.scalars, start=1))):
        for n, source in enumerate(getattr(table, "sources", ()), start=1):
            if changes(source.rate):
                drive: Drive | None = "heat source" if name == "T" else None
                term = Term(f"{key}.sources[{n}].rate", source.rate, drive=drive, number=n - 1)
                yield TimedNumber(release_rate(name, n), (term,), "mean")


def _of_forces(case: Case) -> Iterator[TimedNumber]:
    body = case.body
    vectors = () if type(body) is not Forcing else (
        ("force", body.force, body_force), ("rotation", body.rotation, angular_velocity)
    )  # fmt: skip
    for key, parts, scalar in vectors:
        drive: Drive | None = "force" if key == "force" else None
        for axis, part in enumerate(parts):
            if changes(part):
                term = Term(f"body.{key}[{axis + 1}]", part, drive=drive, number=axis)
                applied = applied_force(axis) if key == "force" else ""
                yield TimedNumber(scalar(axis, ""), (term,), "begin", applied)


def times(case: Case) -> np.ndarray:
    """Return moments of the run; if its end is unknown, moments of all magnitudes up to an unreachable time."""
    if case.end_time:
        return np.linspace(0.0, case.end_time, SAMPLES)
    beyond = _beyond(case)
    return np.array([0.0, *UNKNOWN[beyond > UNKNOWN], *([beyond] if beyond < UNKNOWN[-1] else [])])


def _beyond(case: Case) -> float:
    """Return a time that steps bounded by diffusion and snapshots do not pass, or infinity, for uniform cells."""
    time, every = case.time, case.output.every
    carried = [table.diffusivity for table in (case.heat, *case.scalars) if table]
    spread = max([case.fluid.viscosity, *carried]) * sum(
        (count / length) ** 2
        for axis, count, length in zip("xyz", case.grid.cells, case.grid.lengths, strict=True)
        if count > 1 and axis not in (time.implicit or ())
    )
    diffused = time.diffusion / spread if spread > 0 else np.inf
    recorded = every.time if every and every.time else np.inf
    return (time.steps or 0) * min(diffused, recorded)


def constant(of: Values) -> Vector:
    """Return the numbers, with 0 for time-dependent ones."""
    return triple(part if isinstance(part, float) else 0.0 for part in of)


def largest(of: Value | None, case: Case) -> float:
    """Return a number, or the approximate largest value in the run if it changes; 0 if absent."""
    if of is None or isinstance(of, float):
        return of or 0.0
    numbers = [0.0]
    for time in times(case):
        try:
            numbers.append(at_time(of, float(time)))
        except BadInput:  # `TimedNumbers.check` says it where it is one of the run
            continue
    return max(numbers, key=abs)
