"""Values of a case that a user sets while the simulation pauses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases import Case
from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.motion import RigidMotion, continued, dual
from taskflow.cases.formulas.motion import of_time as part_of_motion
from taskflow.cases.language.problems import shown
from taskflow.cases.language.table import written
from taskflow.cases.tables.timed import Timed, Value, at_time, of_time, value
from taskflow.cases.timing.intervals import Tick
from taskflow.common.errors import BadInput, named
from taskflow.runs.block.commands import Drive
from taskflow.runs.state.kept_values import found
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Control, Shard
from taskflow.systems.base.timed import SAMPLES
from taskflow.systems.initial.side_profiles import times_of

AXES = (1, 2, 3)  # by which the components of a vector are numbered
JOINED = 1e-3  # narrowest spacings by which a body may jump when its motion is replaced
FIXED = {  # keys of values that change in time and are not set, by their first part
    "motion": "the places of cells at earlier times follow from it, too; start another run from this one",
    "forcing": "its expression is compiled into a kernel; give body.force or a source that changes in time",
    "expressions": "it is compiled into a kernel; compute it with on_blocks or from dataset()",
}


@dataclass(frozen=True, eq=False)
class Settable:
    """The values of a run that may be set: time-dependent values and motions, with values `given` before."""

    sim: RunSetup
    given: Mapping[str, Value]

    def settings(self, key: str, new: Any, now: Tick) -> dict[str, Value]:
        """Return the values that follow from one value of a key of the case, such as "boundaries.z_max.velocity", by
        the keys on blocks.

        Raises BadInput if nothing under the key changes in time, or the value is invalid now or later in the run.
        """
        case, new = self.sim.case, new.tolist() if isinstance(new, np.ndarray) else new
        if isinstance(new, Mapping) and not key.endswith(".motion.angle"):
            return self._table(key, new, now)
        for body in self.motions:
            if key.startswith(body.key):
                return self._motion(body, key, new, now)
        if self.sim.system.surroundings is not None and not self.motions and key.startswith("obstacles"):
            remedy = "bodies inside charts keep their motions in this version; start another run from this one"
            raise BadInput(f"set({key!r}, ...): {remedy}")
        fields = self.sim.inflows.keys if self.sim.inflows else {}
        known, moving = {**self.sim.system.timed.keys, **fields}, tuple(body.key for body in self.motions)
        values = settings(key, new, case, known, now.time, frozenset(fields), moving)
        with named(f"set({key!r}, {shown(new)})"):
            if self.sim.inflows is not None and values.keys() & fields.keys():
                later = [now.time, *(time for time in times_of(case) if time > now.time)]
                self.sim.inflows.following({**self.given, **values}).check(later)
            for name in values.keys() - fields.keys():
                _check_later(values[name], now.time, case.end_time)
        return values

    def _table(self, key: str, new: Mapping[str, Any], now: Tick) -> dict[str, Value]:
        """Return the values of a table. Its constants have to equal the constants of the case."""
        values = dict[str, Value]()
        for name, part in new.items():
            if not _same(part, found(f"{key}.{name}", self.sim.case)):
                values |= self.settings(f"{key}.{name}", part, now)
        return values

    @property
    def motions(self) -> tuple[RigidMotion, ...]:
        """The motions of bodies."""
        surroundings = self.sim.system.surroundings
        motions = surroundings.geometry.motions if surroundings else ()
        return tuple({id(motion): motion for motion in motions if motion is not None}.values())

    def _motion(self, body: RigidMotion, key: str, new: Any, now: Tick) -> dict[str, Value]:
        """Return a motion's new expressions from now on, each of all times, so that restarts and blocks agree."""
        sim, surroundings, old = self.sim, self.sim.system.surroundings, dict(body.parts)
        assert surroundings is not None
        with named(f"set({key!r}, {shown(new)})"):
            chosen = _parts(body, key.removeprefix(body.key).strip("."), new)
            for name, part in chosen.items():
                spacing = min(map(sim.grid.narrowest, range(3)))
                if name.endswith("angle"):
                    spacing /= max(sim.grid.lengths)
                before, after = (float(dual(one, now.time).value) for one in (old[name], part))
                if not abs(after - before) <= JOINED * spacing:
                    raise BadInput(
                        f"{name} would jump from {before!r} to {after!r} at time {now.time!r}; give an expression that"
                        " begins where the body is"
                    )
            try:
                surroundings.geometry.change(chosen)
                surroundings.check(now.time, sim.case.end_time or now.time, sim.bodies.path, sim.case.time.step)
            finally:
                surroundings.geometry.change(old)
        return {name: continued(old[name], now.time, part, now.time - now.dt) for name, part in chosen.items()}


def set_values(shard: Shard, control: Control, values: Mapping[str, Value]) -> None:
    """Replace time-dependent numbers, by key, for the next steps and for checkpoints."""
    loop = Drive.of(control).for_job(control)
    loop.settings.update(values)
    loop.records.ranges.replaced(values)
    loop.stepping.disturbed()


def settings(
    key: str, new: Any, case: Case, known: Mapping[str, Value], now: float, fields: frozenset[str] = frozenset(),
    moving: tuple[str, ...] = (),
) -> dict[str, Value]:  # fmt: skip
    """Return the values that follow from one value of a key of a case, by the keys of time-dependent values. `known`
    has the values of the case. Values of `fields` may depend on position. `moving` has the keys of motions.

    Raises BadInput if nothing under the key changes in time, or the value is invalid.
    """
    parts = {number: f"{key}[{number}]" for number in AXES if f"{key}[{number}]" in known}
    if key not in known and not parts:
        raise BadInput(f"set({key!r}, ...): {_refused(key, case, [*known, *moving])}")
    if key in known:
        return {key: _value(key, new, now, placed=key in fields)}
    if not isinstance(new, list | tuple) or len(new) != len(AXES):
        raise BadInput(f"set({key!r}, {shown(new)}): give three values, in the order x, y, z")
    placed = any(part in fields for part in parts.values())
    values = {number: _value(key, item, now, placed=placed) for number, item in zip(AXES, new, strict=True)}
    vector = found(key, case)
    for (number, wanted), constant in zip(values.items(), vector, strict=True):
        if number not in parts and wanted != constant:
            same = f"{constant:g}" if isinstance(constant, float) else repr(constant.source)
            what = f"give {same} for it, or an expression of t in the case"
            raise BadInput(f"set({key!r}, {shown(new)}): component {number} does not change in time; {what}")
    return {parts[number]: values[number] for number in parts}


def _refused(key: str, case: Case, known: Iterable[str]) -> str:
    """Return why nothing can be set under a key."""
    whole = dict.fromkeys(name.partition("[")[0] if name[-1] == "]" else name for name in known)
    timed = f"these do: {', '.join(whole) or 'none'}"
    if (why := FIXED.get(re.split(r"[.\[]", key)[0])) is not None:
        return f"it cannot be set in this version: {why}; {timed}"
    table, _, inner = key.partition(".motion")
    if key.startswith("obstacles") and inner and found(table, case) is not None:
        return f'the body is at rest in this case; give a motion there, as displacement = ["0*t", 0, 0]; {timed}'
    if found(key, case) is None:
        return f"unknown value of the case; {timed}"
    return (
        "it does not change in time in this case; kernels have it as a constant: give it there as an expression of t,"
        f' such as "0*t", if it takes one; {timed}'
    )


def _same(new: Any, constant: Any) -> bool:
    """Return True if a value in a table is the constant of the case."""
    return not callable(new) and constant is not None and written(new) == written(constant)


def _parts(body: RigidMotion, key: str, new: Any) -> dict[str, Expression]:
    """Return the expressions for a new value of a key of a body's motion, by the names of its parts."""
    angle = f"angle.{'xyz'[body.axis]}"
    if re.fullmatch(r"displacement\[[123]\]", key):
        return {f"{body.key}.{key}": part_of_motion(new)}
    if key == "displacement":
        if not isinstance(new, list | tuple) or len(new) != len(AXES):
            raise BadInput("give three values, in the order x, y, z")
        return {f"{body.key}.displacement[{n}]": part_of_motion(part) for n, part in zip(AXES, new, strict=True)}
    if key not in ("angle", angle):
        raise BadInput(f"give displacement or {angle} of the motion; its other keys are constant")
    if isinstance(body.angle.source, float):
        raise BadInput(f'the body does not turn in this case; give {angle} = "0*t" there')
    if isinstance(new, Mapping):
        if [*new] != [angle[-1]]:
            raise BadInput(f"the body turns about {angle[-1]}; give {angle}")
        (new,) = new.values()
    return {f"{body.key}.angle": part_of_motion(new)}


def _value(key: str, new: Any, now: float, *, placed: bool) -> Value:
    """Return a value as a function of time, and of position if `placed`. Raises BadInput, also if not finite now."""
    with named(f"set({key!r}, {shown(new)})"):
        read = value(new) if placed else of_time(new)
        if not placed:  # fields are tried on their faces
            at_time(read, now)
    return read


def _check_later(of: Value, now: float, end: float | None) -> None:
    """Raise BadInput if a value of the time is invalid between now and the end of the run, if that is known."""
    for time in np.linspace(now, end, SAMPLES) if end and isinstance(of, Timed) else ():
        at_time(of, float(time))
