"""An error in the code of a model says that it is the model's, where, and after which launch of which program."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BURGERS = Path(__file__).with_name("burgers.py")
CASE = """
[burgers]
viscosity = 0.01
initial = "sin(2 * pi * x)"
[grid]
cells = [8, 8, 8]
lengths = [1.0, 1.0, 1.0]
[boundaries]
x = "periodic"
y = "periodic"
z = "periodic"
[time]
steps = 2
[machine]
device = "cpu"
"""
STEP = '        yield improve(f.q, f.q_new, over=self.grid.box, dt="dt", r=r)\n'


@pytest.fixture
def command(tmp_path):
    """A command in a process that finds the model, with a text in it replaced, as an installed package."""

    def give(old, new, *words):
        text = BURGERS.read_text()
        assert old in text
        (tmp_path / "my_burgers.py").write_text(text.replace(old, new))
        about = tmp_path / "my_burgers-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-burgers\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text("[taskflow.models]\nburgers = my_burgers:BurgersSystem\n")
        (tmp_path / "wave.toml").write_text(CASE)
        paths = os.pathsep.join(filter(None, [str(tmp_path), str(BURGERS.parents[2]), os.environ.get("PYTHONPATH")]))
        return subprocess.run(
            [sys.executable, "-m", "taskflow", *words], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return give


def test_an_error_in_a_program_names_model_line_and_launch(command):
    done = command(STEP, "        yield improve(f.q, f.q_next, over=self.grid.box)\n", "check", "wave.toml")
    assert done.returncode == 1
    assert "no field plays 'q_next'" in done.stderr
    assert 'a fault of your model "burgers" (my_burgers.py, line ' in done.stderr
    assert "in the program step, after the launch of predict" in done.stderr
    assert "fault of taskflow" not in done.stderr


def test_an_error_on_a_block_names_the_model(command):
    done = command('"peak": scalars["peak"]', '"peak": scalars["speak"]', "run", "wave.toml", "-q")
    assert done.returncode == 1
    assert "block 0: KeyError: 'speak'" in done.stderr
    assert 'a fault of your model "burgers" (my_burgers.py, line ' in done.stderr


@pytest.mark.parametrize("words", [("check", "wave.toml", "--prove"), ("run", "wave.toml", "-q")])
def test_a_compiler_message_names_the_task_and_its_line(command, words):
    done = command("+ q_new[c] +", "+ q_next[c] +", *words)
    assert done.returncode == 1
    assert re.search(r"improve[:(]\d+", done.stderr)
    assert "predict" not in done.stderr
    assert "q_next" in done.stderr
    assert "of the kernel text of improve: " in done.stderr
    assert "Traceback" not in done.stderr
