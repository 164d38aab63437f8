"""Nobody else can change a folder from which a process of a cluster imports, or which has its keys."""

import subprocess
import sys
from pathlib import Path

import pytest

from taskflow.common.errors import BadInput
from taskflow.common.ownership import weakness
from taskflow.runtime.cluster import embedded
from taskflow.runtime.cluster.local import importable_scratch
from taskflow.runtime.cluster.placement import by_scheduler_file
from taskflow.runtime.cluster.slurm import Slurm, _cluster


def paths(dask_worker=None, dask_scheduler=None):
    """What a process imports from, and where its server keeps files."""
    return [*sys.path, (dask_worker or dask_scheduler).local_directory]


def test_every_process_imports_from_folders_that_nobody_else_can_change(shared):
    before = [*sys.path]
    with embedded(2, gpu=False) as client:
        found = [client.run_on_scheduler(paths), *client.run(paths).values()]
        nannies = [sys.path, *client.run(paths, nanny=True).values()]
        added = {Path(path) for each in (*found, *nannies) for path in each if path not in before}
        assert len(added) > 2
        for path in added:
            assert weakness(path) is None
            assert path.is_relative_to(shared)
    assert sys.path == before  # the name of a folder that is gone is anybody's
    assert not list((shared / "dask-scratch-space").iterdir())
    assert [path.name for path in shared.iterdir()] == ["dask-scratch-space"]


def test_a_temporary_folder_that_others_may_change_is_not_used(shared):
    shared.chmod(0o777)
    with embedded(2, gpu=False) as client:
        local = Path(client.run_on_scheduler(paths)[-1])
        assert not local.is_relative_to(shared)
        assert weakness(local) is None


def test_the_scheduler_of_slurm(shared, tmp_path):
    """It lives in this process; workers are told of a folder that is made where they run."""
    before = [*sys.path]
    with importable_scratch() as folder, _cluster(Slurm.of("workers=1"), tmp_path, folder) as cluster:
        added = [path for path in sys.path if path not in before]
        assert added
        assert all(weakness(path) is None and Path(path).is_relative_to(folder) for path in added)
        script = cluster.job_script()
    assert sys.path == before
    assert not list((shared / "dask-scratch-space").iterdir())
    *lines, command = script.splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith("scratch="))
    assert "--local-directory $scratch" in command
    (shared / "mine").mkdir(mode=0o755)
    code = "\n".join([*lines[begin:], "echo $scratch $DASK_TEMPORARY_DIRECTORY; stat -c %a $scratch"])
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    first, second, mode = done.stdout.split()
    assert (first, mode) == (second, "700")
    assert Path(first).parent == shared
    assert not Path(first).exists()  # removed at the end of the job


@pytest.mark.parametrize("mode", [0o775, 0o777])
def test_a_certificate_that_others_can_exchange_is_refused(tmp_path, mode):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    file = tmp_path / "shared" / "scheduler.json"
    file.write_text('{"address": "tls://127.0.0.1:1"}')
    code = "import sys; from taskflow.runtime.cluster.certificate import main; sys.exit(main(*sys.argv[1:]))"
    command = [sys.executable, "-c", code, f"{file}.tls", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"others may write into {tmp_path / 'shared'} (mode {mode:04o})" in done.stderr
    with pytest.raises(BadInput, match=r"certificate is not safe: others may write"), by_scheduler_file(file):
        pass
