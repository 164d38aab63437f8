"""Nothing that others can change is run, nothing that a file names is opened, and small files take little memory."""

import importlib.metadata
import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

from tests.everyday.cases import SLAB
from tests.everyday.hdf5 import box, labelled, nodes, replaced

NOBODY = 65534
ROOT = os.getuid() == 0

EXCHANGE = """
import os, sys
from pathlib import Path

def exchange(folder, module=None):
    \"\"\"As another user puts another folder in the place of one.\"\"\"
    pid = os.fork()
    if pid == 0:
        try:
            os.setgid(65534), os.setuid(65534)
            os.rename(folder, f"{folder}.gone")
            os.mkdir(folder)
            if module:
                Path(folder, f"{module}.py").write_text("import os")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)

def others_may_change(path):
    \"\"\"The first folder of this path that another user owns, or may write to.\"\"\"
    for folder in (path, *path.parents):
        if folder.exists():
            status = folder.stat()
            if status.st_uid not in (0, os.getuid()) or (status.st_mode & 0o022 and not status.st_mode & 0o1000):
                return folder
"""
SCRATCH = """
import importlib.util
import taskflow as tf

before = {*sys.path}
case = tf.Case(
    grid={"cells": [8, 8, 8], "lengths": [1, 1, 1]}, fluid={"viscosity": 0.01},
    boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"}, time={"steps": 3},
    machine={"device": "cpu", "threads": 1},
)
if __name__ == "__main__":
    with tf.Simulation(case) as sim:
        sim.step(1)
        added = [Path(entry) for entry in sys.path if entry not in before and Path(entry).is_absolute()]
        bad = [entry for entry in added if others_may_change(entry)]
        if os.getuid() == 0 and bad:
            exchange(bad[0], "stranger_module")
            assert not importlib.util.find_spec("stranger_module"), "a module of another user would be imported"
        assert not bad, bad
"""
CACHE = """
from taskflow.common.errors import TaskflowError
from taskflow.runtime.machine.kernel import compile_host

parent = Path(os.environ["XDG_CACHE_HOME"])
try:
    folder = Path(compile_host.cache_folder())
except TaskflowError:
    sys.exit()
assert parent not in folder.parents, folder
if os.getuid() == 0 and parent in folder.parents:
    exchange(folder)
    assert Path(compile_host.cache_folder()).stat().st_uid == 0, "a folder of another user is taken"
"""


def python(script, tmp_path, **environment):
    """A script with a function that exchanges folders."""
    path = tmp_path / "script.py"
    path.write_text(EXCHANGE + script)
    done = subprocess.run(
        [sys.executable, path], env={**os.environ, **environment}, cwd=tmp_path, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def shared(tmp_path, name, mode):
    """A folder below one that everybody may enter; as root it is given to another user."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    folder = tmp_path / name
    folder.mkdir(parents=True)
    folder.chmod(mode)
    return folder


def test_no_folder_that_others_may_change_is_added_to_sys_path(tmp_path):
    """`dask-scratch-space` was made before, by another user."""
    temporary = shared(tmp_path, "shared", 0o1777)
    scratch = shared(temporary, "dask-scratch-space", 0o777)
    if ROOT:
        os.chown(scratch, NOBODY, NOBODY)
    python(SCRATCH, tmp_path, TMPDIR=str(temporary))


def test_no_kernel_is_kept_where_others_may_exchange_its_folder(tmp_path):
    group = shared(tmp_path, "group", 0o775)
    if ROOT:
        os.chown(group, NOBODY, NOBODY)
    python(CACHE, tmp_path, XDG_CACHE_HOME=str(group))


class Code:
    """What runs code where it is unpickled."""

    def __reduce__(self):
        return os.system, ("echo code of the store ran > RAN",)


def array(name, values, dims, *, evil=False):
    """An array of a Zarr store of format 2; the codec of an evil one unpickles."""
    folder = Path("evil.zarr", name)
    folder.mkdir(parents=True)
    about = {
        "zarr_format": 2, "shape": list(values.shape), "chunks": list(values.shape), "dtype": "<f8",
        "compressor": None, "fill_value": 0.0, "order": "C", "filters": None,
    }  # fmt: skip
    if evil:
        about |= {"dtype": "|O", "fill_value": "", "filters": [{"id": "vlen-utf8"}]}
        about |= {"compressor": {"id": "pickle", "protocol": 5}}
    (folder / ".zarray").write_text(json.dumps(about))
    (folder / ".zattrs").write_text(json.dumps({"_ARRAY_DIMENSIONS": dims}))
    (folder / ".".join("0" * values.ndim)).write_bytes(pickle.dumps(Code()) if evil else values.tobytes())


def test_a_codec_that_runs_code_is_refused_by_its_name(process):
    for axis in "xyz":
        array(axis, (np.arange(8) + 0.5) / 8, [axis], evil=axis == "x")
    for name in "uvw":
        array(name, np.zeros((8, 8, 8)), ["z", "y", "x"])
    Path("evil.zarr", ".zgroup").write_text('{"zarr_format": 2}')
    Path("evil.toml").write_text(SLAB + '[initial]\nsource = "evil.zarr"\n')
    status, told = process("check", "evil.toml")
    assert not Path("RAN").exists()
    assert status == 2
    assert "pickle" in told


def test_versions_of_numcodecs_that_run_code_are_not_allowed():
    requirements = importlib.metadata.requires("taskflow-cfd")
    bound = next(requirement for requirement in requirements if re.match(r"numcodecs\b", requirement))
    least = re.search(r">=\s*([\d.]+)", bound)
    assert tuple(map(int, least[1].split("."))) >= (0, 16, 6)


# ----------------------------------------------------------------------------------- HDF5 with values elsewhere


@pytest.mark.fast("pipe")
@pytest.mark.parametrize("where", ["pipe", "other.bin"])
def test_a_grid_whose_values_are_in_another_file_is_refused(process, command, where):
    os.mkfifo("pipe")
    Path("other.bin").write_text("private " * 1000)
    path = box(command)
    with h5py.File(path, "r+") as file:
        node = file[next(name for name in nodes(file, b"DataArray_t") if name.endswith("CoordinateX"))]
        elsewhere = [(os.fsencode(Path(where).resolve()), 0, h5py.h5f.UNLIMITED)]
        replaced(node, shape=node[" data"].shape, dtype="f8", external=elsewhere)
    status, told = process("grid", "check", path)
    assert status == 2
    assert "collapsed" not in told


@pytest.mark.fast("heights")
@pytest.mark.parametrize(("name", "dims", "case", "words"), [
    pytest.param("h", "yx", '[[obstacles]]\ntype = "heights"\nfile = "file.nc"\n', ["check"], id="heights"),
    pytest.param("u", "zyx", '[initial]\nsource = "file.nc"\n', ["run", "-q"], id="source"),
])  # fmt: skip
def test_netcdf_whose_values_are_in_a_pipe_is_refused(process, name, dims, case, words):
    os.mkfifo("pipe")
    values = {key: (tuple(dims), np.zeros((8,) * len(dims))) for key in ("h" if name == "h" else "uvw")}
    coordinates = {dim: (np.arange(8) + 0.5) / 8 for dim in dims}
    xr.Dataset(values, coords=coordinates).to_netcdf("file.nc", engine="h5netcdf")
    with h5py.File("file.nc", "r+") as file:
        kept, scales = dict(file[name].attrs), [file[name].dims[n][0] for n in range(len(dims))]
        del file[name]
        elsewhere = [(os.fsencode(Path("pipe").resolve()), 0, h5py.h5f.UNLIMITED)]
        moved = file.create_dataset(name, shape=(8,) * len(dims), dtype="f8", external=elsewhere)
        for n, scale in enumerate(scales):
            moved.dims[n].attach_scale(scale)
        for key, value in kept.items():
            if key not in ("DIMENSION_LIST", "REFERENCE_LIST"):
                moved.attrs[key] = value
    Path("case.toml").write_text(SLAB + case)
    assert process(words[0], "case.toml", *words[1:])[0] == 2


# -------------------------------------------------------------------------------------------------------- memory

MEASURED = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "taskflow", "check", sys.argv[1]], capture_output=True)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
"""
CHART = textwrap.dedent("""
    [grid]
    file = "word.xyz"
    [fluid]
    viscosity = 0.01
    [method]
    type = "artificial-compressibility"
    [boundaries]
    i_min_1 = "wall"
    [time]
    steady = 1e-6
    steps = 10
""")


def test_one_long_word_of_plot3d_takes_no_memory_for_the_others(here):
    """A file of 135 KiB: not all of its words are as wide as the longest."""
    n = 40
    words = [f"{n} {n} 2"] + ["0.5"] * (n * n * 2 * 3 - 1) + ["0." + "5" * 100_000]
    Path("word.xyz").write_text("\n".join(words) + "\n")
    Path("word.toml").write_text(CHART)
    done = subprocess.run([sys.executable, "-c", MEASURED, "word.toml"], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[1]) < 600  # MiB


def test_a_seam_whose_angle_has_many_numbers_is_a_bad_file(process, command):
    path = box(command)
    with h5py.File(path, "r+") as file:
        seams, zone = nodes(file, b"GridConnectivity1to1_t"), file[nodes(file, b"Zone_t")[0]]
        if seams:
            seam = file[seams[0]]
        else:
            parent = labelled(zone, "ZoneGridConnectivity", "ZoneGridConnectivity_t")
            seam = labelled(parent, "seam", "GridConnectivity1to1_t", "C1")
            seam.create_dataset(" data", data=np.frombuffer(zone.name.split("/")[-1].encode(), "i1"))
            ranges = {"PointRange": [[1, 1], [1, 7], [1, 7]], "PointRangeDonor": [[7, 7], [1, 7], [1, 7]]}
            for key, value in ranges.items():
                labelled(seam, key, "IndexRange_t", "I4").create_dataset(" data", data=np.array(value, "i4").T)
            transform = labelled(seam, "Transform", '"int[IndexDimension]"', "I4")
            transform.create_dataset(" data", data=np.array([1, 2, 3], "i4"))
        periodic = labelled(labelled(seam, "GridConnectivityProperty", "GridConnectivityProperty_t"),
                            "Periodic", "Periodic_t")  # fmt: skip
        angle = labelled(periodic, "RotationAngle", "DataArray_t", "R8")
        angle.create_dataset(" data", shape=(2**33,), dtype="f8", chunks=(2**20,), compression="gzip")
    status, told = process("grid", "check", path)
    assert status == 2, told
