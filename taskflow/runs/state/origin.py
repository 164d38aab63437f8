"""The state from which a run starts if not from formulas: another run, a file, or a dataset.

A checkpoint of a run of the same case is restarted at time 0, bitwise. Otherwise fields are interpolated to the grid,
and the velocity is made divergence-free; it is kept unchanged if it is already divergence-free on the same grid with
the same closed sides. On charts the march does this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from taskflow import output
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput, named
from taskflow.common.rows import Row
from taskflow.flow.model import VELOCITY
from taskflow.output import Checkpoint, StoreLayout
from taskflow.runs.state.closed_faces import other_faces
from taskflow.runs.state.remedies import AGAIN
from taskflow.runs.state.restart import RestartPoint, changes, tables_of
from taskflow.runs.state.written_state import check_state
from taskflow.runtime.regions import difference
from taskflow.systems.initial.fields import COMPUTED, InitialFields, naming
from taskflow.systems.solved import DiscreteCase

if TYPE_CHECKING:
    from taskflow.analysis.charts.carried import ChartsSource
    from taskflow.output import SavedState

# tables with which a velocity keeps without divergence
SAME = ("grid", "boundaries", "openings", "obstacles", "bodies", "method")


@dataclass(frozen=True, eq=False)
class InitialState(ABC):
    """The `state` from which a run starts."""

    sim: DiscreteCase
    state: SavedState
    grid: ClassVar[str]  # of the case, in words
    projected: ClassVar[bool] = False  # the run makes the velocity divergence-free before it starts

    @staticmethod
    def of(sim: DiscreteCase) -> InitialState | None:
        """Return the origin named by a case, or None. Raises BadInput if it is unreadable or unsuitable."""
        if sim.source is None:
            return None
        kind = StateOnBox if sim.partition.region.atlas is None else StateOnCharts
        origin = kind(sim, sim.source)
        with naming(sim.case.initial):
            origin.check()
        return origin

    def check(self) -> None:
        """Raise BadInput if the state does not suit the case."""
        if self.checkpoint is not None:
            return
        if not self.sim.system.accepts_other_grids:
            table = self.sim.system.table_name
            begins = f"{table} begins with a checkpoint of a run of the same case, except for [initial]"
            raise BadInput(f"{self.state.where}: {self.difference}; {begins}")
        # of charts that move, a checkpoint may have no snapshot
        other = (StateOnCharts if self.state.fields is None else StateOnBox).grid
        if other != self.grid:
            words = f"is on {other}, and this case on {self.grid}; begin with a run on {self.grid}"
            raise BadInput(f"{self.state.where} {words}")

    @cached_property
    def difference(self) -> str:
        """The reason why its checkpoint cannot be restarted; empty if it can."""
        sim, checkpoint = self.sim, self.state.checkpoint
        if checkpoint is None:
            return "it is not a checkpoint"
        check_state(checkpoint)
        old, new = (tables_of(text, sim.case) for text in (checkpoint.state["case"], sim.case.to_toml()))
        if changed := [*changes(*(_flow(sim.system.with_references(tables)) for tables in (old, new)))]:
            return f"{changed[0].partition(': begin')[0]}: have it so"
        if sim.system.surroundings is not None or getattr(sim.case, "motion", None) is not None:
            return "a motion depends on time, which starts at 0 again"
        if other := other_faces(checkpoint.state):
            return other
        entering, timed = sim.inflows, sim.system.timed or sim.model.stage_times(0.0, 1.0)
        if timed or getattr(entering, "varies", False) or getattr(entering, "changing", False):
            return "given values depend on time, which starts at 0 again"
        return lacking(checkpoint, sim, sim.model.fields.keys())

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The checkpoint to restart; None if fields are interpolated to the grid."""
        return None if self.difference or self.sim.case.initial.noise else self.state.checkpoint

    @property
    @abstractmethod
    def unchanged(self) -> bool:
        """True if the velocity is used unchanged."""

    @abstractmethod
    def has(self, name: str) -> bool:
        """Return True if the source has a field."""

    @abstractmethod
    def save(self, path: Path, snapshots: Any) -> None:
        """Store the initial fields that blocks do not compute, from the source if it has them, others from their
        formulas; with a restarted checkpoint only functions and arrays. `snapshots` is the layout of the run. Raises
        BadInput if the source lacks a velocity, or a value is not finite.
        """

    @property
    def sums(self) -> tuple[str, ...]:
        """Derived fields whose sums are conserved on another grid."""
        return ()

    def applied_to(self, initial: InitialFields) -> InitialFields:
        if self.checkpoint is not None:
            return replace(initial, checkpoint=self.checkpoint)
        more = {"p": None} if (self.unchanged or not self.projected) and self.has("p") else dict.fromkeys(self.sums)
        profiles = {**dict.fromkeys(initial.profiles), **more}
        return replace(initial, profiles=profiles, unchanged=self.unchanged and self.projected, sums=self.sums)

    @property
    def row(self) -> Row:
        if self.checkpoint is not None:
            return Row("start", f"{self.state.where}, time {self.state.time:g}, continued bitwise")
        then = ", then made free of divergence" if self.projected else ""
        how = "unchanged" if self.unchanged else f"put on the grid{then}"
        return Row("start", f"{self.state.where}; {how}{self._units}")

    @property
    def _units(self) -> str:
        """The units named by a file of another program, with the remark that its numbers are not converted."""
        fields = self.state.fields
        if fields is None:
            return ""
        used = {*VELOCITY, *self.sim.system.initial, "p", *map(str, fields.dims)} & {*map(str, fields.variables)}
        units = {name: str(fields[name].attrs.get("units", "1")) for name in used}
        named = [f"{name} in {unit}" for name, unit in sorted(units.items()) if unit not in ("1", "")]
        return f"; {', '.join(named)}: numbers are used unchanged" if named else ""


@dataclass(frozen=True, eq=False)
class StateOnBox(InitialState):
    """The state from which a run on a Cartesian grid starts."""

    grid = "a Cartesian grid"
    projected = True

    def check(self) -> None:
        super().check()
        sim = self.sim
        if self.checkpoint is None:
            places = sim.domain.layout({}, sim.case.output, sim.partition, slots=1)
            assert isinstance(places, StoreLayout)
            self._sources(places)

    @property
    def unchanged(self) -> bool:
        if self.state.case is None or self.sim.case.initial.noise is not None or self.checkpoint is not None:
            return False
        old, new = (tables_of(text, self.sim.case) for text in (self.state.case, self.sim.case.to_toml()))
        open_sides = any(side.kind.permeable for *_, side in self.sim.case.conditions)
        at_rest = self.sim.system.moving is None
        same = all((old.get(table) or None) == (new.get(table) or None) for table in SAME)  # or no table of that build
        return at_rest and not open_sides and same

    def has(self, name: str) -> bool:
        return self.state.fields is not None and name in self.state.fields

    def save(self, path: Path, snapshots: Any) -> None:
        _save(path, self.sim, snapshots, self._sources(snapshots))

    def _sources(self, snapshots: StoreLayout) -> dict[str, Any]:
        if self.checkpoint is not None or self.state.fields is None:
            return _given(self.sim)
        layout = replace(snapshots, fields={name: self.sim.system.metadata[name] for name in self.sim.case.fields})
        sources: dict[str, Any] = dict(self.sim.system.initial)
        needed = {*VELOCITY, *(name for other, name in self.sim.system.initial_sources.items() if self.has(other))}
        names = [name for name in (*VELOCITY, *sources) if self.has(name) or name in needed]
        names += ["p"] if self.unchanged and self.has("p") else self.sums
        for name in dict.fromkeys(names):
            sources[name] = field = output.RemappedField(self.state, name, layout)
            _ = field.weights
        return sources

    @property
    def sums(self) -> tuple[str, ...]:
        if self.checkpoint is not None or self.unchanged:
            return ()
        sources = self.sim.system.initial_sources
        return tuple(name for name, other in sources.items() if self.has(name) and self.has(other))


@dataclass(frozen=True, eq=False)
class StateOnCharts(InitialState):
    """The state from which a run on charts starts."""

    grid = "charts"

    def check(self) -> None:
        super().check()
        if self.checkpoint is not None:
            return
        if self._charts is None:
            raise BadInput(f"{self.state.where} has no snapshot of its time, and its grid moves; choose another time")
        if missing := [name for name in VELOCITY if name not in self._charts.fields]:
            known = ", ".join(self._charts.fields) or "nothing"
            raise BadInput(f"{self.state.where} has no {missing[0]}; it has {known}")
        with named(self.state.where):
            self._charts.covers(self._centres)

    @cached_property
    def _charts(self) -> ChartsSource | None:
        from taskflow.analysis.charts.carried import ChartsSource  # which loads xarray

        return None if self.state.charts is None else ChartsSource(self.state.charts)

    @property
    def _centres(self) -> list[np.ndarray]:
        """The coordinates [xyz, k, j, i] of cell centres on the charts of the case."""
        domain = self.sim.domain
        return [np.stack(np.broadcast_arrays(*domain.points("c", box))) for box in domain.boxes]

    @property
    def unchanged(self) -> bool:
        return self._charts is not None and self._charts.is_on(self.sim.domain.chart_vertices)

    def has(self, name: str) -> bool:
        return self._charts is not None and name in self._charts.fields

    def save(self, path: Path, snapshots: Any) -> None:
        charts = self._charts
        if self.checkpoint is not None or charts is None:
            return
        places, parts = self._centres, dict[str, list[np.ndarray]]()
        vertices = [np.asarray(x) for x in self.sim.domain.chart_vertices]
        for name in ("p", *self.sim.system.initial):
            with named(f"initial.source: {self.state.where}"):
                if self.has(name):
                    parts[name] = charts.values(name) if self.unchanged else charts.over(name, vertices)
                elif formula := self.sim.system.initial.get(name):
                    parts[name] = [np.broadcast_to(formula(*x), x[0].shape) for x in places]
        output.save_parts(path, self.sim.domain.boxes, parts)


def _flow(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a case that define the flow, without its initial fields."""
    tables = {name: table for name, table in case.items() if name != "initial"}
    scalars = [{key: value for key, value in table.items() if key != "initial"} for table in case.get("scalars", [])]
    return {**tables, "scalars": scalars} if scalars else tables


def save_evaluated(path: Path, sim: DiscreteCase, origin: InitialState | None, snapshots: Any) -> None:
    """Store the fields evaluated once, before blocks start: functions and arrays, or all from another run or file."""
    if origin is not None:
        origin.save(path, snapshots)
    else:
        _save(path, sim, snapshots, _given(sim, sim.system.initial_sums))


def _save(path: Path, sim: DiscreteCase, snapshots: StoreLayout, sources: Mapping[str, Any]) -> None:
    if sources:
        fields = {name: sim.system.metadata[name] for name in sources}
        output.save_initial(path, replace(snapshots, fields=fields), sources)


def _given(sim: DiscreteCase, sums: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the initial fields, and others with given `sums`, that are functions and arrays, by name."""
    return {name: p for name, p in {**sim.system.initial, **(sums or {})}.items() if not isinstance(p, COMPUTED)}


def lacking(checkpoint: Checkpoint, sim: DiscreteCase, roles: Container[str]) -> str:
    """Return the cells, by role, that the further run needs and a checkpoint lacks, as text; empty if complete."""
    for role, boxes in sim.carried.items():
        cells = sim.partition.homes[role].region.cells
        if role in roles and (missing := difference([box & cells for box in boxes], checkpoint.boxes(role))):
            return f"it has no {role} in {missing[0]}"
    return ""


def check_restart(restart: RestartPoint, sim: DiscreteCase) -> None:
    """Raise BadInput if the checkpoint of a restart does not determine the run on these blocks."""
    checkpoint = restart.checkpoint
    try:  # the scalars that set the next step
        sim.model.diffusive_rates(checkpoint.state["scalars"]), sim.model.rate(checkpoint.state["scalars"])
    except KeyError as error:
        raise BadInput(f"{checkpoint.path}: it has no scalar {error}; {AGAIN}") from None
    anew = (averaged for group, averaged in sim.averaged.items() if group not in restart.averages)
    starting = {role for averaged in anew for role in averaged.roles}
    starting |= {*sim.steady_criterion.fields} if sim.steady_criterion and restart.settling is None else set()
    if why := lacking(checkpoint, sim, sim.carried.keys() - starting):
        blocks = checkpoint.state["blocks"]
        other = f"resume with machine.blocks = {blocks}, with which it was written"
        remedy = f"another build wrote it, with other cells; {AGAIN}" if blocks == [*sim.blocks] else other
        raise BadInput(f"{checkpoint.path}: {why}; {remedy}")
