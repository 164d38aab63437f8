"""Every kernel that an example launches compiles for GPUs, with CUDA 12 and 13, on machines that have none."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from examples.papers.luo_2014.factors import Charts, Factors
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.kernel.includes import INCLUDE, expanded
from taskflow.runtime.machine.kernel.texts import cuda_pieces, cuda_text, listable
from taskflow.runtime.machine.trace.gather import text_of
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Derive, Launch, Part, Roles, Stretch, plan, sweeps
from tests.cases.on_charts import CYLINDER, LID, TURNED, case, changed
from tests.cases.two_phases import case as phases
from tests.flow.test_field_force import SOURCE, windy
from tests.flow.test_implicit_diffusion import warm
from tests.nvrtc import compilers, messages
from tests.runs.test_charts_real_time import WARM
from tests.runtime.machine import sweeping, test_pieces, test_stored
from tests.systems.test_body_walls import belted
from tests.systems.test_charts_bodies import BOX as AROUND_POST
from tests.systems.test_charts_moving_bodies import DRIFTING, DRIVEN
from tests.systems.test_moving_heat import HOT
from tests.systems.test_placement_of_bodies import placed
from tests.systems.test_timed import MOVING, moved
from tests.systems.test_two_phase_vents import vessel

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.toml"))
FAST = ("heated_cavity",)


def launches(parts: tuple[Part, ...]) -> Iterator[Launch]:
    for part in parts:
        if not isinstance(part, Derive):
            yield from part.launches if isinstance(part, Stretch) else launches(part.body)


def texts(path: Path, precision: str) -> set[str]:
    """The texts of all programs of a case."""
    time = tomllib.loads(path.read_text())["time"]
    steady = ["time.steady=1e-4"] if isinstance(time.get("steady"), float) else []  # what single precision can reach
    return texts_of(tf.Case.load(path, [f'machine.precision="{precision}"', *steady]))


def texts_of(case: tf.Case) -> set[str]:
    """The texts of all programs of a case."""
    sim = RunSetup(case, (1, 1, 1), device="gpu")
    parts = Roles.of(tuple(sim.partition.fields))
    programs = [launches(plan(program, parts)[0]) for program in MemoryEstimate(sim, [], "gpu").then]
    tasks = {text_of(launch, sim.partition) for program in programs for launch in program if launch.task.kernel}
    lists = {cuda_pieces(task, real) for task, real in tasks if sim.partition.pieces and listable(task, real)}
    return lists | {cuda_text(task, real) for task, real in tasks}


def test_both_compilers_are_asked():
    assert [*compilers()] == ["12", "13"]
    said = messages("nonsense")
    assert said.count("nonsense") >= 2
    assert all(f"CUDA {version}: " in said for version in compilers())


@pytest.mark.parametrize(("path", "precision"), [
    pytest.param(path, precision, id=f"{path.stem}-{precision}", marks=() if fast else pytest.mark.slow)
    for path in EXAMPLES for precision in ("double", "single")
    if precision == "double" or "[motion]" not in path.read_text()  # grids move in double precision
    for fast in [path.stem in FAST and precision == "double"]
])  # fmt: skip
def test_kernels_of_examples_compile_for_gpus(path, precision):
    assert [message for text in texts(path, precision) if (message := messages(text))] == []


def test_copies_of_whole_arrays_compile_for_gpus():
    assert not messages(expanded(INCLUDE / "copy_whole.cu", np.dtype("f8"), {"declared.h": ""}))


def test_levels_in_units_of_the_norm_compile_for_gpus():
    """The default with a tolerance: levels in single precision below a fine one in double."""
    walls = {f"{axis}_{end}": "wall" for axis in "xyz" for end in ("min", "max")}
    flow = tf.Case(
        grid={"cells": [16, 16, 16], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 0.01}, boundaries=walls,
        time={"step": 0.01, "steps": 1}, pressure={"solver": "multigrid", "tolerance": 1e-6},
        machine={"precision": "double"},
    )  # fmt: skip
    scaled = [text for text in texts_of(flow) if "unit_of" in text]
    assert len(scaled) == 2
    assert [message for text in scaled if (message := messages(text))] == []


@pytest.mark.slow
@pytest.mark.parametrize("tables", [
    {"boundaries": {"z_min": {"type": "wall", "contact_angle": 60}}}, {"two_phase": {"surface_tension": 0}},
])  # fmt: skip
@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_a_volume_of_fluid_compile_for_gpus(tables, precision):
    method = {**tables.get("two_phase", {}), "method": "vof"}
    flow = phases(**{**tables, "two_phase": method, "machine": {"precision": precision}})
    assert [message for text in texts_of(flow) if (message := messages(text))] == []


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_walls_in_bodies_compile_for_gpus(precision):
    """Moving and heated ones, with values that change in time and others, limited differences and central ones."""
    found = [text for scheme in ("central", "koren") for text in texts_of(belted(scheme, precision))
             if '"wall_supply.cu"' in text]  # fmt: skip
    for name in ("supply", "supply_bounded"):
        assert len([text for text in found if f" {name}(" in text]) >= 2, name
    assert [message for text in found if (message := messages(text))] == []


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_vents_in_two_phases_compile_for_gpus(precision):
    flow = vessel("levelset", machine={"precision": precision})
    found = [text for text in texts_of(flow) if '"vent.cu"' in text or '"outlets.cu"' in text]
    for name in ("enter", "enter_along_r", "enter_along_s", "resist_by_density", "push_weighed", "weigh_outlet"):
        assert any(f" {name}(" in text for text in found), name
    assert [message for text in found if (message := messages(text))] == []


@pytest.mark.slow
@pytest.mark.parametrize("tables", [CYLINDER, TURNED, changed(LID, method__steps="local"), AROUND_POST])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_implicit_marching_compile_for_gpus(tables, precision):
    flow = case(tables, method__march="implicit", machine__precision=precision, time__steady=1e-4)
    assert [message for text in texts_of(flow) if (message := messages(text))] == []


@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_bodies_that_move_inside_charts_compile_for_gpus(precision):
    turning = {**DRIFTING, "motion": {"angle": {"z": "t"}, "centre": [0.9, 1.0, 0.0]}}
    flow = case(DRIVEN, obstacles=[turning], machine__precision=precision)
    texts = [text for text in texts_of(flow) if '"bodies.cu"' in text]
    tasks = "largest_on_body", "force_on_body", "largest_span", "span_of_body", "pressure_in_closed", "fill_closed"
    for name in tasks:
        assert any(f" {name}(" in text for text in texts), name
    assert [message for text in texts if (message := messages(text))] == []


@pytest.mark.parametrize(
    "ordering",
    ["tiles", pytest.param("hyperplanes", marks=pytest.mark.slow), pytest.param("colours", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("unknowns", [4, 5, 6])
def test_factors_and_solves_compile_for_gpus(unknowns, ordering):
    job = Factors(Charts((8, 8, 8)), ordering, "single", unknowns=unknowns)
    parts = Roles.of(tuple(job.partition.fields))
    tasks = {launch.task for program in (job.invert, job.precondition) for launch in program(parts)}
    assert {task.base.name for task in tasks} == {"invert", "keep_inverse", "forward", "backward"}
    assert {messages(cuda_text(task, np.dtype("f8"))) for task in tasks} == {""}


@pytest.mark.slow
@pytest.mark.parametrize("march", ["rk4", "implicit"])
@pytest.mark.parametrize(("model", "tables"), [("wale", CYLINDER), ("vreman", WARM), ("smagorinsky", TURNED)])
def test_kernels_of_eddies_and_averages_on_charts_compile_for_gpus(model, tables, march):
    damping = {"damping": "none"} if model == "smagorinsky" else {}
    flow = case(
        tables, method__march=march, machine__precision="single", time={"steps": 3, "step": 0.1}, statistics={},
        turbulence={"model": model, **damping}, method__reference_speed=1.0,
    )  # fmt: skip
    assert [message for text in texts_of(flow) if (message := messages(text))] == []


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_what_changes_in_time_compile_for_gpus(precision):
    flow = moved(**MOVING, machine__precision=precision)
    assert [message for text in texts_of(flow) if (message := messages(text))] == []


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_bodies_that_move_compile_for_gpus(precision):
    """With several, and one alone, which is another text."""
    tables = {"machine": {"precision": precision}, "output": {"fields": ["T"]}}
    for flow in (placed(**tables), placed(**tables, obstacles=[HOT])):
        assert [message for text in texts_of(flow) if (message := messages(text))] == []


@pytest.mark.slow
@pytest.mark.parametrize("along", ["x", "z"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_implicit_diffusion_compile_for_gpus(precision, along):
    flow = warm(along, machine__precision=precision, grid__stretching={"z": {"tanh": 1.0}})
    assert [message for text in texts_of(flow) if (message := messages(text))] == []


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
def test_kernels_of_expressions_compile_for_gpus(precision):
    """Everything that expressions have, in forces on faces and in cells, and in what is recorded."""
    source = SOURCE.replace("int", "a")
    flow = windy(
        machine={"precision": precision}, output={"fields": ["u", f"all = {source}"]},
        forcing=[{"on": name, "expression": source} for name in ("u", "v", "w", "T", "a", "b")],
    )  # fmt: skip
    q = windy(machine={"precision": precision}, obstacles=[], output={"fields": ["Q"]})
    assert [message for case in (flow, q) for text in texts_of(case) if (message := messages(text))] == []


@pytest.mark.parametrize("precision", ["f4", "f8"])
def test_sweeps_and_fields_in_a_precision_of_their_own_compile_for_gpus(precision):
    over, solve = Box.of((8, 8, 8)), sweeping.forward
    orderings = "tiles", "hyperplanes", "jacobi"
    usual = [solve("a", "b", "x", over=over, sweep=sweeps(ordering, "up")[0]) for ordering in orderings]
    swept = [launch.task for item in usual for launch in (item, item.shuffled())]
    stored = test_stored.apply.precise({"f": "f4", "d": "f4", "e": "f4"})
    for task in (*swept, sweeping.backward, test_stored.factorise, stored):
        assert messages(cuda_text(task, np.dtype(precision))) == "", task.name


def test_lists_of_pieces_compile_for_gpus():
    """And the table of their arguments is laid out as the compiler does."""
    launch = sweeping.forward("a", "b", "x", over=Box.of((8, 8, 8)), sweep=sweeps("tiles", "up")[0])
    stored = test_stored.apply.precise({"f": "f4", "d": "f4"})
    tasks = test_pieces.spread, test_pieces.largest, test_pieces.moments, stored, launch.task
    assert [message for task in tasks if (message := messages(cuda_pieces(task, np.dtype("f8"))))] == []


def test_a_text_that_no_gpu_takes_is_told():
    assert "identifier" in messages('extern "C" __global__ void k(double* a) { a[0] = missing; }')
