"""A run beside a cluster of somebody else."""

import pytest
from distributed import Client, LocalCluster

import taskflow as tf
from tests.data.cases import FOLDER

CAVITY = FOLDER / "small_cavity.toml"


@pytest.mark.slow
def test_a_cluster_of_its_own_beside_a_client_that_is_open(tmp_path):
    """Blocks are called through the client of their own cluster: another one knows no certificate of theirs."""
    with LocalCluster(n_workers=1, processes=False, dashboard_address=None) as other, Client(other):
        case = tf.Case.load(CAVITY, ["machine.device=cpu", "machine.blocks=[1,1,2]", "time.steps=2"])
        assert tf.run(case, tmp_path / "run").report["ended"] == "end"

