"""`taskflow bench channels`: a row for each channel that there is, and a reason for each that there is not."""

import json

import pytest

from taskflow.bench.machine import channels
from taskflow.runtime.machine.channel import PREFERENCE, channel_problem

HERE = [name for name in PREFERENCE if channel_problem(name) is None]

@pytest.fixture(autouse=True)
def brief(monkeypatch):
    monkeypatch.setattr(channels, "COPY", 1)


@pytest.mark.slow
def test_the_file_has_what_the_table_shows(give, here):
    result = give("bench", "channels", "--sizes", "8,70000", "--seconds", 0.01, "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    actual = json.loads((here / "bench.json").read_text())
    assert {"taskflow", "python", "processor", "threads", "command", "host", "copy_bandwidth"} <= set(actual)
    assert (actual["blocks"], actual["sizes"]) == (2, [8, 70000])
    assert [row["name"] for row in actual["results"]] == list(PREFERENCE)
    lines = [line.split() for line in result.stdout.splitlines()]
    for row in actual["results"]:
        if row["problem"] is not None:
            assert f"{row['name']}: {row['problem']}" in result.stdout
            continue
        assert row["transports"] == [row["name"]]
        assert row["processes"] == (1 if row["name"] == "local" else 2)
        (numbers,) = [line[-4:] for line in lines if line[:1] == [f"{row['name']},"]]
        shown = [float(number.replace(",", "")) for number in numbers]
        steps = [step["seconds"] * 1e6 for step in row["halo"]]
        rate = 2 * 70000 / row["halo"][-1]["seconds"] / 1e9
        assert shown == pytest.approx([*steps, rate, row["allreduce"]["seconds"] * 1e6], rel=0.01, abs=5e-4)
        assert [step["bytes"] for step in row["halo"]] == [8, 70000]
        assert all(step["samples"] >= 20 for step in (*row["halo"], row["allreduce"]))


def test_three_blocks_over_one_channel(give):
    result = give("bench", "channels", "--channels", "local", "--blocks", 3, "--sizes", 8, "--seconds", 0.01)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "between 3 blocks in a ring" in result.stdout
    assert "local, 1 process" in result.stdout
    assert not any(name in result.stdout for name in ("peer", "ucx", "actor"))


@pytest.mark.parametrize(("options", "words"), [
    (("--channels", "mpi"), "--channels mpi: give one or more of local, peer, ucx, actor, separated by commas, or all"),
    (("--sizes", "8,-1"), "--sizes 8,-1: give numbers of bytes, such as 1,2,4"),
    (("--blocks", 1), "--blocks"),
    (("-o", "nowhere/bench.json"), "is not a directory"),
])  # fmt: skip
def test_bad_input_is_refused_before_anything_is_measured(options, words, give, monkeypatch):
    monkeypatch.setattr(channels, "open_team", None)
    result = give("bench", "channels", *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_a_channel_that_is_not_there_is_named(give, monkeypatch):
    monkeypatch.setattr(channels, "channel_problem", lambda name: "ucxx is not installed" if name == "ucx" else None)
    result = give("bench", "channels", "--channels", "ucx")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "ucx: ucxx is not installed" in result.stderr
    result = give("bench", "channels", "--channels", "local,ucx", "--sizes", 8, "--seconds", 0.01)
    assert result.exit_code == 0
    assert "ucx: ucxx is not installed" in result.stdout
