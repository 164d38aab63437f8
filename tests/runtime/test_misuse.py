"""Misuse of the runtime is refused with the reason, and machines that lack something are described."""

import importlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.common.errors import BadArgument, BadInput
from taskflow.runtime.host import inventory
from taskflow.runtime.host.survey import Place, choose_device
from taskflow.runtime.machine.kernel import text
from taskflow.runtime.machine.kernel.text import KernelError, struct_dtype
from taskflow.runtime.proof import Hardware
from taskflow.runtime.proof.channels import Channels
from taskflow.runtime.proof.numbering import CellNumbers, Frame
from taskflow.runtime.proof.timeline import Broken, StepTimeline
from taskflow.runtime.regions import Atlas, Box, Field, FieldSpace, Partition, Region, charted, divided, region
from taskflow.runtime.tasks import Read, Write, task
from taskflow.runtime.tasks.owners import OwnedScalars

survey = importlib.import_module("taskflow.runtime.host.survey")  # the room has a function of this name
REAL = np.dtype("f8")
CELLS = Box.of((4, 4, 4))
PLACE = Place("tcp://a", "here", 2, 1 << 30, "a processor", (), None, None)
WITHOUT_GPU, WITHOUT_COMPILER = replace(PLACE, gpu_problem="no driver"), replace(PLACE, compiler_problem="no g++")


@task
def scale(q: Read, r: Write, *, by: float):
    """r = by q"""
    r[...] = by * q[...]


@pytest.mark.parametrize(("requested", "places", "device"), [
    ("auto", [PLACE, PLACE], "gpu"), ("auto", [PLACE, WITHOUT_GPU], "cpu"), ("cpu", [PLACE], "cpu"),
    ("gpu", [PLACE, WITHOUT_COMPILER], "gpu"),
])  # fmt: skip
def test_auto_is_a_gpu_if_each_process_has_one(requested, places, device):
    assert choose_device(requested, places) == device


def test_a_device_that_a_process_lacks_is_refused():
    with pytest.raises(BadArgument, match=r"no usable GPU on tcp://a \(here\): no driver"):
        choose_device("gpu", [PLACE, WITHOUT_GPU])
    with pytest.raises(BadInput, match=r"on here: no g\+\+"):
        choose_device("cpu", [PLACE, WITHOUT_COMPILER])


def test_a_cluster_without_workers_is_refused(monkeypatch):
    monkeypatch.setattr(survey, "known_workers", lambda client: {"tcp://a"})
    with pytest.raises(BadInput, match="the cluster has no workers; start some with"):
        survey.survey(None, embedded=False, lost=["tcp://a"])


def test_a_process_without_compiler_says_so(monkeypatch):
    from taskflow.runtime.machine.kernel import compile_host

    assert survey._compiler_problem() is None

    def missing():
        raise BadInput("no C++ compiler")

    monkeypatch.setattr(compile_host, "compiler", missing)
    assert survey._compiler_problem() == "no C++ compiler"


def test_the_inventory_has_problems_as_rows(monkeypatch):
    def missing():
        raise BadInput("no C++ compiler")

    for name, found in {"compiler": missing, "cache_folder": missing, "gpu_problem": lambda: "no driver",
                        "accelerators": tuple, "ports": tuple}.items():  # fmt: skip
        monkeypatch.setattr(inventory, name, found)
    monkeypatch.setattr(inventory, "channel_problem", lambda name: f"no {name}")
    rows = {row.label: row.text for row in inventory.inventory().rows()}
    assert rows["compiler"] == rows["kernels"] == "no C++ compiler"
    assert (rows["GPUs"], rows["peer"], rows["ucxx"]) == ("none: no driver", "no peer", "no ucx")
    assert rows["InfiniBand"] == "none"


def test_a_picture_of_nothing_is_refused(tmp_path):
    from taskflow.runtime.profile.drawing import Drawing
    from taskflow.runtime.profile.graph import plot_graph

    with pytest.raises(BadInput, match="a pass does nothing that could be drawn in "):
        plot_graph(Drawing([], [], [], []), tmp_path / "graph.png", "a pass")


@pytest.mark.parametrize(("blocks", "cuts", "words"), [
    (0, None, "blocks = 0: give one or more"),
    (1, {0: (5, 1, 1)}, "[5, 1, 1] does not cut 4 x 4 x 4 cells; give 1 to as many pieces as there are cells"),
    (1, {0: (0, 1, 1)}, "[0, 1, 1] does not cut"),
])  # fmt: skip
def test_charts_are_not_divided_into_nothing(blocks, cuts, words):
    with pytest.raises(BadArgument, match=re.escape(words)):
        divided(Atlas((CELLS,), (), ghost=1), blocks, cuts)


def test_a_region_that_cannot_be():
    atlas, space = Atlas((CELLS,), (), ghost=1), FieldSpace([Field("q")])
    with pytest.raises(ValueError, match="cells are 1 or more cells of the finest region long"):
        Region(CELLS, space, scale=(0, 1, 1))
    with pytest.raises(ValueError, match="has its hull, its ghost layers and no periodic directions"):
        Region(CELLS, space, ghost=2, atlas=atlas)
    with pytest.raises(ValueError, match="u: values on faces of cells cannot cross turned seams"):
        charted(atlas, [Field("u", location="fx")])


def test_no_cells_are_owned_by_no_piece():
    space = region(CELLS.shape, ["q"])
    assert Partition(space, (2, 1, 1)).overlapping(Box((1, 1, 1), (1, 4, 4))) == []
    assert Partition(space, (2, 1, 1), replicated=True).targets([1]) == {1}


def test_only_a_sweep_is_shuffled():
    with pytest.raises(ValueError, match="is no sweep"):
        scale("q", "r", over=CELLS, by=2.0).shuffled()


def test_a_task_without_text_is_not_compiled():
    with pytest.raises(KernelError, match="task scale has no kernel text; its Python body runs instead"):
        text.complete(scale, REAL, "")


@dataclass(frozen=True)
class Named:
    """A member that no kernel can have."""

    name: str = "x"


@dataclass(frozen=True)
class Lost:
    """Functions in a file that is not there."""

    number: float = 1.0
    functions = Path("nowhere.h")


@dataclass(frozen=True)
class Numbered(Lost):
    functions = 3


def test_constants_that_no_kernel_can_have():
    with pytest.raises(KernelError, match="has to be an int, bool, float or a dataclass, not <class 'str'>"):
        struct_dtype(str, REAL)
    with pytest.raises(KernelError, match=r"Named\.name: <class 'str'> is not int, bool, float, LookupTable or three"):
        struct_dtype(Named, REAL)


@pytest.mark.parametrize(("constant", "words"), [
    (Lost, r"Lost: nowhere\.h cannot be read"), (Numbered, "Numbered = 3; give a kernel text, or the path of its file"),
])  # fmt: skip
def test_functions_of_a_constant_that_are_no_text(constant, words):
    with pytest.raises(KernelError, match=words):
        text._functions(SimpleNamespace(constants={"constant": constant}))


def test_cells_that_were_not_announced():
    frame = Frame(CELLS, ([0, 2, 4], [0, 4], [0, 4]))
    assert frame.grid(Box((2, 0, 0), (4, 4, 4))).ravel().tolist() == [1]
    with pytest.raises(ValueError, match=r"\[1,4\)x\[0,4\)x\[0,4\) was not announced"):
        frame.grid(Box((1, 0, 0), (4, 4, 4)))


def test_a_block_has_its_own_pieces_alone():
    numbers = CellNumbers(Partition(region(CELLS.shape, ["q"]), (2, 1, 1)), [CELLS])
    assert numbers.index(0, 0, Box((1, 1, 1), (1, 1, 1))).size == 0
    with pytest.raises(Broken, match="block 1 has no piece 0"):
        numbers.index(1, 0, CELLS.cut(0, 0, 2))


def test_a_message_without_a_destination_is_broken():
    partition = Partition(region(CELLS.shape, ["q"]), (2, 1, 1))
    channels = Channels(StepTimeline(2, Hardware(streams=False, near=(0, 1))), {}, partition, {})
    with pytest.raises(Broken, match="block 0: wait: no receive names its destination"):
        channels.receive(0, "wait", SimpleNamespace(source=1, target=0, number=1))
    channels._sent[1, 0, 1] = 3
    with pytest.raises(Broken, match=r"1\. message from block 1 to block 0: it is never received"):
        channels.finish()
    channels._arriving[0, 1, 1] = SimpleNamespace(text="arrival of message 1")
    with pytest.raises(Broken, match="arrival of message 1: it is never sent"):
        channels.finish()


def test_an_owner_has_its_scalars_alone():
    mine = OwnedScalars("heat", {"heat.residual": 1.0, "heat.count": 2.0, "residual": 3.0})
    assert len(mine) == 2
    assert dict(mine) == {"residual": 1.0, "count": 2.0}


