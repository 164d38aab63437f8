"""The scripts of the gallery run as they are, in a folder beside the data that they read."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "docs" / "gallery").glob("plot_*.py"))


def test_the_site_has_them_in_order():
    """Sphinx refuses scripts that its configuration does not list."""
    (listed,) = re.findall(r"^GALLERY = \((.*?)\)", (ROOT / "docs" / "conf.py").read_text(), re.M | re.S)
    assert sorted(re.findall(r'"(\w+)"', listed)) == [script.stem.removeprefix("plot_") for script in SCRIPTS]


@pytest.mark.slow
@pytest.mark.parametrize("script", [script.name for script in SCRIPTS])
def test_a_script_runs(tmp_path, script):
    folder = tmp_path / "docs" / "gallery"
    folder.mkdir(parents=True)
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error::UserWarning"}
    command = [sys.executable, str(ROOT / "docs" / "gallery" / script)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
