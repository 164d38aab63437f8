"""The embedded cluster begins without the script that begins it, or says at once what failed."""

from __future__ import annotations

import copy
import logging
import signal
import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing import process, spawn

import dask
import pytest
from distributed import LocalCluster

import taskflow as tf
from taskflow.runtime.cluster import embedded
from taskflow.runtime.cluster.local import scriptless
from tests.runtime.cluster.waiting import computes
from tests.speed import SOON


def test_workers_do_not_import_the_script_and_other_processes_do(monkeypatch):
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "__file__", "script.py", raising=False)
    monkeypatch.setattr(main, "__spec__", None)
    usual = spawn.get_preparation_data
    expected, again = usual("SpawnProcess-1"), usual("SpawnProcess-1")
    with scriptless:
        assert "init_main_from_path" not in spawn.get_preparation_data("Dask Worker process (from Nanny)")
        given = spawn.get_preparation_data("SpawnProcess-1")
        assert given.keys() == expected.keys()
        assert all(given[key] == expected[key] or again[key] != expected[key] for key in given)  # new in each call
        assert "init_main_from_path" in given
    assert spawn.get_preparation_data is usual


def settings():
    """The settings of this process that a cluster changes, those of Dask only while it begins."""
    return logging.getLogger("distributed").level, spawn.get_preparation_data


def test_of_two_that_overlap_the_last_leaves_all_as_it_was(monkeypatch):
    """As runs in threads do: the first to begin is the first to end, and the other one goes on as it was."""
    monkeypatch.setenv("TASKFLOW_DASHBOARD", "0")  # with Dask in this process
    before, chosen = settings(), copy.deepcopy(dask.config.config)
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(embedded(1, gpu=False))
        meanwhile = settings()
        second.enter_context(embedded(1, gpu=False))
        assert dask.config.config["distributed"]["worker"] == chosen["distributed"]["worker"]
        with LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as own:  # as of the script
            assert own.scheduler.worker_ttl
            assert own.scheduler.services
        first.close()
        assert settings() == meanwhile != before
    assert settings() == before


def test_it_computes_no_arrays_of_dask(monkeypatch):
    """Those of another thread would end with it; and of two clients the last to close left Dask without any."""
    monkeypatch.setenv("TASKFLOW_DASHBOARD", "0")
    before = computes()
    with ExitStack() as first, ExitStack() as second:
        for stack in (first, second):
            stack.enter_context(embedded(1, gpu=False))
            assert computes() == before
        first.close()
    assert computes() == before


def blocked():
    """The signals that never come to the main thread of a process."""
    return signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_processes_that_a_thread_begins_do_not_see_ctrl_c_either():
    """A terminal sends it to all processes: those amid their imports would die of it."""

    def begin():
        with embedded(2, gpu=False) as client:
            again = [nanny.process.config["distributed"]["worker"] for nanny in client.cluster.workers.values()]
            assert [worker["memory"]["terminate"] for worker in again] == [False] * 2  # of who replaces a lost one, too
            return list(client.run(blocked).values()), blocked()

    with ThreadPoolExecutor(1) as pool:
        workers, own = pool.submit(begin).result()
    assert all({signal.SIGINT, signal.SIGTERM} <= masks for masks in workers)
    assert own == blocked() == set()


def test_a_process_that_imports_the_script_begins_no_cluster(monkeypatch):
    """As multiprocessing says that it is one: a script without its guard began it by other means."""
    monkeypatch.setattr(process.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(RuntimeError, match="bootstrapping"):
        spawn.get_preparation_data("any")
    with pytest.raises(tf.RunFailed, match=r'imports it, .* belongs under: if __name__ == "__main__":'), \
            embedded(1, gpu=False):
        pass


def test_a_worker_that_cannot_begin_on_its_gpu(monkeypatch):
    """dask-cuda adds its workers to a cluster that has begun, and does not tell what becomes of them."""

    class LocalCUDACluster(LocalCluster):
        def __init__(self, n_workers, device_memory_limit, **options):
            super().__init__(n_workers=0, **options)
            self.new_spec["options"]["preload"] = ["raise ValueError('no context on this GPU')"]
            self.scale(n_workers)
            self.sync(self._correct_state)

    result = types.ModuleType("dask_cuda")
    result.LocalCUDACluster = LocalCUDACluster
    monkeypatch.setitem(sys.modules, "dask_cuda", result)
    begin = time.monotonic()
    with pytest.raises(tf.RunFailed, match=r"did not start .*no context on this GPU"), embedded(2, gpu=True):
        pass
    assert time.monotonic() - begin < SOON  # not the time that processes may take to begin


@pytest.mark.slow
def test_processes_with_gpus_are_as_closed_as_others(monkeypatch):
    """As far as that can be seen without one: dask-cuda hands on what it does not know itself, and preloads a module of
    its own behind those that it is given."""

    class LocalCUDACluster(LocalCluster):
        def __init__(self, device_memory_limit, protocol, local_directory, preload, **options):
            values = {"protocol": protocol, "local_directory": local_directory, "preload": [*preload, "this"]}
            super().__init__(**values, **options)

    result = types.ModuleType("dask_cuda")
    result.LocalCUDACluster = LocalCUDACluster
    monkeypatch.setitem(sys.modules, "dask_cuda", result)
    with embedded(1, gpu=True) as client:
        workers = client.scheduler_info()["workers"]
        assert all(address.startswith("tls://127.0.0.1:") for address in (client.scheduler.address, *workers))
        assert [worker["services"] for worker in workers.values()] == [{}]  # no HTTP server
