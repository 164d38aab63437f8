"""`taskflow run --profile`: what it prints, and what it refuses."""

import json

import pytest


def test_the_summary(give, here):
    words = ["--set", "machine.blocks=[1,1,2]", "--set", "machine.workers=1", "--set", "machine.threads=1"]
    words += ["--set", "machine.overlap=none", "--set", "pressure.solver=jacobi"]
    result = give("run", "cavity.toml", "--profile", "--profile-after", "3", "--profile-steps", "12", *words)
    assert result.exit_code == 0, result.stderr
    before, _, told = result.stdout.partition("Profile: ")
    assert "step 40" in before
    assert " of step and " in told.splitlines()[0]
    assert " of monitor on 2 blocks, " in told.splitlines()[0]
    assert told.splitlines()[1].split() == ["compute", "copy", "communic.", "rest"]
    for text in ("  jacobi  ", "  all  ", "  overlap    0% of ", " us per call", "% of the time: ", "/profile.json"):
        assert text in told
    assert told.index("In short") < told.index("Finished at time")
    actual = json.loads((here / "cavity" / "report.json").read_text())["profile"]
    assert (actual["after"], actual["steps"]) == (3, 12)
    assert json.loads((here / "cavity" / "profile.json").read_text())["traceEvents"]


@pytest.mark.slow
def test_a_run_that_is_over_before(give, here):
    result = give("run", "cavity.toml", "--profile", "--set", "time.steps=5")
    assert result.exit_code == 0
    assert "Nothing was profiled" in result.stdout
    assert "--profile-after" in result.stdout
    assert not (here / "cavity" / "profile.json").exists()


@pytest.mark.slow
def test_quiet(give, here):
    result = give("run", "cavity.toml", "--profile", "--quiet")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (here / "cavity" / "profile.json").exists()


def test_refusals(give, refused, here, monkeypatch):
    result = give("run", "cavity.toml", "--profile", "--nvtx")
    refused(result.exit_code, result.stderr, "--profile --nvtx")
    result = give("run", "cavity.toml", "--profile-after", "0")
    refused(result.exit_code, result.stderr, "--profile-after: of --profile and --nvtx")
    assert give("run", "cavity.toml", "--profile", "--profile-steps", "0").exit_code == 2
    monkeypatch.setattr("taskflow.runtime.profile.profiler.HOMES", ())
    result = give("run", "cavity.toml", "--nvtx", "--quiet")
    refused(result.exit_code, result.stderr, "neither nvtx nor CuPy")
