"""Time what the runtime itself costs: `python -m tests.performance.runtime`."""

from __future__ import annotations

from functools import partial

import typer

from taskflow.bench.app import start, study
from taskflow.bench.options import Device, Graphs, Output, Seconds
from taskflow.bench.tables import Result, number, present, where
from taskflow.bench.timing import TimingConditions
from taskflow.terminal.format import COLUMN, NAME, say
from tests.performance.runtime_costs import measure_runtime


def runtime(graphs: Graphs = True, device: Device = "auto", seconds: Seconds = 1.0, output: Output = None) -> None:
    """Time what the runtime itself costs, whatever it computes.

    The host's part in a replayed operation, one by one and (on GPUs) as CUDA graphs, and the calls of a pass; the share
    of passes that were replayed; analysis and recording of 300 launches for one of 2 x 2 x 2 blocks; a call of all
    actors while nothing and while steps are running; and the messages that Dask sends during steps.
    """
    conditions = TimingConditions(seconds=seconds, graphs=graphs)
    present("runtime", partial(measure_runtime, device, conditions), show_runtime, output)


def show_runtime(result: Result) -> None:
    """Print the result of `measure_runtime`."""
    say(f"The runtime on {where(result)}")
    for row in result["results"]:
        value = f"{row['value']:,.0f}" if row["unit"] == "" else number(row["value"])
        typer.echo(f"  {row['name']:{NAME - 2}}{value:>{COLUMN}} {row['unit']:3} {row['how']}")


app = study(runtime)

if __name__ == "__main__":
    start(app, "tests.performance.runtime")
