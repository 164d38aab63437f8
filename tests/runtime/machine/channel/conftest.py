"""The stages on which the scenarios are played: every transport, each block in a step thread of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the spawned processes and the Dask workers, which inherit it

from channel_stages import ActorStage, ProcessStage, Stage, ThreadStage

from taskflow.runtime.machine.channel.peer import peer_problem
from taskflow.runtime.machine.channel.ucx import ucx_problem

needs_ucx = pytest.mark.skipif(ucx_problem() is not None, reason=str(ucx_problem()))
STAGES = {
    "local": lambda: ThreadStage("local"),
    "peer": lambda: ProcessStage("peer"),
    "ucx": lambda: ProcessStage("ucx"),
    "actor": ActorStage,
    "auto": lambda: ProcessStage("auto"),
}
needs_peer = pytest.mark.skipif(peer_problem() is not None, reason=str(peer_problem()))
MARKS = {"peer": needs_peer, "ucx": needs_ucx}


@pytest.fixture(scope="session")
def processes() -> Iterator[dict[str, Stage]]:
    """The stages opened so far; each is set up once."""
    opened: dict[str, Stage] = {}
    yield opened
    for stage in opened.values():
        stage.close()


@pytest.fixture(params=[pytest.param(name, marks=MARKS.get(name, ())) for name in STAGES])
def stage(request: pytest.FixtureRequest, processes: dict[str, Stage]) -> Stage:
    if request.param not in processes:
        processes[request.param] = STAGES[request.param]()
    return processes[request.param]


@pytest.fixture(params=[pytest.param(name, marks=MARKS.get(name, ())) for name in ("peer", "ucx", "actor")])
def doomed(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A stage whose processes may be killed."""
    stage = STAGES[request.param]()
    yield stage
    stage.close()
