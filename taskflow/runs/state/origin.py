"""The state from which a run starts if not from formulas: another run, a file, or a dataset.

A checkpoint of a run of the same case is restarted at time 0, bitwise. Otherwise fields are interpolated to the grid,
and the velocity is made divergence-free; it is kept unchanged if it is already divergence-free on the same grid with
the same closed sides. On charts the march does this.
"""

from __future__ import annotations

import tomllib
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput, named
from taskflow.common.rows import Row
from taskflow.flow.model import VELOCITY
from taskflow.output import Checkpoint, StoreLayout
from taskflow.runs.state.closed_faces import other_faces
from taskflow.runs.state.remedies import AGAIN
from taskflow.runs.state.restart import RestartPoint, changes, check_state
from taskflow.runtime.regions import difference
from taskflow.systems.initial.fields import COMPUTED, InitialFields, naming
from taskflow.systems.solved import DiscreteCase

if TYPE_CHECKING:
    from taskflow.analysis.charts.carried import ChartsSource
    from taskflow.output import SavedState

SAME = ("grid", "boundaries", "obstacles", "bodies", "method")  # tables with which a velocity keeps without divergence


@dataclass(frozen=True, eq=False)
class InitialState:
    """The `state` from which a run starts."""

    sim: DiscreteCase
    state: SavedState

    @classmethod
    def of(cls, sim: DiscreteCase) -> InitialState | None:
        """Return the origin named by a case, or None. Raises BadInput if it cannot be read, or does not suit the case.
        """
        if sim.source is None:
            return None
        origin = cls(sim, sim.source)
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
        on_charts = self.state.fields is None  # of charts that move, a checkpoint may have no snapshot
        if on_charts != self._on_charts:
            grids = "a Cartesian grid", "charts"
            its, own = grids[on_charts], grids[self._on_charts]
            raise BadInput(f"{self.state.where} is on {its}, and this case on {own}; begin with a run on {own}")
        if self._on_charts:
            self._check_charts()

    def _check_charts(self) -> None:
        """Raise BadInput if its charts lack a velocity, or do not cover the grid."""
        if self.charts is None:
            raise BadInput(f"{self.state.where} has no snapshot of its time, and its grid moves; choose another time")
        if missing := [name for name in VELOCITY if name not in self.charts.fields]:
            known = ", ".join(self.charts.fields) or "nothing"
            raise BadInput(f"{self.state.where} has no {missing[0]}; it has {known}")
        with named(self.state.where):
            self.charts.covers(self._centres)

    @cached_property
    def charts(self) -> ChartsSource | None:
        from taskflow.analysis.charts.carried import ChartsSource  # which loads xarray

        return None if self.state.charts is None else ChartsSource(self.state.charts)

    @property
    def _on_charts(self) -> bool:
        return self.sim.partition.region.atlas is not None

    @property
    def _centres(self) -> list[np.ndarray]:
        """The coordinates [xyz, k, j, i] of cell centres on the charts of the case."""
        domain = self.sim.domain
        return [np.stack(np.broadcast_arrays(*domain.points("c", box))) for box in domain.boxes]

    @cached_property
    def difference(self) -> str:
        """The reason why its checkpoint cannot be restarted; empty if it can."""
        sim, checkpoint = self.sim, self.state.checkpoint
        if checkpoint is None:
            return "it is no checkpoint"
        check_state(checkpoint)
        old, new = (tomllib.loads(text) for text in (checkpoint.state["case"], sim.case.to_toml()))
        if changed := [*changes(*(_flow(sim.system.with_references(tables)) for tables in (old, new)))]:
            return f"{changed[0].partition(': begin')[0]}: have it so"
        if sim.system.moving is not None or getattr(sim.case, "motion", None) is not None:
            return "something moves as time tells, which begins anew"
        if other := other_faces(checkpoint.state):
            return other
        entering, timed = sim.inflows, sim.system.timed or sim.model.stage_times(0.0, 1.0)
        if timed or getattr(entering, "varies", False) or getattr(entering, "changing", False):
            return "what is given changes in time, which begins anew"
        return lacking(checkpoint, sim, sim.model.fields.keys())

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The checkpoint to restart; None if fields are interpolated to the grid."""
        return None if self.difference or self.sim.case.initial.noise else self.state.checkpoint

    @property
    def kept(self) -> bool:
        """True if the velocity is used unchanged."""
        if self._on_charts:
            return self.charts is not None and self.charts.is_on(self.sim.domain.chart_vertices)
        if self.state.case is None or self.sim.case.initial.noise is not None or self.checkpoint is not None:
            return False
        old, new = (tomllib.loads(text) for text in (self.state.case, self.sim.case.to_toml()))
        open_sides = any(side.kind.permeable for side in self.sim.case.boundaries.sides.values())
        at_rest = self.sim.system.moving is None
        return at_rest and not open_sides and all(old.get(table) == new.get(table) for table in SAME)

    def has(self, name: str) -> bool:
        """Return True if the source has a field."""
        if self.charts is not None:
            return name in self.charts.fields
        return self.state.fields is not None and name in self.state.fields

    def fields(self, layout: StoreLayout) -> dict[str, Any]:
        """Return the sources of initial fields, by name: from the source if it has them, others from their formulas;
        with a restarted checkpoint only functions and arrays. Raises BadInput if the source lacks a velocity.
        """
        if self.checkpoint is not None or self.state.fields is None:
            return _given(self.sim)
        from taskflow.output import RemappedField

        sources: dict[str, Any] = dict(self.sim.system.initial)
        needed = {*VELOCITY, *(name for other, name in self.sim.system.initial_sources.items() if self.has(other))}
        names = [name for name in (*VELOCITY, *sources) if self.has(name) or name in needed]
        names += ["p"] if self.kept and self.has("p") else self.sums
        for name in dict.fromkeys(names):
            sources[name] = field = RemappedField(self.state, name, layout)
            with named("initial.source"):
                _ = field.weights
        return sources

    @property
    def sums(self) -> tuple[str, ...]:
        """Derived fields whose sums are conserved on another grid."""
        if self.checkpoint is not None or self._on_charts or self.kept:
            return ()
        sources = self.sim.system.initial_sources
        return tuple(name for name, other in sources.items() if self.has(name) and self.has(other))

    def parts(self) -> dict[str, list[np.ndarray]]:
        """Return the values [k, j, i] of all initial fields on every chart, by formula if the source lacks them; empty
        with a restarted checkpoint. Raises BadInput if a value is not finite.
        """
        charts = self.charts
        if self.checkpoint is not None or charts is None:
            return {}
        places, parts = self._centres, dict[str, list[np.ndarray]]()
        vertices = [np.asarray(x) for x in self.sim.domain.chart_vertices]
        for name in ("p", *self.sim.system.initial):
            with named(f"initial.source: {self.state.where}"):
                if not self.has(name):
                    formula = self.sim.system.initial.get(name)
                    parts |= {name: [np.broadcast_to(formula(*x), x[0].shape) for x in places]} if formula else {}
                else:
                    parts[name] = charts.values(name) if self.kept else charts.over(name, vertices)
        return parts

    def taken(self, initial: InitialFields) -> InitialFields:
        """Return the initial fields of a run with this origin."""
        if self.checkpoint is not None:
            return replace(initial, checkpoint=self.checkpoint)
        more = {"p": None} if (self.kept or self._on_charts) and self.has("p") else dict.fromkeys(self.sums)
        kept = self.kept and not self._on_charts  # where nothing that starts a run changes it
        return replace(initial, profiles={**dict.fromkeys(initial.profiles), **more}, kept=kept, sums=self.sums)

    @property
    def row(self) -> Row:
        """The row of `taskflow check`."""
        if self.checkpoint is not None:
            return Row("start", f"{self.state.where}, time {self.state.time:g}, continued bitwise")
        then = "" if self._on_charts else ", then made free of divergence"
        how = "as it is" if self.kept else f"put on the grid{then}"
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
        return f"; {', '.join(named)}: numbers are taken as they are" if named else ""


def _flow(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a case that define the flow, without its initial fields."""
    tables = {name: table for name, table in case.items() if name != "initial"}
    scalars = [{key: value for key, value in table.items() if key != "initial"} for table in case.get("scalars", [])]
    return {**tables, "scalars": scalars} if scalars else tables


def evaluated(sim: DiscreteCase, origin: InitialState | None, snapshots: StoreLayout) -> dict[str, Any]:
    """Return the fields evaluated once, before blocks start: functions and arrays, or all fields if some come from
    another run or file.
    """
    if origin is not None:
        fields = {name: sim.system.metadata[name] for name in sim.case.fields}
        return origin.fields(replace(snapshots, fields=fields))
    return _given(sim)


def _given(sim: DiscreteCase) -> dict[str, Any]:
    """Return the initial fields given as functions and arrays, by name."""
    return {name: p for name, p in sim.system.initial.items() if not isinstance(p, COMPUTED)}


def lacking(checkpoint: Checkpoint, sim: DiscreteCase, roles: Container[str]) -> str:
    """Return the cells, in some roles, that the further run needs and a checkpoint lacks, as text; empty if complete.
    """
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
    begun = {role for averaged in anew for role in averaged.roles}
    begun |= {*sim.steady_criterion.fields} if sim.steady_criterion and restart.settling is None else set()
    if why := lacking(checkpoint, sim, sim.carried.keys() - begun):
        blocks = checkpoint.state["blocks"]
        remedy = f"go on with the machine.blocks with which it was written, {blocks}"
        raise BadInput(f"{checkpoint.path}: {why}; {remedy}")
