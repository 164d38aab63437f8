"""Who reaches a cluster: on this machine nobody from outside, elsewhere who has the certificate."""

import json
import os
import subprocess
from pathlib import Path

import dask
import psutil
import pytest
from distributed import LocalCluster, Security

from taskflow.cluster import by_scheduler_file, embedded
from taskflow.errors import BadInput

CERTIFICATES = Path(__file__).resolve().parents[2] / "deploy" / "certificates.sh"


def listening():
    """Where this process does: earlier tests may have left something."""
    return {each.laddr for each in psutil.Process().net_connections() if each.status == psutil.CONN_LISTEN}


def test_an_embedded_cluster_listens_on_loopback_alone():
    before = listening()
    with embedded(1, gpu=False) as client:
        assert client.run(os.getpid)
        found = listening() - before
    assert found
    assert {address.ip for address in found} == {"127.0.0.1"}


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
        subprocess.run([CERTIFICATES, folder, "1"], check=True, capture_output=True)
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
    with configured(certificates[0]), by_scheduler_file(scheduler_file) as client:
        assert list(client.run(os.getpid).values()) == [os.getpid()]
        assert all(worker.startswith("tls://") for worker in client.scheduler_info()["workers"])


def test_who_has_none_is_told(scheduler_file):
    with (
        pytest.raises(BadInput, match=r"wants a certificate.* distributed\.comm\.tls\.ca-file"),
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
