"""`ds.flow` after `import taskflow` alone, in new processes: this one has loaded xarray long ago."""

import subprocess
import sys

import pytest

ASKED = "xr.Dataset().flow.over_time, xr.DataTree().flow.side; print('here', 'taskflow.plots' in sys.modules)"


@pytest.mark.parametrize("script", [
    "import taskflow, xarray as xr",
    "import xarray as xr, taskflow",
    *(pytest.param(f"{script}; import xarray as xr", marks=pytest.mark.slow) for script in (
        "import taskflow; from xarray import core",
        "import importlib, taskflow; importlib.reload(taskflow)",
        "import importlib.util, taskflow; importlib.util.find_spec('xarray').loader.get_code('xarray')",
        "import taskflow.accessor.flow",
    )),
])  # fmt: skip
def test_datasets_and_trees_have_it(script):
    """In either order of imports, once, with xarray as any other module afterwards."""
    others = "print(type(xr.__loader__).__module__, type(xr.__spec__.loader).__module__, len(sys.meta_path) - n)"
    whole = f"import sys; n = len(sys.meta_path); {script}; {ASKED}; {others}"
    done = subprocess.run([sys.executable, "-W", "error", "-c", whole], capture_output=True, text=True)
    assert done.stdout.split() == ["here", "False", *2 * ["_frozen_importlib_external"], "0"], done.stderr


def test_a_missing_xarray_stays_missing():
    """Neither its import nor a look for it ends otherwise than without taskflow."""
    hidden = "import sys, taskflow, importlib.util; sys.path[:] = []; print(importlib.util.find_spec('xarray'))"
    script = f"{hidden}; import xarray"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "None"
    assert "ModuleNotFoundError: No module named 'xarray'" in done.stderr
