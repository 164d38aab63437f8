"""`tf.Simulation`: a run driven from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.output import STORE, RecordedArray
from taskflow.runs.block.commands import Drive, write_checkpoint
from taskflow.runs.interactive.blocks import FOLDS, BlockFields, BlocksJob, answer
from taskflow.runs.interactive.callbacks import Callback
from taskflow.runs.interactive.session import DrivenRun
from taskflow.runs.interactive.setting import Settable, set_values
from taskflow.runs.notebook import as_html
from taskflow.runs.results import Run
from taskflow.runtime.cluster.jobs import Pickled
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.regions import Box

if TYPE_CHECKING:
    import xarray as xr

    from taskflow.accessor.records import FlowRecords


def derive(shard: Shard, control: Control) -> None:
    """Compute the derived fields that the case records from the present fields, on all blocks."""
    loop = Drive.of(control).for_job(control)
    if (computed := loop.spec.computed) is not None:
        shard.run(computed, **computed.scalars(loop.now.time))


Function = TypeVar("Function", bound=Callable[..., object])


class Simulation(DrivenRun):
    """Run driven from Python: advance, pause, inspect, modify.

    Use it in a `with` statement, or close it. On return the initial state exists and is written; with `resume` it is
    the state of the newest checkpoint. Pauses do not change step sizes: without modifications results equal `run`
    bitwise. Records that are scheduled at the present step are written when the run continues or ends, with the changes
    made in the pause. A lost worker or GPU ends the simulation; it does not restart automatically.

    Parameters and errors are the same as in `taskflow.run`.
    """

    def __enter__(self) -> Simulation:
        return self

    def __repr__(self) -> str:
        where = f"{self._over}, in" if self._over else "pauses, in"
        return f"<Simulation of {self.case.title}: {self._moment}; {where} {self.directory}>"

    def _repr_html_(self) -> str:
        numbers = {"title": self.case.title, "step": self.iteration}
        numbers |= {} if self._pseudo_time else {"time": self.time}
        ended = {"ended": self._over} if self._over else {}
        last = Run(self.directory, {}).dataset if self._over else self.dataset
        return as_html(repr(self), {**numbers, **ended}, last)

    def step(self, n: int = 1) -> None:
        """Advance by n steps, or to the end of the case.

        Parameters
        ----------
        n : int

        Raises
        ------
        BadInput
            If n is not a positive integer, or the run has ended.
        Interrupted
            Ctrl-C. The simulation pauses after a step and can continue.
        """
        self._advance(f"step({n!r})", steps=0 if n is None else n)  # None is no limit, and no number of steps either

    def run(self, until: float | None = None, steps: int | None = None, wall: float | None = None) -> None:
        """Advance to the first limit reached, or to the end of the case. No step is shortened.

        Parameters
        ----------
        until : float, optional
            Time, T.
        steps : int, optional
        wall : float, optional
            Seconds of wall-clock time.

        Raises
        ------
        BadInput
            If a limit is invalid, or the run has ended.
        Interrupted
            Ctrl-C. The simulation pauses after a step and can continue.
        """
        limits = {"until": until, "steps": steps, "wall": wall}
        arguments = ", ".join(f"{name}={limit!r}" for name, limit in limits.items() if limit is not None)
        self._advance(f"run({arguments})", until, steps, wall)

    def stop(self) -> None:
        """Make `run` or `step` return after the callbacks of this step. Call it in a callback."""
        self._halted = True
        self._reason = f"stop() was called at step {self.iteration}"

    def checkpoint(self) -> None:
        """Write scheduled records and a checkpoint of the present state to disk.

        Raises
        ------
        BadInput
            If the run has ended, or keeps no checkpoints (checkpoint.keep = 0).
        """
        self._check_going("checkpoint()")
        if not self.case.checkpoint.keep:
            raise BadInput("checkpoint(): checkpoint.keep = 0, so that none stays; give checkpoint.keep from 1 on")
        with self._call("checkpoint()", drives=False):
            self._done(self._do(write_checkpoint))

    def every(
        self, *, steps: int | None = None, time: float | None = None, wall: float | None = None
    ) -> Callable[[Function], Function]:
        """Register a callback: `@simulation.every(steps=10)`.

        The callback is called with the simulation, after a step and before its scheduled records. An exception ends the
        run with its state written, and is re-raised by `run` or `step`.

        Parameters
        ----------
        steps : int, optional
            Interval in steps.
        time : float, optional
            Interval in time, T: the first step that reaches each multiple.
        wall : float, optional
            Interval in wall-clock seconds.

        Raises
        ------
        BadInput
            If not exactly one positive interval is given.
        """

        def add(function: Function) -> Function:
            self._callbacks.append(Callback.of(function, self._tick, steps, time, wall))
            return function

        return add

    def dataset(self) -> FlowRecords | Any:
        """Return all fields of the present state, and recorded expressions, as lazy arrays.

        Only values that are accessed are transferred. Values that were not accessed before the simulation continues
        raise BadInput. After the end expressions are not available.

        Returns
        -------
        xarray.Dataset with the coordinates and attributes of the store, or on body-fitted grids xarray.DataTree
        """
        from taskflow.output import live  # whose xarray is slow to load

        self._check_open("dataset()")
        step, state, derived, setup = self.iteration, self._state, self._derived, self._attempt.sim
        charts = setup.partition.region.charts

        def fetch(name: str, chart: int, box: Box) -> np.ndarray:
            with self._reading:
                if self._state != state:
                    gone = f"{name} of step {step}: the simulation has advanced"
                    raise BadInput(f"{gone}; ask again, or .load() it in time")
                if name in derived and (name, state) not in self._computed:
                    self._ask(f"computing {name}", lambda blocks: blocks.do(derive))
                    self._computed = {(name, state) for name in derived}
                return self._ask(f"reading {name}", lambda blocks: blocks.read(name, box.shift(charts[chart].lo)))

        fields, place = {name: setup.system.metadata[name] for name in (*self.case.fields, *derived)}, self.directory
        return live(place / STORE, fields, np.dtype(setup.dtype), self.time, fetch, setup.domain.placed(self._tick))

    @property
    def _derived(self) -> tuple[str, ...]:
        """The expressions that this case records, with Q if it is recorded; empty after the end."""
        system = self._attempt.sim.system
        names = system.computed.names if system.computed and not self._over else ()
        return tuple(name for name in names if name in system.metadata)

    def __getitem__(self, name: str) -> xr.DataArray | xr.DataTree:
        """Return a field of the present state, such as "u", as a lazy array over all blocks (see `dataset`).

        Raises BadInput if the field is unknown.
        """
        known = (*self.case.fields, *self._derived)
        if name not in known:
            expressions = {table.name for table in self.case.expressions}
            remedy = "; an expression has to be recorded (output.fields, ...)" if name in expressions else ""
            raise BadInput(f"simulation[{name!r}]: unknown field; the case has {', '.join(known)}{remedy}")
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
        """Call a function on every block with its fields, in place and without a copy.

        Parameters
        ----------
        function : callable
            Called with `BlockFields`. It may return a number or a dict of numbers. Pickled by value.
        fields : sequence of str
        writes : sequence of str
            Fields that the function changes: velocities, temperature, scalars. Ghost values are updated afterwards.
        reduce : {"sum", "min", "max"}
            Reduction of the returned numbers over all blocks, in a fixed order.
        ghosts : bool
            Arrays have a layer of ghost cells: values of other blocks, and of boundary conditions.

        Returns
        -------
        float, dict of float, or None

        Raises
        ------
        BadInput
            If a field or the reduction is invalid, or the run has ended.
        RunFailed
            If the function fails. The simulation pauses, with the changes of the function.
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
        """Change a time-dependent value.

        It applies from the end of the first stage of the next step; forces from its start. A body's motion begins at
        its present position. Checkpoints and resumed runs keep the value; of a function they keep the name, and the
        case that is resumed needs the same function at the key.

        Parameters
        ----------
        key : str
            Such as "boundaries.z_max.velocity", "body.force" or "obstacles[1].motion.displacement".
        value : float, str or callable, three of them, or dict
            Number, expression of t, table or function f(t). At inflows, and on walls with values that depend on
            position, of x, y, z and t. Motions take expressions alone. A dict sets values of a whole table.

        Raises
        ------
        BadInput
            If the case gives a constant there, the value is invalid now or later in the run, or the run has ended.
        """
        self._check_going("set(...)")
        if not isinstance(key, str):
            raise BadInput(f'set({key!r}, ...): give a key as text, such as "body.force"')
        settings = self._settings
        values = Settable(self._attempt.sim, settings.values).settings(key, value, self._tick)
        self._ask("set(...)", lambda blocks: blocks.do(partial(set_values, values=values)))
        settings.update(values)

    def record(self, name: str, array: Any) -> None:
        """Record an array or number of the present time in a group of the store, opened by `Run.dataset(name)`.

        Parameters
        ----------
        name : str
        array : array-like or xarray.DataArray
            Dimensions, coordinates and attributes of xarray objects are kept.

        Raises
        ------
        BadInput
            If the name is invalid or taken, the shape differs from earlier records, or this time is recorded already.
        """
        self._check_open("record()")
        if name not in self._recorded:
            self._recorded[name] = RecordedArray(self.directory / STORE, name, array)
        self._recorded[name].add(self.time, array)
