"""Of many blocks some are looked at: what is said of these is what is said of them where all are looked at."""

import pytest

from taskflow.cases import Case
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.host import look
from taskflow.runtime.tasks import Traffic
from taskflow.systems.base import step_cost
from taskflow.systems.base.step_cost import Sample
from tests.data.cases import FOLDER
from tests.speed import seconds

SMALL = FOLDER / "small_cavity.toml"
HERE = look("this process")


def case(cells, blocks, *settings):
    return Case.load(SMALL, [f"grid.cells={list(cells)}", f"machine.blocks={list(blocks)}", *settings])


def told(case, blocks):
    """The blocks that are looked at, what each block needs and what it sends."""
    setup = RunSetup(case, blocks)
    needs = MemoryEstimate(setup, [HERE] * len(setup.partition), "cpu").blocks
    return setup.step_cost.sample, needs, setup.step_cost.traffic


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["jacobi", "fft", "multigrid"])
@pytest.mark.parametrize(("cells", "blocks", "periodic"), [
    ((8, 8, 60), (1, 1, 20), False), ((8, 8, 40), (1, 1, 20), True), ((12, 12, 12), (3, 3, 3), False),
    ((12, 12, 12), (2, 4, 3), True),
])  # fmt: skip
def test_what_is_looked_at_is_as_if_all_were(cells, blocks, periodic, solver, monkeypatch):
    settings = ["boundaries={z='periodic', y='periodic', x='periodic'}"] if periodic else []
    some = case(cells, blocks, f"pressure.solver={solver}", *settings)
    looked, needs, sent = told(some, blocks)
    assert 1 < len(looked.blocks) < len(looked.like)
    monkeypatch.setattr(step_cost, "MANY", 1000)
    every, all_needs, all_sent = told(some, blocks)
    assert every.complete
    assert [sent[block] for block in looked.blocks] == [all_sent[block] for block in looked.blocks]
    assert [needs[block] for block in looked.blocks] == [all_needs[block] for block in looked.blocks]
    assert [need.fields for need in needs] == [need.fields for need in all_needs]
    most, most_of_all = (max(need.total for need in item) for item in (needs, all_needs))
    assert most == pytest.approx(most_of_all, rel=0.03)
    messages, every_message = (sum(item, Traffic()).messages for item in (sent, all_sent))
    assert messages == pytest.approx(every_message, rel=0.02 if blocks[0] == 1 else 0.35)


def test_blocks_are_like_one_with_as_many_ends():
    setup = RunSetup(case((8, 8, 40), (1, 1, 20)), (1, 1, 20))
    assert Sample(setup.partition).like == (0, *[10] * 18, 19)
    deep = Sample(RunSetup(case((12, 12, 12), (3, 3, 3)), (3, 3, 3)).partition)
    assert deep.blocks == (0, 1, 3, 4, 9, 10, 12, 13)
    assert (deep.like[26], deep.like[13], deep.like[25]) == (0, 13, 1)


def test_a_thousand_blocks_are_told_of_in_a_moment():
    """Measured: 0.5 s with Jacobi, 2 s with an FFT, whose blocks all speak to each other. More of a busy machine."""
    for solver in ("jacobi", "fft"):
        many = case((8, 8, 8192), (1, 1, 1024), f"pressure.solver={solver}")
        assert seconds(lambda many=many: told(many, (1, 1, 1024))) < 8


def test_4096_blocks_of_64_cells_are_told_of_in_seconds():
    """Measured: 2 s."""
    assert seconds(lambda: told(case((64, 64, 64), (16, 16, 16), "pressure.solver=jacobi"), (16, 16, 16))) < 16
