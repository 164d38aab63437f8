"""Profiles of real runs on two blocks: valid timelines, numbers that fit each other, a run that goes on as before."""

import json

import numpy as np
import pytest

import taskflow as tf
from taskflow.common.errors import BadInput
from taskflow.runs.block.profiling import Window
from taskflow.runtime.profile import Ranges

CASE = {
    "grid": {"cells": [24, 12, 24], "lengths": [1.0, 0.5, 1.0]},
    "fluid": {"viscosity": 0.01},
    "boundaries": {
        "x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall",
        "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]},
    },
    "time": {"steps": 16},
    "pressure": {"iterations": 5},
}  # fmt: skip


CHANNELS = {"none": "peer", "comm": "auto"}  # messages of blocks of one process: sent, or copied by the source


def case(overlap, blocks=(1, 1, 2), channel="auto"):
    machine = {"device": "cpu", "blocks": list(blocks), "overlap": overlap, "threads": 1, "workers": 1}
    machine |= {"channel": channel}
    return tf.Case(**CASE, machine=machine)


@pytest.fixture(scope="module", params=CHANNELS)
def profiled(request, tmp_path_factory):
    """A run whose steps 4 to 11 were profiled: overlap, run, trace."""
    folder = tmp_path_factory.mktemp(request.param)
    run = tf.run(case(request.param, channel=CHANNELS[request.param]), folder / "run", profile=Window(4, 8))
    return request.param, run, json.loads((run.directory / "profile.json").read_text())


@pytest.mark.slow
def test_the_run_is_the_same(profiled, tmp_path):
    _, run, _ = profiled
    plain = tf.run(case("none"), tmp_path / "plain")
    assert run.report["steps"] == plain.report["steps"] == 16
    assert "profile" not in plain.report
    assert not (plain.directory / "profile.json").exists()
    for name in ("u", "v", "w", "p"):
        np.testing.assert_array_equal(run.dataset()[name], plain.dataset()[name])


@pytest.mark.fast("comm")
def test_the_file_is_a_trace(profiled):
    overlap, _, trace = profiled
    events = trace["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X", "s", "f"}
    named = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert named == {(b, t): n for b in (0, 1) for t, n in ((0, "host"), (3, "channel"))} | {
        key: name for key, name in named.items() if name.startswith("channel ")
    }
    timed = [event for event in events if event["ph"] != "M"]
    assert [event["ts"] for event in timed] == sorted(event["ts"] for event in timed)
    assert all((event["pid"], event["tid"]) in named for event in timed)
    for event in timed:
        assert event["ts"] >= 0
        assert event["ph"] != "X" or event["dur"] >= 0
    names = {event["name"] for event in timed}
    assert any(name.startswith("jacobi(p, rhs, p_new)") for name in names)
    assert {"none": "receive p_new from 1", "comm": "await: receive p_new from 1"}[overlap] in names


def test_the_shares_are_drawn(profiled):
    _, run, _ = profiled
    assert (run.directory / "profile.png").read_bytes().startswith(b"\x89PNG")


def test_rows_have_no_two_things_at_once(profiled):
    """On each row spans are apart from each other or within each other, as viewers demand."""
    _, _, trace = profiled
    rows = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            rows.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    for spans in rows.values():
        open_until = []
        for start, end in spans:
            while open_until and open_until[-1] <= start + 1e-6:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 1e-6
            open_until.append(end)


def test_every_message_has_an_arrow(profiled):
    _, _, trace = profiled
    starts, ends = ({e["id"]: e for e in trace["traceEvents"] if e["ph"] == ph} for ph in ("s", "f"))
    assert starts.keys() == ends.keys()
    flights = [e for e in trace["traceEvents"] if e.get("cat") == "message" and e["ph"] == "X"]
    assert len(flights) == len(starts) >= 8 * 2 * 5  # sweeps of eight steps, both ways
    for number, start in starts.items():
        assert start["ts"] <= ends[number]["ts"]
        assert {start["pid"], ends[number]["pid"]} == {0, 1}


def test_numbers_fit_each_other(profiled):
    overlap, run, _ = profiled
    result = run.report["profile"]
    assert set(result["passes"]) <= {"step", "monitor"}
    assert 3 <= result["passes"]["step"] <= 7  # eight, without the first pass in each state
    assert sum(result["shares"].values()) == pytest.approx(1)
    assert all(0 <= share < 1 for share in result["shares"].values())
    phases = result["phases"].values()
    assert sum(sum(phase.values()) for phase in phases) == pytest.approx(1 - result["shares"]["rest"])
    assert {"jacobi", "momentum", "correct"} <= set(result["phases"])
    assert 0 < result["host"]["call_microseconds"] < 1000
    critical = result["critical_path"]
    assert sum(critical["operations"].values()) == pytest.approx(1)
    assert 0 < critical["share"] <= 1 + 1e-9
    exchange = result["overlap"]
    assert exchange["hidden_seconds"] <= exchange["exchange_seconds"] < result["seconds"]
    assert (exchange["fraction"] == 0) if overlap == "none" else (exchange["fraction"] > 0)


def test_the_time_is_that_of_the_wall(profiled):
    """Passes in the trace that are no first ones add up to what the summary counts, but for what is between them."""
    _, run, trace = profiled
    passes = [e for e in trace["traceEvents"] if e.get("cat") == "pass" and not e["args"]["first of its graph"]]
    within = sum(event["dur"] for event in passes) * 1e-6 / 2
    result = run.report["profile"]
    assert len(passes) == 2 * sum(result["passes"].values())
    assert within <= result["seconds"] <= run.report["loop_seconds"]
    inside = sum(share for name, share in result["shares"].items() if name != "rest") * result["seconds"]
    assert inside <= within * (1 + 1e-6)


def test_a_run_that_ends_before_tells_so(tmp_path):
    run = tf.run(case("none", (1, 1, 1)), tmp_path / "run", profile=Window(16, 5))
    assert run.report["profile"] == {"after": 16, "steps": 5, "passes": {}}
    assert not list(run.directory.glob("profile*"))


def test_a_window_has_steps():
    with pytest.raises(BadInput, match="at least one step"):
        Window(3, 0)
    with pytest.raises(BadInput, match="after -1"):
        Window(-1, 4)


def test_ranges_are_around_the_wanted_steps(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr("taskflow.runtime.profile.profiler.Ranges.open", lambda: Ranges(said.append, lambda: None))
    run = tf.run(case("none", (1, 1, 1)), tmp_path / "run", profile=Window(10, 2, "nvtx"))
    assert "profile" not in run.report
    assert sum("advective_rate" in name and "compute" in name for name in said) == 2
    assert sum(name.startswith("compute jacobi(") for name in said) == 2 * 4
