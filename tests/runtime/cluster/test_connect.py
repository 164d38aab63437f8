"""Who reaches a cluster that somebody else began: who has the certificate."""

import json
import os

import dask
import pytest
from distributed import LocalCluster, Security

from taskflow.common.errors import BadInput
from taskflow.runtime.cluster import by_scheduler_file
from taskflow.runtime.cluster.certificate import main
from tests.runtime.cluster.waiting import computes


def configured(folder):
    """Dask's configuration with the certificate in a folder, as the scripts of deploy set it."""
    files = {
        f"{role}.{kind}": f"{folder}/{kind}.pem"
        for role in ("scheduler", "worker", "client")
        for kind in ("cert", "key")
    }
    tls = {f"distributed.comm.tls.{key}": file for key, file in {"ca-file": f"{folder}/ca.pem", **files}.items()}
    return dask.config.set({"distributed.comm.require-encryption": True, **tls})


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Two folders with certificates that have nothing to do with each other."""
    folders = [tmp_path_factory.mktemp(name) for name in ("ours", "theirs")]
    for folder in folders:
        assert main(str(folder), "1") is None
    return folders


@pytest.fixture(scope="module")
def scheduler_file(certificates, tmp_path_factory):
    """Of a cluster that wants the certificate in the first folder."""
    file = tmp_path_factory.mktemp("cluster") / "scheduler.json"
    options = {"protocol": "tls", "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "processes": False}
    with configured(certificates[0]):
        cluster = LocalCluster(n_workers=1, threads_per_worker=1, security=Security(), **options)
    with cluster:
        file.write_text(json.dumps({"address": cluster.scheduler_address}))
        yield file


def test_who_has_the_certificate_is_let_in(certificates, scheduler_file):
    before = computes()
    with configured(certificates[0]), by_scheduler_file(scheduler_file) as client:
        assert list(client.run(os.getpid).values()) == [os.getpid()]
        assert all(worker.startswith("tls://") for worker in client.scheduler_info()["workers"])
        assert computes() == before  # no arrays of Dask are computed there


def test_who_has_none_is_told(scheduler_file):
    with (
        pytest.raises(BadInput, match=r"requires a certificate.* distributed\.comm\.tls\.ca-file"),
        by_scheduler_file(scheduler_file),
    ):
        pass


def test_another_certificate_does_not_do(certificates, scheduler_file):
    with (
        configured(certificates[1]),
        pytest.raises(BadInput, match="the scheduler does not answer"),
        by_scheduler_file(scheduler_file, timeout=1.0),
    ):
        pass


def test_without_encryption_nobody_is_let_in(scheduler_file, tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text(scheduler_file.read_text().replace("tls://", "tcp://"))
    with pytest.raises(BadInput, match="the scheduler does not answer"), by_scheduler_file(file, timeout=1.0):
        pass


def test_a_certificate_beside_the_file_is_found(certificates, scheduler_file, tmp_path):
    """Where `cluster.sh` keeps it, for whoever connects by other means than its command."""
    file = tmp_path / "scheduler.json"
    file.write_text(scheduler_file.read_text())
    (tmp_path / "scheduler.json.tls").symlink_to(certificates[0])
    with by_scheduler_file(file) as client:
        assert list(client.run(os.getpid).values()) == [os.getpid()]


def test_what_is_beside_the_file_may_be_no_certificate(scheduler_file, tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text(scheduler_file.read_text())
    (tmp_path / "scheduler.json.tls").mkdir()
    with pytest.raises(BadInput, match="its certificate cannot be read"), by_scheduler_file(file):
        pass


def test_a_cluster_without_encryption_is_not_trusted_by_who_wants_it(certificates, scheduler_file, tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text(scheduler_file.read_text().replace("tls://", "tcp://"))
    with (
        configured(certificates[0]),
        pytest.raises(BadInput, match="the scheduler does not answer"),
        by_scheduler_file(file, timeout=1.0),
    ):
        pass


def test_certificates_are_made_where_nobody_else_reads_or_writes(tmp_path, monkeypatch):
    folder = tmp_path / "tls"
    folder.mkdir(mode=0o777)
    assert main(str(folder), "1") is None
    assert [path.stat().st_mode & 0o077 for path in (folder, *folder.iterdir())] == [0, 0, 0, 0]
    assert "exists; remove the folder to begin again" in main(str(folder), "1")
    monkeypatch.setattr("taskflow.runtime.cluster.certificate.os.getuid", lambda: 12345)
    assert "belongs to another user" in main(str(tmp_path), "1")
