"""`taskflow check`: what a case costs, by the same rules as a run."""

import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from taskflow import BadInput, Case
from taskflow.runs.estimate.estimate import count_steps, estimate
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.host import look
from taskflow.runtime.host.accelerators import Accelerator
from taskflow.runtime.machine.channel import channel_problem
from taskflow.runtime.proof import Proof
from tests.speed import seconds

EXAMPLES = Path(__file__).parents[2] / "examples"
TWO = ("--set", "machine.blocks=[1,1,2]")


def test_what_it_tells(give, here):
    settings = ["machine.blocks=[1,1,2]", "time.end=10", "time.cfl=0.4"]
    result = give("check", "cavity.toml", "-v", *(word for setting in settings for word in ("--set", setting)))
    assert (result.exit_code, result.stderr) == (0, "")
    for words in (
        "A small cavity: the case is valid",
        "16 x 2 x 16 cells",
        "viscosity 0.01, speed 1: Re = 100 per unit length, 6.25 per cell\n",
        "1 x 1 x 2 in 2 processes",
        "FFT, direct (auto: cells are uniform, and each direction is periodic or between walls); double precision",
        "in the largest block",
        "per step from the busiest block",
        "across faces",
        "(measured now)",
        "an estimate",
        "about 400 steps, the first 0.025 long: CFL 0.4",
        "2 snapshots, at most 16.4 kB: u, v, w, p in single precision",
        "overlap none (auto)",
        "     96.0      1  momentum            u v w h_u h_v h_w -> h_u h_v h_w u_new v_new w_new\n",
        "bytes per cell",
    ):
        assert words in result.stdout
    assert "(auto)" not in result.stdout.splitlines()[2], "the blocks are given"


@pytest.mark.parametrize("name", ["room", "cylinder", "rising_bubble", "naca0012"])
def test_the_rest_is_printed_on_request(name, give):
    """What a user needs is on few lines, and they are some of all, in the same order."""
    case, timed = str(EXAMPLES / f"{name}.toml"), re.compile(r"free|measured|for the run")
    short, whole = (give("check", case, *more).stdout.splitlines() for more in ((), ("-v",)))
    labels = [line.split()[0] for line in short[1:] if line[2] != " "]
    assert labels[:3] in (["grid", "device", "fluid"], ["grid", "device", "phases"])
    assert labels[-1] == "output"
    assert {"memory", "time"} < {*labels}
    assert len(short) <= 14 < 20 <= len(whole)
    rest = iter(whole)
    assert all(any(line == one or (timed.search(line) and timed.search(one)) for one in rest) for line in short)


def test_the_fluid_is_described(give, here):
    heated, ideal = (AT_REST, "heat.diffusivity=0.005"), ("fluid.viscosity=0", "time.step=0.01")
    for settings, words in ((heated, "viscosity 0.01, no speed is given; Pr = 2"), (ideal, "viscosity 0, speed 1")):
        told = give("check", "cavity.toml", *(word for setting in settings for word in ("--set", setting))).stdout
        assert f"  fluid      {words}\n" in told


def test_rows_are_json_for_programs(give, here):
    settings = ["--set", "machine.blocks=[1,1,2]", "--set", "grid.stretching={z={tanh=2.5}}"]
    printed, told = (give("check", "cavity.toml", *settings, *more) for more in (("-v",), ("--json",)))
    assert (told.exit_code, told.stderr) == (0, "")
    result = json.loads(told.stdout)
    assert result.keys() == {"heading", "rows"}
    assert printed.stdout.startswith(f"{result['heading']}\n")
    for row in result["rows"]:
        assert row.keys() == {"label", "text", "kind", "auto"}
        if "free" not in row["text"] and "measured" not in row["text"] and row["label"] != "time":
            assert f"  {row['label']}".ljust(13) + row["text"] + " (auto)" * row["auto"] in printed.stdout
    kinds = {(row["label"], row["auto"]) for row in result["rows"] if row["label"] in ("blocks", "device")}
    assert kinds == {("blocks", False), ("device", True)}
    [warning] = (row["text"] for row in result["rows"] if row["kind"] == "warning")
    assert "costs accuracy" in warning


def test_what_a_steady_state_is_and_which_steps_are_too_long(give, here):
    settings = ["time.steady=1e-4", "heat={diffusivity=0.002}", "time.cfl=0.9", "fluid.viscosity=1e-3"]
    told = give("check", "cavity.toml", "-v", *(word for setting in settings for word in ("--set", setting))).stdout
    lines = " ".join(told.split())
    assert "steps: time.steps, fewer if it becomes steady" in lines
    assert (
        "steady when the rate of velocity and T stays below 0.0001 for the time in which the largest speed"
        " crosses the longest side, but at most 50.66, the time of diffusion rate: largest change since that time"
        " began / (its length x range), checked every 10 steps" in lines
    )
    assert 'warning time.cfl = 0.9: time.scheme = "ab2" is stable up to 0.' in lines
    table = "time.steady={rate=1e-5, over=2, every=0.5}"
    told = give("check", "cavity.toml", "-v", "--set", table).stdout
    assert "when the rate of velocity stays below 1e-05 for a time of 2\n" in told
    assert "checked every 0.5 of time" in told
    assert "warning" not in told


def test_an_outer_iteration_is_told_at_most_and_its_messages_once(give, here):
    """How many products it takes nobody knows before."""
    settings = ["grid.cells=[64,32,1]", "method.march=implicit", "machine.blocks=2"]
    naca = str(EXAMPLES / "naca0012.toml")
    told = give("check", naca, "-v", *(word for setting in settings for word in ("--set", setting))).stdout
    assert re.search(r"step +moves at most [\d.]+ [MG]B", told)
    assert re.search(r"\d+ messages and [\d.]+ kB per step \(repetitions counted once\) from the busiest", told)


def test_openings_are_told(give, here):
    settings = ["boundaries.x_min={type='inflow', velocity=['6*z*(1-z)*(1+t)', 0, 0]}", "boundaries.x_max=outflow"]
    told = give("check", "cavity.toml", *(word for setting in settings for word in ("--set", setting))).stdout
    assert "x_min: fluid enters at 1.002 on average, 1.494 at most at first, and changes in time" in told
    assert "x_max: convective outflow at the mean speed that balances the inflow" in told
    advected = [*settings[:1], "boundaries.x_max={type='outflow', pressure='advected'}"]
    told = give("check", "cavity.toml", *(word for setting in advected for word in ("--set", setting))).stdout
    assert "x_max: convective outflow, with its pressure, at the mean speed that balances the inflow" in told
    released = give("check", "cavity.toml", "--set", "boundaries.x_max={type='outflow', pressure=0}").stdout
    assert "openings   x_max: p = 0, which sets the flow through the side" in released


@pytest.mark.skipif(channel_problem("peer") is not None, reason=str(channel_problem("peer")))
def test_memory_that_neighbours_share_is_told(give, here):
    shared = "channel peer (auto), 2.10 MB shared by each two neighbours"
    for channel, words in (("auto", shared), ("actor", "channel actor\n")):
        result = give("check", "-v", "cavity.toml", *TWO, "--set", f"machine.channel={channel}")
        assert words in result.stdout


@pytest.mark.parametrize(("settings", "words"), [
    (["turbulence.model=wale"], "WALE, constant 0.5\n"),
    (["turbulence.model=smagorinsky"], "Smagorinsky, constant 0.17, damped at smooth walls\n"),
    (["turbulence.model=smagorinsky", "turbulence.damping=none"], "Smagorinsky, constant 0.17\n"),
    (["turbulence.model=vreman", "boundaries.z_min={type='wall', roughness=0.001}", "heat.diffusivity=0.1"],
     "Vreman, constant 0.07, logarithmic law at rough walls, turbulent Prandtl number 0.85\n"),
])  # fmt: skip
def test_the_turbulence_model_is_told(settings, words, give, here):
    result = give("check", "cavity.toml", "-v", *(word for setting in settings for word in ("--set", setting)))
    assert (result.exit_code, result.stderr) == (0, "")
    assert f"eddies     {words}" in result.stdout
    assert re.search(r"^ .*\beddies  +.*-> nu_t$", result.stdout, re.MULTILINE)  # the task


def test_nothing_is_written(give, here):
    give("check", "cavity.toml")
    assert [path.name for path in here.iterdir()] == ["cavity.toml"]


AT_REST = 'boundaries.z_max="wall"'


@pytest.mark.parametrize(("settings", "count", "basis"), [
    ([], 40, "time.steps"),
    (["time.end=1", "time.step=0.01"], 100, "time.step = 0.01"),
    (["time.end=10", "fluid.viscosity=1e-3"], 320, "CFL 0.5"),
    (["time.end=10", "fluid.viscosity=0.1"], math.ceil(10 * 0.1 * 768 / 0.2), "diffusion number 0.2"),
    (["time.end=10", AT_REST, "fluid.viscosity=1e-4"], math.ceil(10 * 1e-4 * 768 / 0.2), "a faster flow needs more"),
    (["time.end=10", AT_REST, 'initial.velocity=["2*z", 0, 0]'], 620, "CFL 0.5"),
])
def test_steps(here, settings, count, basis):
    steps = count_steps(RunSetup(Case.load("cavity.toml", settings), (1, 1, 1)))
    assert steps.range[-1] == pytest.approx(count, abs=1)
    assert basis in steps.basis


def test_the_messages_of_many_blocks_are_counted_in_a_moment(here, monkeypatch):
    """Measured: 0.35 s, without a graph. The limit leaves room for a busy machine."""
    from taskflow.systems.base import step_cost as room

    monkeypatch.delattr(room, "analyse")
    case = Case.load("cavity.toml", ["grid.cells=[64,64,64]", "machine.blocks=[4,4,4]"])
    setup = RunSetup(case, (4, 4, 4))
    assert seconds(lambda: setup.step_cost.traffic) < 1.5
    assert sum(sent.messages for sent in setup.step_cost.traffic) > 64 * 3 * 30


def test_messages_are_those_of_the_graph(here):
    result = estimate(Case.load("cavity.toml", ["machine.blocks=[1,1,2]", "pressure.iterations=7"]))
    assert result.processes == len(result.placed) == 2
    between = result.sim.step_cost.analysed(split=False).messages
    assert [sent.messages for sent in result.sim.step_cost.traffic] == [between[0, 1], between[1, 0]]
    assert result.seconds_per_step > result.sim.step_cost.nbytes({}) / result.bandwidth > 0
    assert result.blocks == MemoryEstimate(result.sim, result.placed, result.device).blocks


@pytest.mark.parametrize(("settings", "words"), [
    (["grid.cells=[4000,4000,4000]"], ["grid.cells = [4000, 4000, 4000]", "needs", "TB", "are free", "fewer cells"]),
    (["fluid.viscosity=0", AT_REST], ["no time step can be found", "time.step"]),
    (['initial.velocity=["1/x",0,0]'], ["initial.velocity", "'1/x'", "not finite at x = 0"]),
    (["time={end=1e9, cfl=1e-300}"], ["time.end = 1e+09: steps of", "more than 1e+15; give an earlier end"]),
    (["fluid.viscosty=1", "machine.blocks=[1,9,1]"], ["did you mean fluid.viscosity?", "at most 2"]),
])
def test_what_cannot_run_is_refused(give, refused, here, settings, words):
    result = give("check", "cavity.toml", *(word for setting in settings for word in ("--set", setting)))
    refused(result.exit_code, result.stderr, *words)
    assert result.stdout == ""
    with pytest.raises(BadInput):
        estimate(Case.load("cavity.toml", settings))


@pytest.mark.parametrize("cells", [[2147483647, 2147483647, 2147483647], [8, 8, 10**9]], ids=str)
def test_bodies_are_not_looked_for_on_cells_that_do_not_fit(give, refused, here, cells, monkeypatch):
    monkeypatch.setattr("taskflow.systems.base.domain.Bodies", None)
    body = "obstacles=[{type='sphere', centre=[0.5, 0.06, 0.5], radius=0.2}]"
    result = give("check", "cavity.toml", "--set", f"grid.cells={cells}", "--set", body)
    refused(result.exit_code, result.stderr, f"grid.cells = {cells}", "needs", "are free", "fewer cells")


def test_on_gpus(here, give, monkeypatch):
    """A machine with two GPUs, as far as `check` can see."""
    from taskflow.runs.estimate import estimate as room

    gpus = tuple(Accelerator(n, "A fine GPU", f"id {n}", 80 * 10**9, 80 * 10**9) for n in range(2))
    here_with = replace(look("this machine"), gpus=gpus, gpu_problem=None)
    monkeypatch.setattr(room, "look", lambda _: here_with)
    monkeypatch.setattr(room, "open_device", lambda kind: kind)
    monkeypatch.setattr(room, "known_copy_bandwidth", lambda device: 4e12)
    told = give("check", "cavity.toml", "-v").stdout
    for word in ("1 x 1 x 2 in 2 processes (auto)", "2 GPUs: A fine GPU (auto)", "8.00 TB/s", "80.0 GB free per GPU"):
        assert word in told
    assert "flags and what other GPUs leave there" in told
    assert "message buffers" not in told
    assert "1 GPU: A fine GPU" in give("check", "cavity.toml", "--set", "machine.blocks=[1,1,1]").stdout
    result = give("check", "cavity.toml", "--set", "machine.workers=3")
    assert "this machine has 2 GPUs; use at most 2" in result.stderr


def test_a_case_is_proved(give, here):
    few = ["machine.blocks=[1,1,2]", "machine.device=cpu", "machine.overlap=full", "pressure.iterations=2"]
    result = give("check", "cavity.toml", "--prove", *(word for setting in few for word in ("--set", setting)))
    assert (result.exit_code, result.stderr) == (0, "")
    assert "proof" in result.stdout
    assert "18 templates: " in result.stdout
    assert "reads find what the program means" in result.stdout


def test_a_proof_that_fails_ends_the_check(give, here, monkeypatch):
    broken = Proof(templates=1, faults=["block 0, field p, cells [0,1)x[0,1)x[0,1): this and that are not ordered"])
    monkeypatch.setattr("taskflow.runs.estimate.estimate.Estimate.prove", lambda costs: broken)
    result = give("check", "cavity.toml", "--prove")
    assert result.exit_code == 1
    assert "the proof fails:" in result.stderr
    assert "block 0, field p" in result.stderr


@pytest.mark.parametrize(("settings", "words"), [
    (["machine.blocks=[1, 1, 3]", "machine.threads=2"], "3 blocks of 2 threads are more than the 2 cores of"),
    (["machine.blocks=[1, 1, 3]"], "3 blocks are more than the 2 cores of"),
    (["machine.blocks=[1, 1, 2]"], None),
])  # fmt: skip
def test_threads_beyond_the_cores_are_told(settings, words, give, here, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 7})
    told = give("check", "cavity.toml", *(part for value in settings for part in ("--set", value))).stdout
    assert words in told if words else "cores of" not in told
