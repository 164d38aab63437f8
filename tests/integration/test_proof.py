"""Recorded templates of the flow solver are proved."""

from dataclasses import replace

import pytest

from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.proof import prove
from tests.runtime.proof.test_proof import POLICIES, means
from tests.test_invariance import BOUNDARIES, stirred


@pytest.mark.slow
@pytest.mark.parametrize(("boundaries", "blocks", "policy", "sight"), [
    *[(name, (1, 1, 2), policy, "buffers") for name in BOUNDARIES for policy in POLICIES if policy != "auto"],
    ("periodic", (1, 1, 2), "full", "direct"), ("layer", (1, 1, 2), "none", "direct"),
    pytest.param("box", (1, 1, 2), "auto", "buffers", marks=pytest.mark.slow),
    ("box", (2, 1, 2), "full", "buffers"), ("box", (2, 1, 2), "full", "direct"),
    ("box", (2, 1, 2), "comm", "hosts"), ("box", (2, 1, 1), "full", "direct"), ("layer", (2, 1, 1), "none", "direct"),
    pytest.param("layer", (2, 2, 2), "full", "direct", marks=pytest.mark.slow),
], ids=str)  # fmt: skip
def test_the_flow_solver(boundaries, blocks, policy, sight):
    """All passes of start, step and monitor that a run can come to."""
    case = stirred(BOUNDARIES[boundaries])
    few = case.pressure.model_copy(update={"iterations": 1 if blocks == (2, 2, 2) else 2})
    setup = RunSetup(case.model_copy(update={"pressure": few}), blocks)
    model, partition = setup.model, setup.partition
    programs, start = {model.step: tuple(model.scalars(1.0, 1.0)), setup.monitor: ()}, {model.start: ("dt",)}
    proof = prove(partition, programs, *means(policy, sight, partition), start=start)
    proof.hold()
    assert proof.pairs > 2000
    assert proof.reads > 20000



@pytest.mark.fast("tile0")
@pytest.mark.parametrize("tile", [(64, 64, 2), (3, 5, 3)])
def test_edges_of_whole_tiles(tile):
    setup = RunSetup(stirred(BOUNDARIES["box"]), (1, 1, 2))
    mapper, hardware = means("full", "direct", setup.partition)
    programs = {setup.model.step: tuple(setup.model.scalars(1.0, 1.0))}
    prove(setup.partition, programs, mapper, replace(hardware, tiles=lambda launch, cells, middle: tile)).hold()

