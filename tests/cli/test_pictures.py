"""`taskflow plot` and `taskflow graph`: files where they belong, and their paths."""

import pytest

PROFILE = "# Citation: Somebody (1999) Flows\ny,u\n0.2,0.0\n0.8,0.5\n"


def test_the_last_snapshot(give, run_directory):
    result = give("plot", run_directory)
    path = run_directory / "velocity.png"
    assert (result.exit_code, result.stdout) == (0, f"{path}\n")
    assert path.stat().st_size > 10_000


def test_options_and_profiles(give, run_directory, here):
    (here / "table.csv").write_text(PROFILE)
    words = ["--field", "p", "--plane", "y=0.05", "--time", "0", "-o", "a.svg", "--reference", "table.csv"]
    result = give("plot", run_directory, *words)
    assert result.exit_code == 0, result.stderr
    *paths, difference = result.stdout.splitlines()
    assert paths == ["a.svg", "a_profiles.svg"]
    assert all((here / path).exists() for path in paths)
    assert difference.startswith("table.csv: largest difference 0.")


@pytest.mark.fast("words0-*", "words3-*", "words6-*")
@pytest.mark.parametrize(("words", "told"), [
    (["--field", "q"], "u, v, w"), (["--time", "77"], "time = 77"), (["--plane", "q"], "plane = 'q'"),
    (["-o", "a.xyz"], "a.xyz"), (["-o", "/proc/nowhere/a.png"], "/proc/nowhere"), (["--reference", "no.csv"], "no.csv"),
    (["--reference", "torn.csv"], "torn.csv: line 3: 1 values for 2 names"),
])
def test_refusals(give, refused, run_directory, here, words, told):
    (here / "torn.csv").write_text("y,u\n0.2,0.0\n0.8")
    result = give("plot", run_directory, *words)
    refused(result.exit_code, result.stderr, told)


BLOCKS = ["--set", "machine.blocks=[1,1,2]", "--set", "machine.overlap=full", "--set", "pressure.solver=jacobi"]


def test_a_graph(give, here):
    result = give("graph", "cavity.toml", *BLOCKS)
    assert result.exit_code == 0
    for words in ("digraph step {", "block 1", "edge: ", "middle: ", "jacobi: 28 more like this"):
        assert words in result.stdout
    assert give("graph", "cavity.toml", "-o", "step.dot").stdout.startswith("step.dot: ")
    assert (here / "step.dot").read_text().startswith("digraph step {")
    whole = give("graph", "cavity.toml", *BLOCKS, "--all").stdout
    assert "more like this" not in whole
    assert whole.count("claim of") > 28


def test_a_graph_as_a_picture(give, refused, here, monkeypatch):
    monkeypatch.setenv("PATH", "")  # no Graphviz
    result = give("graph", "cavity.toml", *BLOCKS, "-o", "step.svg")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("step.svg: ")
    assert "<svg" in (here / "step.svg").read_text()
    result = give("graph", "cavity.toml", "-o", "step.xyz")
    refused(result.exit_code, result.stderr, "step.xyz", "svg")
    for name in ("/proc/nowhere/a.dot", "/proc/nowhere/a.png"):
        result = give("graph", "cavity.toml", "-o", name)
        refused(result.exit_code, result.stderr, name, "cannot be written")
