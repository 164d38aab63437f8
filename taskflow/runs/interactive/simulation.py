"""`tf.Simulation`: a run that Python drives, step by step or to its end, where `tf.run` lets the case drive it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.output import STORE, RecordedArray, live
from taskflow.runs.block.commands import Drive, write_checkpoint
from taskflow.runs.interactive.blocks import FOLDS, BlockFields, BlocksJob, answer
from taskflow.runs.interactive.session import Callback, DrivenRun
from taskflow.runs.interactive.setting import Settable, set_values
from taskflow.runs.notebook import as_html
from taskflow.runs.run import Run
from taskflow.runtime.cluster.jobs import Pickled
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.regions import Box

if TYPE_CHECKING:
    import xarray as xr


def derive(shard: Shard, control: Control) -> None:
    """Compute what follows from the present fields and is recorded of this case, on all blocks."""
    loop = Drive.of(control).taken(control)
    if (computed := loop.spec.computed) is not None:
        shard.run(computed, **computed.scalars(loop.now.time))


Function = TypeVar("Function", bound=Callable[..., object])


class Simulation(DrivenRun):
    """A run of a case that goes on as far as it is told to, and pauses in between with its blocks at work.

    Use it in a `with` statement, or close it. The arguments are those of `taskflow.run`. On return the initial state is
    there and written; with `resume` it is that of the newest checkpoint. Steps are those that `taskflow.run` would do,
    to the bit: no pause changes their lengths. What is due at the present step (snapshots, log, checkpoints) is written
    when the run goes on, or ends: it has what was changed in the pause.
    A loss of a worker or GPU ends the simulation; it does not go on by itself, as `taskflow.run` does.
    Raises as `taskflow.run` does.
    """

    def __enter__(self) -> Simulation:
        return self

    def __repr__(self) -> str:
        where = f"{self._over}, in" if self._over else "pauses, in"
        return f"<Simulation of {self.case.title}: {self._moment}; {where} {self.directory}>"

    def _repr_html_(self) -> str:
        """Where it stands, and the present state, for a notebook."""
        numbers = {"title": self.case.title, "step": self.iteration}
        numbers |= {} if self._pseudo_time else {"time": self.time}
        ended = {"ended": self._over} if self._over else {}
        last = Run(self.directory, {}).dataset if self._over else self.dataset
        return as_html(repr(self), {**numbers, **ended}, last)

    def step(self, n: int = 1) -> None:
        """Do n steps, or fewer where the case ends before. Raises BadInput where n is no whole number from 1, or the
        run is over; Interrupted after Ctrl-C: the simulation pauses then after a step, and can go on.
        """
        self._advance(f"step({n!r})", steps=n)

    def run(self, until: float | None = None, steps: int | None = None, wall: float | None = None) -> None:
        """Go on to the end of the case, or to the first step that reaches the time `until`, or by so many `steps`, or
        for so many seconds of the `wall` clock, whichever comes first. No step is cut for it. Raises as `step` does.
        """
        limits = {"until": until, "steps": steps, "wall": wall}
        told = ", ".join(f"{name}={limit!r}" for name, limit in limits.items() if limit is not None)
        self._advance(f"run({told})", until, steps, wall)

    def stop(self) -> None:
        """Let `run` or `step`, from one of whose callbacks this is called, return after the callbacks of this step."""
        self._halted = True
        self._reason = f"stop() was called at step {self.iteration}"

    def checkpoint(self) -> None:
        """Write what is due, and a checkpoint of the present state; on return it is on the disk.

        Raises BadInput where the run is over, or keeps none (checkpoint.keep = 0).
        """
        self._check_going("checkpoint()")
        if not self.case.checkpoint.keep:
            raise BadInput("checkpoint(): checkpoint.keep = 0, so that none stays; give checkpoint.keep from 1 on")
        with self._call("checkpoint()", drives=False):
            self._done(self._do(write_checkpoint))

    def every(
        self, *, steps: int | None = None, time: float | None = None, wall: float | None = None
    ) -> Callable[[Function], Function]:
        """Have a function called with this simulation while it goes on: after so many `steps`, at the first step that
        reaches a multiple of `time`, or at the first step after so many seconds of the `wall` clock.

        It is called between the step and all that is due after it. An exception that it raises ends the run with its
        state written, and comes out of `run` or `step`. Raises BadInput where not one positive interval is given.
        """

        def add(function: Function) -> Function:
            self._callbacks.append(Callback.of(function, self._tick, steps, time, wall))
            return function

        return add

    def dataset(self) -> xr.Dataset | xr.DataTree:
        """All fields of the present state, written or not, and the expressions that the case records, as lazy arrays: a
        Dataset with coordinates, locations and attributes as in the store; on charts a DataTree. Values move when they
        are asked for, those asked for alone. Once the run is over there are no expressions.

        Values that were not asked for before the simulation goes on raise BadInput.
        """
        self._check_open("dataset()")
        step, state, derived, setup = self.iteration, self._state, self._derived, self._attempt.sim
        charts = setup.partition.region.charts

        def fetch(name: str, chart: int, box: Box) -> np.ndarray:
            with self._reading:
                if self._state != state:
                    gone = f"{name} of step {step}: the simulation has gone on"
                    raise BadInput(f"{gone}; ask again, or .load() it in time")
                if name in derived and (name, state) not in self._computed:
                    self._ask(f"computing {name}", lambda blocks: blocks.do(derive))
                    self._computed = {(name, state) for name in derived}
                return self._ask(f"reading {name}", lambda blocks: blocks.read(name, box.shift(charts[chart].lo)))

        fields, place = {name: setup.system.metadata[name] for name in (*self.case.fields, *derived)}, self.directory
        return live(place / STORE, fields, np.dtype(setup.dtype), self.time, fetch, setup.domain.placed(self._tick))

    @property
    def _derived(self) -> tuple[str, ...]:
        """The expressions that this case records, and Q where it does; none once the run is over."""
        system = self._attempt.sim.system
        names = system.computed.names if system.computed and not self._over else ()
        return tuple(name for name in names if name in system.metadata)

    def __getitem__(self, name: str) -> xr.DataArray | xr.DataTree:
        """A field of the present state, such as "u", as a lazy array over all blocks; see `dataset`. Raises BadInput
        where there is none of this name.
        """
        known = (*self.case.fields, *self._derived)
        if name not in known:
            expressions = {table.name for table in self.case.expressions}
            remedy = "; an expression has to be recorded (output.fields, ...)" if name in expressions else ""
            raise BadInput(f"simulation[{name!r}]: the case has no such field; it has {', '.join(known)}{remedy}")
        fields = self.dataset()
        if hasattr(fields, "map_over_datasets"):
            return fields.map_over_datasets(
                lambda chart: chart.drop_vars([*chart.data_vars.keys() - {name}]) if name in chart else chart
            )
        return fields[name]

    def on_blocks(
        self,
        function: Callable[[BlockFields], Any],
        fields: Sequence[str],
        *,
        writes: Sequence[str] = (),
        reduce: Literal["sum", "min", "max"] = "sum",
        ghosts: bool = False,
    ) -> dict[str, float] | float | None:
        """Call a function with the `fields` of each block in its process, in place, without a copy; see `BlockFields`.

        Those among them that it changes are named in `writes`: velocities, temperature and scalars, of which values
        beyond boundaries and between blocks are computed anew. A number that it returns, or a dictionary of numbers,
        is folded over all blocks in their order by `reduce`. With `ghosts` arrays have a layer of ghost cells around
        the block's own: of other blocks, across periodic sides, too, and what boundary conditions have beyond walls.
        The function travels by value, with what it refers to. Raises BadInput where a field or the way to reduce is
        none, or where the run is over; RunFailed where the function fails: the simulation
        pauses then, with what the function has changed.
        """
        self._check_going("on_blocks(...)")
        known = self.case.fields
        may = [name for name in known if name in self._attempt.sim.model.changeable]
        for what, names, possible in (("fields", fields, known), ("writes", writes, may)):
            if isinstance(names, str) or not set(names) <= {*possible}:
                raise BadInput(f"on_blocks(..., {what}={names!r}): give a list of names among {', '.join(possible)}")
        if not set(writes) <= {*fields}:
            raise BadInput(f"on_blocks(..., writes={writes!r}): name them in fields={fields!r}, too")
        if not callable(function):
            raise BadInput(f"on_blocks({function!r}, ...): give a function of the fields of a block")
        if reduce not in FOLDS:
            raise BadInput(f"on_blocks(..., reduce={reduce!r}): use one of {', '.join(FOLDS)}")
        job = BlocksJob(Pickled.of(function), tuple(fields), tuple(writes), reduce, ghosts)
        self._state += bool(writes)
        return answer(self._ask("on_blocks(...)", lambda blocks: blocks.do(job)))

    def set(self, key: str, value: Any) -> None:
        """Give a value of the case that changes in time another one, such as "boundaries.z_max.velocity", "body.force"
        or "obstacles[1].motion.displacement": a number or an expression of t, or three of them; at inflows, and on
        walls whose values depend on the place, expressions of x, y, z and t.

        The next steps have it, from the end of the first of their stages on; forces from its beginning. A motion begins
        where the body is. Checkpoints and runs that are resumed have it, too. Raises BadInput if the case gives a
        number there, which kernels have as a constant; if the value is invalid, now or later in the run; or if the run
        has ended.
        """
        self._check_going("set(...)")
        settings = self._settings
        values = Settable(self._attempt.sim, settings.values).settings(key, value, self._tick)
        self._ask("set(...)", lambda blocks: blocks.do(partial(set_values, values=values)))
        settings.update(values)

    def record(self, name: str, array: Any) -> None:
        """Record an array, or a number, of the present time in the store: in a group of this name, which
        `Run.dataset(name)` opens. One of xarray keeps its dimensions, coordinates and attributes.

        Raises BadInput where the name is none or taken, the shape is not that of the records before, or there is a
        record of this time.
        """
        self._check_open("record()")
        if name not in self._recorded:
            self._recorded[name] = RecordedArray(self.directory / STORE, name, array)
        self._recorded[name].add(self.time, array)
