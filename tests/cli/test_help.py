"""Help and version: complete, plain, at once."""

import os
import subprocess
import sys

import pytest

import taskflow
from taskflow.runs.directory.provenance import build

COMMANDS = [
    "run", "sweep", "check", "new", "schema", "info", "unlock", "watch", "plot", "export", "droplets", "graph",
    "grid", "bench",
]  # fmt: skip
BENCH = ["channels", "sweep", "scaling", "step"]
GRID = ["new", "info", "check", "plot", "convert"]
HEAVY = {"cupy", "dask", "distributed", "matplotlib", "numpy", "pydantic", "rich", "ucxx", "xarray", "zarr"}
MAIN = "from taskflow.cli import main; main()"
WRONG = [["runn"], ["run"], ["run", "a.toml", "--forse"], ["plot", "a", "--time=b"], ["bench", "step", "--warm=-1"]]


def python(script, *words, **environment):
    """What Python makes of a script."""
    command, settings = [sys.executable, "-c", script, *words], {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=settings, check=False)


@pytest.mark.parametrize(("group", "commands"), [((), COMMANDS), (("bench",), BENCH), (("grid",), GRID)])
def test_help_names_every_command_in_whole_sentences(give, group, commands):
    result = give(*group, "--help")
    assert result.exit_code == 0
    listed = result.stdout.partition("Commands:\n")[2].splitlines()[: len(commands)]
    lines = dict(line.split(maxsplit=1) for line in listed)
    assert list(lines) == commands
    assert all(text.endswith(".") and not text.endswith("...") for text in lines.values()), lines
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("command", [*([c] for c in COMMANDS), ["bench", "step"]], ids=" ".join)
def test_every_command_has_help(give, command):
    for option in ("--help", "-h"):
        result = give(*command, option)
        assert result.exit_code == 0
        assert result.stdout.strip().startswith(f"Usage: taskflow {' '.join(command)} ")


def test_version(give):
    result = give("--version")
    assert (result.exit_code, result.stdout) == (0, f"taskflow {build()}\n")
    assert build().startswith(taskflow.__version__)


def test_as_a_module():
    done = subprocess.run([sys.executable, "-m", "taskflow", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"taskflow {build()}\n", "")


def test_help_loads_nothing_heavy():
    script = f"import sys\ntry:\n  {MAIN}\nfinally:\n  print(*({HEAVY} & sys.modules.keys()), file=sys.stderr)"
    done = python(script, "--help")
    assert (done.returncode, done.stderr.strip()) == (0, "")


def test_no_garbage_is_looked_for_while_modules_load():
    script = """
import gc
from taskflow.terminal.process import loading
passes = lambda: sum(generation["collections"] for generation in gc.get_stats())
with loading():
    before = passes()
    import taskflow.cases
    assert passes() == before
assert gc.isenabled() and gc.get_freeze_count() > 10_000
"""
    assert python(script).stderr == ""


@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage(give, words):
    result = give(*words)
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert "-h" in result.stderr


@pytest.mark.parametrize(("typed", "offered"), [
    ("taskflow ru", ["run"]),
    ("taskflow run a.toml --set time.st", [
        "time.steps=", "time.steady=", "time.steady.rate=", "time.steady.over=", "time.steady.every=", "time.step=",
    ]),
    ("taskflow new a.toml --example ta", ["taylor_green"]),
])
def test_shell_completion(typed, offered):
    last = str(len(typed.split()) - 1)
    done = python(MAIN, _TASKFLOW_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=last)
    assert done.stdout.split() == offered
